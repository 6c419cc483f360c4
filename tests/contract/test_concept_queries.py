"""Queries over concepts: what is read, and that the readings keep the laws of logic (No 10.9)."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.cli import main
from cranfield.data.concept_query import Expression, evaluate_expression, parse_expression
from cranfield.errors import InputError, UsageError

NAMES = ("A", "B", "C", "and more")
leaves = st.sampled_from(NAMES).map(lambda name: Expression("concept", name))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda e: Expression("not", parts=(e,))),
        st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, min_size=2, max_size=3)).map(
            lambda made: Expression(made[0], parts=tuple(made[1]))
        ),
    ),
    max_leaves=8,
)
confidences = st.lists(st.floats(0, 1), min_size=len(NAMES), max_size=len(NAMES))


def values(numbers):
    return {name: np.array([x]) for name, x in zip(NAMES, numbers, strict=True)}


def holds(expression, case):
    return bool(evaluate_expression(expression, values(case), "fuzzy")[0])


@given(expressions)
@settings(deadline=None)
def test_what_is_written_is_read_back(expression):
    read = parse_expression(str(expression))
    for case in itertools.product((0.0, 1.0), repeat=len(NAMES)):
        assert holds(read, case) == holds(expression, case)


@given(expressions, confidences)
@settings(deadline=None)
def test_probability_is_the_sum_over_all_cases(expression, chances):
    total = 0.0
    for case in itertools.product((0.0, 1.0), repeat=len(NAMES)):
        weight = np.prod([p if on else 1 - p for p, on in zip(chances, case, strict=True)])
        total += weight * holds(expression, case)
    found = evaluate_expression(expression, values(chances), "probability")[0]
    assert found == pytest.approx(total, abs=1e-12)


@given(expressions, expressions, confidences, st.sampled_from(["fuzzy", "probability"]))
@settings(deadline=None)
def test_de_morgan(one, other, numbers, reading):
    both = Expression("not", parts=(Expression("and", parts=(one, other)),))
    negated = tuple(Expression("not", parts=(e,)) for e in (one, other))
    either = Expression("or", parts=negated)
    left, right = (evaluate_expression(e, values(numbers), reading)[0] for e in (both, either))
    assert left == pytest.approx(right, abs=1e-12)


def test_precedence_and_signs():
    assert str(parse_expression("A or B and not C")) == "A OR (B AND NOT C)"
    assert str(parse_expression('!(A|B)&"and more"')) == 'NOT (A OR B) AND "and more"'


@pytest.mark.parametrize("text", ["", "A &", "A B", "(A", "A)", "& A", '"A', "NOT", '""'])
def test_what_is_no_query_is_told(text):
    with pytest.raises(UsageError, match="query"):
        parse_expression(text)


def test_a_contradiction_is_impossible_as_probability_only():
    run = {"a": {"A": 0.5}, "b": {"A": 0.9}}
    fuzzy = cf.query_concepts({"t": "A & !A"}, run)
    assert fuzzy.run.ranking("t") == ["a", "b"]
    chance = cf.query_concepts({"t": "A & !A"}, run, reading="probability")
    assert chance.run.to_dict() == {}
    assert chance.notes == ("no item for t",)


def test_unknown_concepts_are_suggested():
    with pytest.raises(UsageError, match=r"no concept 'sky'\. Did you mean 'Sky'"):
        cf.query_concepts({"t": "sky"}, {"a": {"Sky": 0.5}})


def test_the_command_writes_a_run_and_judgements_that_eval_takes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("topic,query\n1,Sea AND NOT Night\n2,Night\n")
    (tmp_path / "truth.csv").write_text("item,Sea,Night\na,1,1\nb,1,0\nc,0,0\n")
    (tmp_path / "mine.csv").write_text("item,Sea,Night\na,0.9,0.8\nb,0.6,0.1\nc,0.3,0.2\n")
    assert main(["query", "q.csv", "truth.csv", "--judgements", "qrels.txt"]) == 0
    assert main(["query", "q.csv", "mine.csv", "-o", "mine.run"]) == 0
    assert "1 0 b 1" in (tmp_path / "qrels.txt").read_text()
    assert main(["eval", "qrels.txt", "mine.run", "-m", "AP", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("mine,1.0")


def test_bad_files_are_told_line_by_line(tmp_path):
    path = tmp_path / "q.txt"
    path.write_text("# a remark\n1 A &\n2 A\n2 B\n")
    with pytest.raises(InputError) as failure:
        cf.query_concepts(str(path), {"a": {"A": 1}})
    assert [p.line for p in failure.value.problems] == [2, 4]
