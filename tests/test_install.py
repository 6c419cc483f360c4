"""What somebody sees who installs from source."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CMAKE = shutil.which("cmake")


@pytest.mark.skipif(CMAKE is None, reason="cmake is not installed")
def test_a_missing_compiler_is_told_in_words(tmp_path):
    """Neither a wheel nor a compiler: what to do, not a page of CMake's own."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "make").symlink_to(shutil.which("make"))
    found = subprocess.run(
        [CMAKE, "-S", ROOT, "-B", tmp_path / "build", "-G", "Unix Makefiles"],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert found.returncode != 0
    said = " ".join(found.stderr.split())
    assert "needs a C++20 compiler, which was not found" in said
    assert "apt-get install g++" in said
