"""What several files of tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.bench import Bench


@pytest.fixture
def bench(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Bench:
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path, capsys)
