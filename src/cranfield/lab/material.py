"""What a study works on: a truth, runs and measures, for ranked retrieval or for annotation.

Runs and truth are paths wherever they can be: a piece of work then carries names, and each
worker reads the files itself. Objects are taken as well; they travel with every piece.
"""

from __future__ import annotations

import hashlib
import pickle
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, plural
from cranfield.io.files import run_name
from cranfield.measures import Measure, parse_measures
from cranfield.stats._resample import Floats

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix
    from cranfield.work.executors import Plan

Kind: TypeAlias = Literal["ranked", "labels", "concepts"]
Truth: TypeAlias = "Judgements | LabelMatrix"
Bools: TypeAlias = NDArray[np.bool_]
P = ParamSpec("P")
T = TypeVar("T")


def remembered(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A cache of `most` answers that makes threads wait for one of them, not all make it."""

    def around(make: Callable[P, T]) -> Callable[P, T]:
        cached, turn = lru_cache(maxsize=most)(make), RLock()

        @wraps(make)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            with turn:
                return cached(*args, **kwargs)  # type: ignore[arg-type]

        return answer

    return around


@dataclass(frozen=True, slots=True)
class Scored:
    """One run under every measure: over all units, and per unit where that is its mean."""

    overall: Floats
    values: tuple[Floats | None, ...]
    units: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Material:
    """A truth, runs and measures with the options that the measures need.

    `kind` is "ranked" (judgements and rankings), "labels" (concepts of items), or "concepts":
    annotations read as rankings of items for each concept. `options` go to `evaluate`, or are
    ontology, rules, costmap, agreement, concepts and threshold for annotation.
    """

    kind: Kind
    truth: Any
    runs: tuple[tuple[str, Any], ...]
    names: str
    options: tuple[tuple[str, Any], ...] = ()
    token: str = field(default="")

    @classmethod
    def ranked(
        cls, judgements: Any, runs: Any, measures: str | Iterable[str | Measure], **options: Any
    ) -> Material:
        """Rankings against judgements; the options are those of `cranfield.evaluate`."""
        from cranfield.io.forms import name_runs
        from cranfield.lab.names import possible_measures

        size = options.get("collection_size")
        names = " ".join(map(str, possible_measures(measures, collection_size=size)))
        return cls._of("ranked", judgements, name_runs(runs), names, options)

    @classmethod
    def concepts(
        cls, truth: Any, runs: Any, measures: str | Iterable[str | Measure], **options: Any
    ) -> Material:
        """Annotations under measures of rankings: each concept is a topic, ordered by confidence.

        The size of the collection is the number of items, unless it is given.
        """
        from cranfield.lab.names import possible_measures

        names = " ".join(map(str, possible_measures(measures, collection_size=2)))
        return cls._of("concepts", truth, _named(runs), names, options)

    @classmethod
    def labels(
        cls, truth: Any, runs: Any, measures: str | Iterable[str | Measure], **options: Any
    ) -> Material:
        """Annotations against their truth."""
        from cranfield.measures.labels.registry import parse_label_measures, without_needs

        if isinstance(measures, str):
            known = {"hierarchy"} if options.get("ontology") is not None else set()
            if known or options.get("costmap"):
                known.add("costs")
            measures = without_needs(measures, frozenset({"hierarchy", "costs"} - known))[0]
        names = " ".join(str(m) for m in parse_label_measures(_listed(measures)))
        return cls._of("labels", truth, _named(runs), names, options)

    @classmethod
    def _of(
        cls,
        kind: Kind,
        truth: Any,
        runs: Sequence[tuple[str, Any]],
        names: str,
        options: Mapping[str, Any],
    ) -> Material:
        seen = [name for name, _ in runs]
        twice = [n for n in seen if seen.count(n) > 1]
        if twice:
            raise UsageError(f"two runs are named {twice[0]!r}; rename one of them")
        kept = tuple((k, v) for k, v in options.items() if v is not None)
        return cls(kind, truth, tuple(runs), names, kept, uuid.uuid4().hex)

    # Workers keep what they have read: two copies of one material are the same key.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Material) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)

    def without_runs(self) -> Material:
        """What a piece about one run carries; the others stay at home."""
        return replace(self, runs=())

    def for_plan(self, plan: Plan) -> Material:
        """Full paths for workers elsewhere, which were started in another folder."""
        if plan.is_local:
            return self
        return replace(
            self,
            truth=full_path(self.truth),
            runs=tuple((name, full_path(source)) for name, source in self.runs),
            options=tuple((k, full_path(v)) for k, v in self.options),
        )

    @property
    def measures(self) -> tuple[Measure, ...]:
        if self.kind != "labels":
            return parse_measures(self.names)
        from cranfield.measures.labels.registry import parse_label_measures

        return parse_label_measures(self.names)

    @property
    def run_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.runs)

    @property
    def signs(self) -> Floats:
        """+1 for measures of which more is better, -1 for the others, from the declarations."""
        return np.array([-1.0 if m.higher_is_better is False else 1.0 for m in self.measures])

    def described(self) -> dict[str, Any]:
        """All that the numbers depend on, for the folder of a study."""
        return {
            "kind": self.kind,
            "truth": stamp(self.truth),
            "runs": {name: stamp(source) for name, source in self.runs},
            "measures": self.names,
            "options": {k: stamp(v) for k, v in self.options},
        }

    def need_runs(self, least: int) -> None:
        if len(self.runs) < least:
            raise UsageError(
                f"{plural(len(self.runs), 'run')}: too few to compare; give at least {least}"
            )

    # Below: what workers do.

    def evaluation(self) -> dict[str, Any]:
        """The options of `evaluate` for rankings."""
        options = dict(self.options)
        if self.kind == "concepts":
            options.pop("concepts", None)
            options.setdefault("collection_size", self.items)
        return options

    @property
    def items(self) -> int:
        """How many items an annotation has to do with."""
        return len(_label_truth(self).items)

    def read_truth(self) -> Truth:
        """The truth, read once in each worker."""
        return _truth(self)

    def read_run(self, source: Any, name: str) -> Any:
        """A run as an object: a Run, or a LabelMatrix in the order of the truth."""
        if self.kind == "ranked":
            return _ranked_run(source, name)
        if self.kind == "concepts":
            return _concept_run(self, source, name)
        from cranfield.evaluation.labels import prepared

        run = _label_run(source, name, dict(self.options))
        true, knowledge, plans = _label_tools(self)
        return prepared(run, true, plans, knowledge).run

    def score(self, run: Any, truth: Truth | None = None) -> Scored:
        """A run that `read_run` gave, against this truth or another one of the same shape."""
        if self.kind != "labels":
            return _score_ranked(self, run, truth)
        from cranfield.evaluation.labels import score_run

        true, knowledge, plans = _label_tools(self)
        found = score_run(plans, true if truth is None else truth, run, knowledge, 1)  # type: ignore[arg-type]
        units = tuple(plans[m].unit for m in found)
        overall = np.array([whole for _, whole in found.values()])
        values = tuple(_if_mean(v, whole) for v, whole in found.values())
        return Scored(overall, values, units)


def _score_ranked(material: Material, run: Run, truth: Truth | None) -> Scored:
    from cranfield.evaluation.ranked import evaluate

    judged = _truth(material) if truth is None else truth
    scores = evaluate(judged, [run], material.names, jobs=1, **material.evaluation())
    rows = [scores.values[m][0] for m in scores.measures]
    overall = np.array([scores.overall[m][0] for m in scores.measures])
    values = tuple(_if_mean(v, w) for v, w in zip(rows, overall, strict=True))
    return Scored(overall, values, ("topic",) * len(rows))


def _if_mean(values: Floats, whole: float) -> Floats | None:
    """The values per unit where the value of the run is their mean; else None."""
    known = values[~np.isnan(values)]
    if known.size == 0 or not np.isclose(known.sum() / known.size, whole, rtol=1e-9):
        return None
    return np.asarray(values, dtype=np.float64)


@remembered(4)
def _truth(material: Material) -> Truth:
    if material.kind == "labels":
        labels: LabelMatrix = _label_tools(material)[0]
        return labels
    if material.kind == "concepts":
        from cranfield.lab.concepts import concept_judgements

        return concept_judgements(_label_truth(material))
    from cranfield.io.forms import coerce_judgements

    judged = coerce_judgements(material.truth)
    if not judged.topics:
        raise UsageError("the judgements are empty: no topic is judged")
    return judged


@remembered(4)
def _label_tools(material: Material) -> Any:
    """The truth, what is known beside it, and the plans of the measures."""
    from cranfield.evaluation.labels import check_needs, checked_truth, gather
    from cranfield.io.ontology import read_ontology

    given = dict(material.options)
    ontology = given.get("ontology")
    if isinstance(ontology, str | Path):
        ontology = read_ontology(ontology, rules=given.get("rules"))
    elif given.get("rules") is not None:
        raise UsageError("rules need an ontology of the concepts beside them (--ontology)")
    truth = checked_truth(_label_truth(material), ontology)
    costs = given.get("costmap")
    knowledge = gather(
        truth,
        ontology=ontology,
        costmap=dict(costs) if isinstance(costs, tuple) else costs,
        agreement=given.get("agreement"),
    )
    check_needs(material.measures, knowledge)
    return truth, knowledge, {m: m.plan(m) for m in material.measures}


@remembered(4)
def _label_truth(material: Material) -> LabelMatrix:
    from cranfield.io.forms import coerce_labels
    from cranfield.io.labels import read_concepts, read_labels

    if not isinstance(material.truth, str | Path):
        return coerce_labels(material.truth, "truth")
    names = dict(material.options).get("concepts")
    return read_labels(material.truth, concepts=None if names is None else read_concepts(names))


def _concept_run(material: Material, source: Any, name: str) -> Run:
    from cranfield.data.alignment import align
    from cranfield.lab.concepts import concept_ranking

    run = _label_run(source, name, dict(material.options))
    return concept_ranking(align(run, _label_truth(material)).run)


def _ranked_run(source: Any, name: str) -> Run:
    from cranfield.io.forms import coerce_run

    return coerce_run(source, name)


def _label_run(source: Any, name: str, options: Mapping[str, Any]) -> LabelMatrix:
    from cranfield.io.forms import coerce_labels
    from cranfield.io.labels import read_concepts, read_threshold

    run = coerce_labels(source, name)
    if options.get("concepts") is not None and not run.named:
        run = run.renamed(read_concepts(options["concepts"]))
    threshold = options.get("threshold")
    if threshold is not None:
        run = run.with_threshold(
            read_threshold(threshold) if isinstance(threshold, str) else threshold
        )
    return replace(run, name=name)


def numbers(values: Iterable[float]) -> list[float | None]:
    """Plain numbers for JSON, None for NaN."""
    return [None if np.isnan(v) else float(v) for v in values]


def floats(values: Any) -> Floats:
    """The way back: None becomes NaN at any depth."""
    return np.array(values, dtype=np.float64)


def generator(seed: int, *parts: int) -> np.random.Generator:
    """A generator of its own for a repetition, whichever worker draws it."""
    if seed < 0:
        raise UsageError(f"rng={seed} is not a whole number from 0 on (--seed)")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *parts])))


def _listed(measures: str | Measure | Iterable[str | Measure]) -> Any:
    return measures if isinstance(measures, str | Measure) else list(measures)


def _named(runs: Any) -> list[tuple[str, Any]]:
    if isinstance(runs, Mapping):
        return list(runs.items())
    return [(_name(r, i), r) for i, r in enumerate(runs, 1)]


def _name(run: Any, number: int) -> str:
    if isinstance(run, str | Path):
        return run_name(run)
    return str(getattr(run, "name", f"run{number}"))


def full_path(source: Any) -> Any:
    """The absolute path of a file, also behind a name as in NAME=FILE; other things as they are."""
    if isinstance(source, tuple | list):
        return type(source)(full_path(s) for s in source)
    if isinstance(source, dict):
        return {name: full_path(s) for name, s in source.items()}
    if isinstance(source, Path):
        return source.absolute()
    if not isinstance(source, str):
        return source
    name, equals, file = source.rpartition("=")
    if not Path(source).is_file() and equals and Path(file).is_file():
        return f"{name}={Path(file).absolute()}"
    return str(Path(source).absolute()) if Path(source).is_file() else source


def stamp(source: Any) -> Any:
    """A file with its size and time of change, or what an object holds."""
    if isinstance(source, str | Path):
        path = Path(source)
        if path.is_file():
            facts = path.stat()
            return [str(path.resolve()), facts.st_size, facts.st_mtime_ns]
        return str(source)
    if source is None or isinstance(source, int | float | bool):
        return source
    if isinstance(source, tuple):
        return [stamp(s) for s in source]
    return _Content(source)


@dataclass(frozen=True, slots=True)
class _Content:
    """Says what an object holds, when it is asked: only a study with a folder needs to know."""

    source: Any

    def __str__(self) -> str:
        try:
            data = pickle.dumps(self.source)
        except Exception:
            raise UsageError(
                f"a study with a folder cannot describe this {type(self.source).__name__}; "
                "give files, or leave the folder out"
            ) from None
        return f"{type(self.source).__name__} {hashlib.sha256(data).hexdigest()}"
