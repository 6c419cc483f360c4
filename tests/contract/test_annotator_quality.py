"""Planted spammers are found, careful annotators are left alone."""

from __future__ import annotations

import numpy as np

from cranfield.agreement.consensus import consensus_of_others
from cranfield.agreement.quality import check_quality, quality_of
from cranfield.agreement.simulate import SPAMMERS, simulate_log
from cranfield.data.judgement_log import judgement_log

WORDS = {
    "random": "agrees little", "constant": "always the same", "pattern": "in a pattern",
    "copier": "copies", "fast": "too fast",
}  # fmt: skip


def test_each_kind_of_spammer_is_found_for_its_own_reason() -> None:
    """20 careful annotators and one of each kind, 20 times; the false alarm rate is printed."""
    found = dict.fromkeys(SPAMMERS, 0)
    alarms = careful = 0
    for seed in range(20):
        made = simulate_log(spammers=SPAMMERS, rng=seed)
        for person, planted in zip(quality_of(made.log), made.planted, strict=True):
            if planted:
                found[planted] += any(WORDS[planted] in reason for reason in person.reasons)
            else:
                careful += 1
                alarms += person.verdict != "keep"
    print(f"found of 20: {found}; false alarms: {alarms} of {careful} ({alarms / careful:.2%})")
    assert min(found.values()) >= 18
    assert alarms / careful <= 0.01


def test_gold_questions_reject_whoever_misses_them() -> None:
    made = simulate_log(spammers=("random",), rng=1)
    gold = np.full((200, 1), -1, dtype=np.int32)
    gold[:30, 0] = made.truth[:30]
    found = check_quality(made.log, gold=gold)
    worst = found.annotators[-1]
    assert "misses gold questions" in worst.reasons[0]
    assert worst.gold_asked == 30
    assert found.rejected == (worst.annotator,)


def test_few_answers_accuse_nobody() -> None:
    log = judgement_log(["a", "b", "c", "d"], ["x"] * 4, [0, 0, 0, 1])
    assert not any(p.signs for p in quality_of(log))


def test_consensus_leaves_the_own_voice_out() -> None:
    log = judgement_log(["a", "b", "c", "a"], ["x", "x", "x", "y"], [0, 1, 1, 1])
    others = consensus_of_others(log)
    # b hears a and c, who disagree; nobody else judged y.
    assert others.answer.tolist() == [1, -1, -1, -1]
    assert others.same[:3].tolist() == [0.0, 0.5, 0.5]
    assert np.isnan(others.same[3])


def test_a_regular_collection_is_no_pattern() -> None:
    """Items whose true answers alternate make everybody alternate: no one is accused."""
    items = [f"i{k:03d}" for k in range(60)]
    people = ["a", "b", "c", "d"]
    log = judgement_log(
        [p for p in people for _ in items], items * 4, [k % 2 for k in range(60)] * 4
    )
    assert not any("pattern" in r for p in quality_of(log) for r in p.reasons)
