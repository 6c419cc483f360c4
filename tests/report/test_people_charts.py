"""Charts of agreement and of forms that came back (thesis, Figures 6.3 to 6.6)."""

from __future__ import annotations

import cranfield as cf
from cranfield.agreement.agreement import group_agreement
from cranfield.agreement.majority import majority_agreement
from cranfield.campaign.responses import collect_responses
from cranfield.cli import main
from cranfield.data.judgement_log import FilledForm
from cranfield.io.samples import SAMPLE
from cranfield.report.charts.annotation import collected_figures, group_charts, majority_chart

LOG = cf.read_judgement_log(SAMPLE / "judgement-log.csv.gz")


def test_agreement_with_the_majority_is_drawn_both_ways():
    shares = majority_agreement(LOG).concepts
    svg = majority_chart(shares, "concept").to_svg()
    assert "Agreement with the majority per concept" in svg
    for share in shares:
        assert share.name in svg
    assert "selected only" in svg


def test_groups_of_annotators_stand_side_by_side():
    half = len(LOG.annotators) // 2
    groups = {"experts": LOG.annotators[:half], "crowd": LOG.annotators[half:]}
    (drawn,) = group_charts(group_agreement(LOG, groups))
    assert "experts - crowd (merged)" in drawn.to_svg()


def test_rejections_and_work_are_bars():
    forms = [FilledForm("w", f"i{k}", {"a": "1"}, rejected="empty" * (k < 3)) for k in range(5)]
    rejected, worked = collected_figures(
        collect_responses([*forms, FilledForm("v", "i9", {"a": "0"})])
    )
    assert "Rejections per item" in rejected.to_svg()
    assert "w: 5" in worked.to_svg()


def test_the_page_of_a_study_has_the_charts(tmp_path):
    target = tmp_path / "a.html"
    log = str(SAMPLE / "judgement-log.csv.gz")
    asked = ["agreement", log, "--majority", "--format", "html", "-o", str(target), "--quiet"]
    assert main(asked) == 0
    assert target.read_text().count("<svg") == 2
