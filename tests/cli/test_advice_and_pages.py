"""What a command advises exists, and what it writes is what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main


def test_sizes_that_hold_no_more_relevant_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("".join(f"t 0 r{i} 1\n" for i in range(12)))
    run.write_text("".join(f"t Q0 r{i} 1 {9 - i} a\n" for i in range(12)))
    command = ["chart", "generality-sizes", str(qrels), str(run), "--collection-size", "20"]
    command += ["-o", str(tmp_path / "chart.svg")]
    assert main(command) == 2
    assert "leave out sizes below 12 items (60% of all)" in capsys.readouterr().err
    assert main([*command, "--sizes", "12,20"]) == 0
    assert (tmp_path / "chart.svg").exists()


def test_form_read_writes_a_page_where_one_is_asked_for(tmp_path: Path) -> None:
    answers = tmp_path / "crowd.csv"
    answers.write_text(
        "WorkerId,HITId,WorkTimeInSeconds,Input.item,Answer.concept\nann,h1,9,a,c0\nben,h2,9,a,c0\n"
    )
    page, log = tmp_path / "page.html", tmp_path / "log.csv"
    assert main(["form", "read", str(answers), "--format", "html", "-o", str(page), "--quiet"]) == 0
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert main(["form", "read", str(answers), "-o", str(log), "--quiet"]) == 0
    assert log.read_text().startswith("annotator,item,")


def test_requirements_say_on_which_order_a_verdict_rests() -> None:
    (note,) = cf.lab.requirements("OS F.example AP", ontology="pto-2009").notes
    assert note.startswith("OS: requirement 3 is tried on the order by single labels")
    assert cf.lab.requirements("F.example").notes == ()
