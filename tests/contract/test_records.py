"""Records behave as the dataclasses of the standard library, which they stand for."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from functools import cached_property
from typing import ClassVar

import pytest

from cranfield import _records
from cranfield.answers import Answer
from cranfield.data import Run
from cranfield.evaluation.scores import Scores
from cranfield.io.files import Caps
from cranfield.measures import Measure
from cranfield.report.document import Column, Document


def made_by(module):
    """The same classes by either module."""

    @module.dataclass(frozen=True)
    class Plain:
        """Some values."""

        kind: ClassVar[str] = "plain"
        first: int
        second: str = "b"
        third: list = module.field(default_factory=list)
        hidden: float = module.field(default=0.5, repr=False, compare=False)
        last: tuple = module.field(default=(), kw_only=True)

        def __post_init__(self):
            object.__setattr__(self, "seen", self.first + 1)

        @cached_property
        def twice(self):
            return 2 * self.first

    @module.dataclass(frozen=True, eq=False, repr=False, kw_only=True)
    class Named(Plain):
        more: int = 3

    @module.dataclass(frozen=True, slots=True)
    class Pair:
        a: int
        b: int = 2

    return Plain, Named, Pair


OURS, THEIRS = made_by(_records), made_by(dataclasses)
CALLS = [((1,), {}), ((1, "x", [3]), {"last": (1,)}), ((), {"first": 2, "hidden": 9.0}), ((7,), {})]


@pytest.mark.parametrize("args, named", CALLS)
@pytest.mark.parametrize("number", [0, 1])
def test_values_and_text(number, args, named):
    ours, theirs = OURS[number](*args, **named), THEIRS[number](*args, **named)
    for name in ("first", "second", "third", "hidden", "last", "seen", "twice"):
        assert getattr(ours, name) == getattr(theirs, name)
    if number == 0:
        assert repr(ours) == repr(theirs)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert dataclasses.replace(ours, first=5).seen == _records.replace(ours, first=5).seen == 6
    assert copy.deepcopy(ours).third is not ours.third
    assert (copy.copy(ours) == ours) is (copy.copy(theirs) == theirs)


def test_fields_are_those_of_the_standard_library():
    for ours, theirs in zip(OURS, THEIRS, strict=True):
        found = [(f.name, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(ours)]
        wanted = dataclasses.fields(theirs)
        assert found == [(f.name, f.init, f.repr, f.compare, f.kw_only) for f in wanted]
        assert dataclasses.is_dataclass(ours)
        assert ours.__match_args__ == theirs.__match_args__
        mine, other = inspect.signature(ours), inspect.signature(theirs)
        assert [(p.name, p.kind) for p in mine.parameters.values()] == [
            (p.name, p.kind) for p in other.parameters.values()
        ]


def test_equality_and_hash():
    pair = OURS[2]
    assert pair(1) == pair(1, 2) != pair(1, 3)
    assert hash(pair(1)) == hash(pair(1, 2))
    assert pair(1) != (1, 2)
    plain = OURS[0]
    assert plain(1, hidden=1.0) == plain(1, hidden=2.0)
    with pytest.raises(TypeError):
        hash(plain(1))  # a list is in it
    named = OURS[1]
    assert named(first=1) == named(first=1)  # as the class above compares


def test_frozen_and_checked():
    pair = OURS[2](1)
    for wrong in (lambda: setattr(pair, "a", 2), lambda: delattr(pair, "a")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            wrong()
    with pytest.raises(AttributeError):
        pair.other = 1
    for args in ((), (1, 2, 3)):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            OURS[2](*args)
    with pytest.raises(TypeError, match="a record is frozen"):
        _records.dataclass(type("Loose", (), {}))


WRONG = [((), {}), ((1, 2, 3), {}), ((1,), {"a": 2}), ((1,), {"c": 3}), ((), {"b": 1})]


def test_the_first_instances_are_filled_as_the_later_ones():
    plain, _, pair = made_by(_records)
    theirs = THEIRS[0]
    for number in range(20):
        assert dataclasses.asdict(plain(number, last=(1,))) == dataclasses.asdict(
            theirs(number, last=(1,))
        )
        assert plain(number).third is not plain(number).third
        assert pair(number, b=5).b == 5
        assert vars(pair(number)) == {"a": number, "b": 2}


@pytest.mark.parametrize("args, named", WRONG)
def test_the_first_instance_says_what_is_wrong_as_the_later_ones(args, named):
    fresh = made_by(_records)[2]
    said = []
    for kind in (fresh, fresh, THEIRS[2]):
        with pytest.raises(TypeError) as caught:
            kind(*args, **named)
        said.append(str(caught.value).rpartition(".")[2])
    assert said[0] == said[1] == said[2]


def test_a_dataclass_below_a_record():
    @dataclasses.dataclass(frozen=True)
    class Below(OURS[2]):
        c: int = 3

    assert Below(1) == Below(1, 2, 3)
    assert repr(Below(1)).endswith("Below(a=1, b=2, c=3)")
    assert [f.name for f in dataclasses.fields(Below)] == ["a", "b", "c"]
    assert _records.replace(Below(1), c=4).c == dataclasses.replace(Below(1), c=4).c == 4

    @_records.dataclass(frozen=True)
    class Above(Below):
        d: int = 4

    assert Above(1, d=5) == Above(1, 2, 3, 5)


@pytest.mark.parametrize("kind", [Answer, Caps, Column, Document, Measure, Run, Scores])
def test_records_of_the_package(kind):
    assert dataclasses.is_dataclass(kind)
    assert all(isinstance(f, dataclasses.Field) for f in dataclasses.fields(kind))
    assert inspect.signature(kind).parameters.keys() == {
        f.name for f in dataclasses.fields(kind) if f.init
    }


def test_records_travel():
    caps = Caps(lines=5)
    assert pickle.loads(pickle.dumps(caps)) == caps == copy.deepcopy(caps)
    assert caps != Caps(lines=6)


def test_a_small_evaluation_loads_neither_dataclasses_nor_inspect(tmp_path):
    (tmp_path / "q").write_text("q 0 a 1\n")
    (tmp_path / "r.run").write_text("q Q0 a 0 2 x\n")
    program = (
        "import sys; from cranfield.cli import main; main(['eval', 'q', 'r.run']); "
        "print([m for m in ('dataclasses', 'inspect', 'shutil', 'html', 'decimal', 'difflib', "
        "'csv', 'numbers', 'shlex', 'cranfield.data.collection') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.splitlines()[-1] == "[]"
