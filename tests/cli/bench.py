"""Files of rankings, good and bad, and the command that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cranfield.cli import main

RUN = "1 Q0 a 1 2.0 r\n1 Q0 b 2 1.0 r\n2 Q0 a 1 1.5 r\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 a 1\n"
RUN_SHAPE = "topic Q0 item rank score name"
QRELS_SHAPE = "topic iteration item grade"


class Bench:
    """A folder with good judgements and a good run, and the command on files in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.write("qrels", QRELS)
        self.write("run", RUN)

    def write(self, name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)
        return name

    def refused(self, *args: str) -> str:
        """The message of a command that must fail, and must leave nothing behind."""
        before = sorted(p.name for p in self.folder.iterdir())
        assert main(["eval", *args, "-o", "result.json", "--format", "json"]) == 2
        assert sorted(p.name for p in self.folder.iterdir()) == before
        out, err = self._capsys.readouterr()
        assert out == ""
        assert "Traceback" not in err
        return err.rstrip("\n")

    def accepted(self, *args: str) -> tuple[str, str]:
        assert main(["eval", *args, "--format", "csv", "-m", "AP NumRet"]) == 0
        return self._capsys.readouterr()
