"""The page on folders: every command works, and the table names the commands that take one."""

import re
import shlex
from pathlib import Path

from cranfield.campaign.collection_arguments import QUESTIONS
from cranfield.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "a-folder.md").read_text()


def test_every_command_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            assert main(shlex.split(command)[1:]) == 0, command
            assert capsys.readouterr().out == shown, command


def test_every_question_is_in_the_table():
    table = "".join(line for line in PAGE.splitlines(True) if line.startswith("| `"))
    for question in QUESTIONS:
        assert f"`{question} " in table, question
