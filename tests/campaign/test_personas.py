"""A rehearsed crowd: who is found by what they hand in, and who is left alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from cranfield.agreement.quality import quality_of
from cranfield.campaign.forms import ontology_form
from cranfield.campaign.responses import collect_responses
from cranfield.errors import UsageError
from cranfield.ontologies import built_in
from cranfield.rehearsal.crowd import (
    SPAM,
    Crowd,
    PersonAnswers,
    detect_spammers,
    fill_batches,
)

FORM = ontology_form(built_in("pto-2009-listed"))
ITEMS = [f"i{k:02d}" for k in range(99)]


def test_sixty_workers_of_whom_twelve_spam_over_eight_seeds():
    """Two batches of 5 and 4 forms per item, 53 concepts: 891 forms each time."""
    told = [detect_spammers(Crowd(FORM, ITEMS, seed=seed), seed=seed) for seed in range(8)]
    print(*told, sep="\n")
    assert {(t.forms, t.spammers, t.copiers, t.honest) for t in told} == {(891, 12, 2, 48)}
    assert sum(t.found for t in told) >= 80
    assert min(t.found for t in told) >= 9
    assert max(t.false_alarms for t in told) <= 1
    assert sum(t.copiers_found for t in told) >= 10


def test_nobody_gets_an_item_twice_and_every_item_is_filled():
    crowd = Crowd(FORM, ITEMS[:20], people=20, spammers=4, seed=3)
    forms = fill_batches(crowd, (3, 2), seed=3)
    cells = [(f.annotator, f.item) for f in forms]
    assert len(cells) == len(set(cells)) == 100
    assert Counter(f.batch for f in forms) == {"1": 60, "2": 40}
    assert [f.values for f in forms] == [f.values for f in fill_batches(crowd, (3, 2), seed=3)]


def test_everybody_fills_in_what_the_form_accepts():
    crowd = Crowd(FORM, ITEMS[:30], people=12, spammers=12, seed=1)
    assert {p.kind for p in crowd.people} == set(SPAM)
    for person in crowd.people:
        answers, seconds = crowd.says(
            person.name, "i00", [PersonAnswers("w01", crowd.truth["i00"])], 7
        )
        needed = [p for p in FORM.check(answers) if "exactly one" in p.message]
        assert not needed
        assert seconds > 0
    with pytest.raises(UsageError):
        Crowd(FORM, ITEMS, people=3, spammers=4)


def test_a_careful_crowd_alone_is_left_alone():
    alarms = 0
    for seed in range(3):
        crowd = Crowd(FORM, ITEMS[:50], people=30, spammers=0, seed=seed)
        log = collect_responses(fill_batches(crowd, (6,), seed=seed)).log
        alarms += sum(p.verdict != "keep" for p in quality_of(log))
        assert np.mean(log.value) > 0
    assert alarms <= 1
