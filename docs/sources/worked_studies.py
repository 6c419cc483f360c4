"""Studies of Nowak's thesis on printed tables, on small logs and on the sample collection."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from worked_thesis import LABELS, printed, square

import cranfield as cf
from cranfield import lab, stats
from cranfield.data.costmap import CostMap
from cranfield.data.judgement_log import judgement_log
from cranfield.data.ontology import Rules
from cranfield.io.samples import SAMPLE, sample_folder

TRUTH = str(SAMPLE / "truth.csv")


def forms() -> int:
    """Forms of a small log that leave an exclusive group of concepts without an answer."""
    cells = [
        (who, item, concept, int(concept == said))
        for who, item, said in (
            ("a", "x", "Day"),
            ("b", "x", ""),
            ("c", "x", "Night"),
            ("d", "x", ""),
        )
        for concept in ("Day", "Night")
    ]
    who, items, concepts, values = zip(*cells, strict=True)
    log = judgement_log(who, items, values, concepts=concepts)
    found = cf.assess_agreement(log, rules=Rules(exactly_one=(("Day", "Night"),)))
    return len(found.forms.broken) if found.forms is not None else 0


def pay(rejected: bool) -> float:
    """Dollars for 891 forms at 5 cents, of which 94 were rejected."""
    return 0.05 * (891 if rejected else 891 - 94)


def weak_labels() -> list[int]:
    """Digits tagged with a class, some wrongly: how many right and wrong ones are kept."""
    rng = np.random.default_rng(3)
    right, wrong = rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (12, 4))
    items = [f"i{k}" for k in range(72)]
    data = np.vstack([right, wrong])
    (found,) = cf.filter_weak_labels(items, data, {"tag": items}, method="median").tags
    kept = np.asarray(found.kept)
    return [int(kept[:60].sum()), int(kept[60:].sum())]


def declared_questions() -> list[int]:
    """Questions on which R-precision calls two runs alike and SRP does not, in the sample."""
    made = lab.make_concept_survey(
        TRUTH,
        [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree")],
        "SRP",
        alike="Rprec.example",
        costmap=str(SAMPLE / "costmap.csv"),
        questions=5,
    )
    return [len(made.questions["questions"])]


def tau_7_2() -> float:
    """Kendall's tau of EER and OS over the systems of Table 7.2."""
    eer, score, rank = printed("table-7.2-eer-os", "eer", "os", "rank_eer")
    kept = [k for k, r in enumerate(rank) if r != "-"]
    table = np.array([[eer[k], score[k]] for k in kept])
    names = [str(k) for k in kept]
    found = lab.correlate_scores(("EER", "OS"), names, table, np.array([-1.0, 1.0]))
    return found.pair("EER", "OS").kendall


def random_precision() -> list[float]:
    """Precision per example of labels drawn at random, at densities 0.1, 0.5 and 0.9."""
    truth = cf.read_labels(TRUTH)
    rng = np.random.default_rng(1)
    shape = truth.shape
    runs = {
        f"{d}": cf.LabelMatrix.of(rng.random(shape) < d, items=truth.items, concepts=truth.concepts)
        for d in (0.1, 0.5, 0.9)
    }
    found = cf.evaluate_labels(truth, runs, "P.concept").mean()
    return [round(values["P.concept"], 2) for values in found.values()]


_WWW_G = (1, 2, 3, 7, 9, 4, 5, 12, 6, 10, 14, 8, 11, 15, 13, 17, 18, 16, 19, 32)
_WWW_Y = (1, 2, 3, 4, 5, 8, 6, 7, 9, 10, 11, 12, 15, 13, 16, 14, 17, 19, 18, 20)


def discordant() -> list[bool]:
    """Whether D calls the orders of www_G and www_Y discordant, and tau calls both alike."""
    tests, taus = [], []
    for order in (_WWW_G, _WWW_Y):
        ranking = [*order, *(i for i in range(1, 74) if i not in order)]
        new = np.empty(73)
        new[np.array(ranking) - 1] = np.arange(1, 74)
        old = np.arange(1.0, 74)
        tests.append(bool(stats.kolmogorov_smirnov(-old, -new).p < 0.05))
        taus.append(bool(stats.kendall(-old, -new).value > 0.94))
    return [*tests, *taus]


def tau_of_sample(first: str, second: str) -> float:
    """Kendall's tau of the runs of the sample collection under two measures."""
    from cranfield.comparison.standings import rank_changes

    scores = cf.evaluate_labels(TRUTH, LABELS, [first, second])
    return round(rank_changes(scores, cf.measure(first), cf.measure(second)).tau, 2)


def first_share() -> float:
    """The share of AP that the first of 20 documents contributes, relevant ones at 1, 5, 10, 16."""
    places = {1, 5, 10, 16}
    run = {"q": {f"i{k:02d}": -float(k) for k in range(1, 21)}}
    whole, without = (
        cf.evaluate({"q": {f"i{k:02d}": int(k in kept) for k in range(1, 21)}}, run, "AP")
        for kept in (places, places - {1})
    )
    value = whole.mean()["run"]["AP"] * 4
    rest = without.mean()["run"]["AP"] * 3
    return float((value - rest) / value)


_COSTS = CostMap.of(
    ["Sea", "Lake", "Car", "Sky"],
    np.array([[0, 0.2, 1, 1], [0.2, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]], dtype=float),
)


def _ranked(confidences: list[float], name: str, truth: set[str]) -> float:
    of = cf.LabelMatrix.of({"1": truth}, concepts=_COSTS.concepts)
    run = cf.LabelMatrix.of(np.array([confidences]), items=["1"], concepts=_COSTS.concepts)
    return float(cf.evaluate_labels(of, [run], name, costmap=_COSTS).mean()["labels"][name])


def semantic_r_precision() -> float:
    """SRP of Lake and Sky, ranked first, for Sea and Sky: Lake is 0.8 of Sea."""
    return _ranked([0.1, 0.9, 0.2, 0.8], "SRP", {"Sea", "Sky"})


def srp_above_rprec() -> bool:
    """Whether SRP is R-precision at least, for many random rankings."""
    rng = np.random.default_rng(2)
    tries = [rng.random(4).tolist() for _ in range(20)]
    return all(
        _ranked(t, "SRP", {"Sea", "Sky"}) >= _ranked(t, "Rprec.example", {"Sea", "Sky"}) - 1e-12
        for t in tries
    )


def monotonic() -> bool:
    """Whether SRP never falls when a true concept moves up, by the search of `lab requirements`."""
    found = lab.requirements("SRP", ontology=cf.ontologies.pto(2009)).to_dict()
    rows = [r for r in _rows(found) if "better" in r["text"] or "monoton" in r["text"]]
    return all(r["holds"] for r in rows)


def _rows(found: Any) -> list[dict[str, Any]]:
    """Every row of an answer that says whether something holds."""
    rows = []
    if isinstance(found, dict):
        if "holds" in found:
            rows.append({"text": str(found).lower(), "holds": found["holds"]})
        found = list(found.values())
    if isinstance(found, list):
        rows += [row for part in found for row in _rows(part)]
    return rows


_SRP = [
    *((0.694, 0.638), (0.922, 0.893), (0.803, 0.843), (0.807, 0.775), (0.911, 0.877)),
    *((0.713, 0.753), (0.797, 0.810), (0.657, 0.690), (0.708, 0.752), (0.758, 0.730)),
]
_VOTES = [
    *((16, 2, 2), (12, 6, 2), (8, 9, 3), (17, 3, 0), (14, 4, 2)),
    *((3, 12, 5), (7, 11, 2), (7, 10, 3), (7, 12, 1), (0, 5, 4)),
]


def votes_9_5() -> list[int]:
    """Questions of Table 9.5 on which most people chose as SR-precision does, and all."""
    found = lab.count_preferences(_VOTES, {"SRP": _SRP}).of("SRP")
    return [found.agreed, found.decided]


def majority_of_three() -> int:
    """The majority vote of three opinions, two of which are yes."""
    log = judgement_log(["a", "b", "c"], ["x"] * 3, [1, 0, 1], concepts=["C"] * 3)
    return int(cf.aggregate_judgements(log, "majority").to_dict()["truth"][0]["value"])


def submission() -> bool:
    """Whether confidences followed by as many 0/1 rows are read as both."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        path.write_text("a 0.9 0.2\nb 0.1 0.3\na 1 0\nb 0 1\n")
        found = cf.read_labels(path)
    return found.confidences is not None and bool(found.labels[1, 1])


def declined() -> str:
    """The concepts of Table 10.4 whose best EER rose from 2009 to 2010."""
    names, old, new = printed("table-10.4-best-per-concept", "concept", "eer_2009", "eer_icpr")
    return " ".join(n for n, a, b in zip(names, old, new, strict=True) if b > a)


def annotator_means() -> list[float]:
    """The mean correlations of annotators 11 and 4 with the other ten under OS (Table 6.3)."""
    names, cells = square("table-6.3-rankings-by-annotator")
    upper = np.triu(np.nan_to_num(cells), 1)
    means = (upper + upper.T)[:11, :11].sum(axis=1) / 10
    return [float(means[names.index(name)]) for name in ("A11", "A4")]


def best_iap() -> list[float]:
    """The mean best iAP of Table 10.10: of all, of the concepts of 2009, of the new ones."""
    names, values = printed("table-10.10-best-per-concept", "concept", "iAP")
    known = set(cf.ontologies.pto(2009).concepts)
    old = [v for n, v in zip(names, values, strict=True) if n in known]
    new = [v for n, v in zip(names, values, strict=True) if n not in known]
    return [float(np.mean(part)) for part in (values, old, new)]


def _pair_10_11(measure: str) -> tuple[Any, Any]:
    old, new = printed("table-10.11-icpr-2010", f"{measure}_icpr", f"{measure}_2010")
    return np.array(old), np.array(new)


def wins_10_11() -> list[int]:
    """Concepts on which ICPR and ImageCLEF 2010 are better, by EER and by AUC (Table 10.11)."""
    found = []
    for measure, sign in (("eer", 1), ("auc", -1)):
        old, new = _pair_10_11(measure)
        (counted,) = stats.win_tie_loss(sign * (old - new))
        found += [counted.losses, counted.wins]
    return found


def one_way_10_11(measure: str) -> float:
    """The p-value of a one-way analysis of variance of the two years of Table 10.11."""
    return float(stats.one_way(_pair_10_11(measure)).p)


def paired_10_11(measure: str) -> float:
    """The p-value when the concepts of Table 10.11 are paired."""
    return float(stats.two_way(np.vstack(_pair_10_11(measure))).p_runs)


def survey_pairs() -> int:
    """Pairs of words of the survey on visual concepts."""
    return len(printed("table-8.3-visual-concept-relatedness", "human"))


# What the photographs of the sample `photos` show.
_KINDS = {
    "Living": ("astronaut", "camera", "chelsea"),
    "Surface": ("brick", "grass", "gravel"),
    "Science": ("cell", "hubble_deep_field", "retina"),
    "Thing": ("clock_motion", "coffee", "rocket"),
}


@cache
def _annotated() -> dict[str, float]:
    """MAP of annotations of tiles: half of them train, the others are the test."""
    kind_of = {name: kind for kind, names in _KINDS.items() for name in names}
    paths = {c: f"{kind_of[c]}.{c}" for c in kind_of}
    one_kind = Rules(exactly_one=(tuple(_KINDS),))
    ontology = cf.Ontology.from_paths(paths.items(), rules=one_kind).checked()
    photos = sample_folder("photos")
    with TemporaryDirectory() as folder:
        tags = photos / "tags.csv"
        cf.describe_pictures(photos / "pictures", "CEDD EHD", folder, tags=tags, jobs=1)
        visual = [str(Path(folder) / f"{name}.npz") for name in ("CEDD", "EHD")]
        text = [str(Path(folder) / "tags.tfidf.npz")]
        shown = {p.stem: p.stem.rpartition("_")[0] for p in (photos / "pictures").iterdir()}
        truth = {item: {name, kind_of[name]} for item, name in sorted(shown.items())}
        train, test = ({i: s for i, s in truth.items() if i[-1] in ends} for ends in ("02", "13"))
        made = {
            "V": cf.annotate(visual, train, visual).labels,
            "T": cf.annotate(text, train, text).labels,
            "rules": cf.annotate(visual, train, visual, after="rules", ontology=ontology).labels,
        }
    made["M"] = cf.fuse_labels([made["V"], made["T"]])
    return {
        name: round(float(_only_mean(cf.evaluate_labels(test, {name: run}, "AP.concept"))), 4)
        for name, run in made.items()
    }


def _only_mean(scores: Any) -> float:
    """The mean of the only run under the only measure."""
    return float(scores.overall[scores.measures[0]][0])


def photos_annotated(*names: str) -> list[float]:
    """MAP of tiles of photographs, annotated by pixels (V), tags (T), both (M), or V with rules."""
    return [_annotated()[name] for name in names]
