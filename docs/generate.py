"""Writes the reference pages from the declarations, the commands and the public API."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType

from latex2mathml.converter import convert

import cranfield
from cranfield.cli import COMMANDS, main, parser_of, trec_eval
from cranfield.evaluation.measure_catalogue import DIRECTION, all_sets, show_range, signature
from cranfield.features import DESCRIPTORS, DISTANCES, Descriptor
from cranfield.features.catalogue import descriptor_facts, distance_facts
from cranfield.io.collection import DECLARED, IMAGE_KEYS, KINDS, RUN_KEYS, TEAM_KEYS
from cranfield.io.samples import SAMPLE, sample_folder
from cranfield.measures import REGISTRY, Measure
from cranfield.options import CHARTS, CHARTS_OF_BOXES, CHARTS_OF_MEASURES
from cranfield.references import REFERENCES

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "sources"))
NOTE = "<!-- Made by docs/generate.py: change the declarations instead. -->\n\n"


def measures_page() -> str:
    """Every measure by family."""
    parts = [NOTE, "# Measures\n\nAll that `cranfield measures` knows, from the declarations.\n"]
    for family in dict.fromkeys(m.family for m in REGISTRY.values()):
        parts.append(f"\n## {family[:1].upper()}{family[1:]}\n")
        parts += [_measure(m) for m in REGISTRY.values() if m.family == family]
    parts.append("\n## Sets\n\nNames that stand for several measures after `-m`.\n")
    parts += [
        f"\n- `{name}`: {' '.join(f'`{m}`' for m in members)}"
        for name, members in all_sets().items()
    ]
    parts.append("\n\n## Sources\n")
    parts += [f"\n- **{key}**: {reference}" for key, reference in REFERENCES.items()]
    return "".join(parts) + "\n"


def _measure(m: Measure) -> str:
    facts = [
        ("mean", m.mean_name),
        ("range", f"{show_range(m)}, {DIRECTION[m.higher_is_better]}"),
        ("needs", ", ".join(sorted(m.needs))),
        ("source", " ".join(filter(None, [m.source.key, m.source.equations]))),
        ("deviation", m.source.deviation),
        ("ties", m.ties),
        ("missing items", m.missing),
        ("undefined", m.undefined),
        ("example", f"`{m.example}`" if m.example else ""),
        ("trec_eval", f"`{m.trec_name}`" if m.trec_name else ""),
    ]
    rows = "".join(
        f"| {name} | {value.replace('|', chr(92) + '|')} |\n" for name, value in facts if value
    )
    params = "".join(
        f"| `{name}={p.default!r}` | {p.doc.replace('|', chr(92) + '|')} |\n"
        for name, p in m.params.items()
    )
    return (
        f"\n### {signature(m)}\n\n**{m.title}.** {m.summary}\n\n"
        f"{convert(m.formula, display='block')}\n\n"
        f"| fact | of it |\n|---|---|\n{rows}{params}"
    )


def descriptors_page() -> str:
    """Every descriptor by family, and the distances."""
    about = "# Descriptors\n\nAll that `cranfield runs descriptors` knows, from the declarations.\n"
    parts = [NOTE, about]
    for family in dict.fromkeys(d.family for d in DESCRIPTORS.values()):
        parts.append(f"\n## {family[:1].upper()}{family[1:]}\n")
        parts += [_descriptor(d) for d in DESCRIPTORS.values() if d.family == family]
    parts.append("\n## Distances\n")
    for distance in DISTANCES.values():
        facts = distance_facts(distance)
        rows = _rows((name, facts[name]) for name in ("source", "deviation", "undefined"))
        parts.append(
            f"\n### {distance}\n\n**{distance.title}.**\n\n"
            f"{convert(distance.formula, display='block')}\n\n| fact | of it |\n|---|---|\n{rows}"
        )
    return "".join(parts) + "\n"


def _descriptor(d: Descriptor) -> str:
    facts = descriptor_facts(d)
    named = ("source", "deviation", "length", "range", "distance", "small_pictures")
    rows = _rows((name.replace("_", " "), facts[name]) for name in (*named, "checked_against"))
    return (
        f"\n### {d}\n\n**{d.title}.** {d.summary}\n\n"
        f"{convert(d.formula, display='block')}\n\n| fact | of it |\n|---|---|\n{rows}"
    )


def _rows(facts: Iterable[tuple[str, object]]) -> str:
    shown = ((name, str(value).replace("|", chr(92) + "|")) for name, value in facts)
    return "".join(f"| {name} | {value} |\n" for name, value in shown if value)


def collection_page() -> str:
    """Every key of `collection.toml`."""
    parts = [
        NOTE,
        "# collection.toml\n\n",
        "Everything is optional. What is wrong is told with its line: an unknown key, a file that "
        "is not there or lies outside of the folder, a value of the wrong kind, two runs of one "
        "name. "
        "`cranfield collection init FOLDER` writes a first file.\n\n",
        "| key | value | example |\n|---|---|---|\n",
    ]
    parts += [f"| `{key.name}` | {key.about} | `{key.example}` |\n" for key in DECLARED]
    for name, keys in (("teams", TEAM_KEYS), ("run_facts", RUN_KEYS), ("images", IMAGE_KEYS)):
        listed = ", ".join(f"`{key}`" for key in keys)
        parts.append(f"\n## {name}\n\n{KINDS_OF_TABLES[name]} {listed}.\n")
    parts.append("\n## Kinds of values\n\n| kind | what is taken |\n|---|---|\n")
    parts += [f"| {kind} | {what} |\n" for kind, what in KINDS.items()]
    return "".join(parts)


KINDS_OF_TABLES = {
    "teams": "Tables `[[teams]]`, or a CSV file with some of these columns:",
    "run_facts": "Tables `[[run_facts]]`, or a CSV file with some of these columns:",
    "images": "A table `[images]` with all of:",
}


def routes_page() -> str:
    """Every route of the campaign site: who may use it, and in which states."""
    from cranfield.campaign.workflow import STATES
    from cranfield.server.permissions import ROLES, RULES

    listed = ", ".join(f"`{letter}` {what}" for letter, what in ROLES.items())
    parts = [
        NOTE,
        "# Routes of the campaign site\n\n",
        f"Who may what: {listed}. Somebody who may not gets 403; for what belongs to others, 404. "
        "A draft is for organisers only, but for the pages of those who make its truth.\n\n",
        "| route | what | who | in the states |\n|---|---|---|---|\n",
    ]
    for rule in RULES:
        who = " ".join(letter for letter in ROLES if letter in rule.roles)
        when = (
            "all"
            if rule.when == frozenset(STATES)
            else ", ".join(state for state in STATES if state in rule.when)
        )
        if rule.always:
            when += f"; {' '.join(sorted(rule.always))} in all"
        more = ", after the password was entered again" if rule.confirmed else ""
        parts.append(f"| `{rule.method} {rule.path}` | {rule.about}{more} | {who} | {when} |\n")
    return "".join(parts)


def commands_page() -> str:
    """Every command with its options."""
    parts = [
        NOTE,
        "# Commands\n\n",
        "Tables go to standard output, progress and warnings to standard error. Exit 0: done; "
        "1: an asked-for check failed; 2: bad input or usage.\n",
    ]
    for name, command in COMMANDS.items():
        parser, what = parser_of(name), command.summary
        parts.append(f"\n## cranfield {name}\n\n{what[:1].upper()}{what[1:]}.\n\n")
        texts = _helps(parser) if parser is not None else [trec_eval.USAGE]
        parts += [f"```text\n{text.rstrip()}\n```\n\n" for text in texts]
    return "".join(parts)


def _helps(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The help of a command and of its actions."""
    yield parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from _helps(sub)


def python_page() -> str:
    """The public names with their signatures and descriptions."""
    parts = [
        NOTE,
        "# Python\n\n`import cranfield as cf` gives these names; all others are private.\n",
    ]
    for name in cranfield.__all__:
        thing = getattr(cranfield, name)
        if inspect.ismodule(thing):
            parts.append(_module(name, thing))
            continue
        if isinstance(thing, str):
            continue
        form = _call(name, thing) if inspect.isfunction(thing) else f"class {name}"
        parts.append(f"\n## {name}\n\n```python\n{form}\n```\n\n{_prose(thing)}\n")
        if inspect.isclass(thing):
            for method_name, method in inspect.getmembers(thing):
                if not method_name.startswith("_") and inspect.isfunction(method):
                    about = (inspect.getdoc(method) or "").splitlines()
                    parts.append(
                        f"\n- `{method_name}{_short(method)}`: {about[0] if about else ''}"
                    )
            parts.append("\n")
    return "".join(parts)


def _module(name: str, module: ModuleType) -> str:
    """A public module: what it is for, and its functions and classes."""
    listed = [(n, getattr(module, n)) for n in getattr(module, "__all__", ())]
    lines = [
        f"\n- `{n}{_short(thing) if inspect.isfunction(thing) else ''}`: "
        + (inspect.getdoc(thing) or "").partition("\n")[0]
        for n, thing in listed
        if inspect.isfunction(thing) or inspect.isclass(thing)
    ]
    about = f"\n## {name}\n\n{_prose(module)}\n"
    return about + "".join(lines) + "\n"


def _call(name: str, function: Callable[..., object]) -> str:
    """How a function is called; a long signature has a line for each parameter."""
    signature = inspect.signature(function)
    taken: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in taken:
            taken.append("*")
        told = f": {one.annotation}" if one.annotation is not one.empty else ""
        usual = f" = {one.default!r}" if one.default is not one.empty else ""
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        taken.append(f"{stars}{one.name}{told}{usual}")
    given = signature.return_annotation
    gives = "" if given is signature.empty else f" -> {given}"
    short = f"{name}({', '.join(taken)}){gives}"
    if len(short) <= 88:
        return short
    return "\n    ".join([f"{name}(", *(f"{part}," for part in taken)]) + f"\n){gives}"


def _prose(thing: object) -> str:
    """What is said of a thing, as text; what could be typed, and what is laid out, as code."""
    parts = []
    for part in (inspect.getdoc(thing) or "").split("\n\n"):
        if part.startswith(">>>"):
            parts.append(f"```pycon\n{part}\n```")
        elif any(line.startswith(" ") for line in part.splitlines()):
            parts.append(f"```text\n{part}\n```")
        else:
            parts.append(part)
    return "\n\n".join(parts)


def _short(method: object) -> str:
    names = [p for p in inspect.signature(method).parameters if p not in ("self", "cls")]  # type: ignore[arg-type]
    return f"({', '.join(names)})"


PAGES = {
    "measures.md": measures_page,
    "descriptors.md": descriptors_page,
    "collection.md": collection_page,
    "commands.md": commands_page,
    "routes.md": routes_page,
    "python.md": python_page,
}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page())


# Curves of the explanation pages: what measures say while one relevant item moves down.
CURVES = {
    "behaviour-precision.svg": "AP RR P@10 nDCG RBP",
    "behaviour-image.svg": "NMRR NAR MNRO NormRecall NormPrecision",
}


def draw(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, measures in CURVES.items():
        command = ["chart", "behaviour", "-m", measures, "--collection-size", "100"]
        if main([*command, "--quiet", "-o", str(folder / name)]) != 0:
            raise SystemExit(f"{name} could not be drawn")


# Every chart once, on the sample collections: (chart, options, what of a source it shows).
RANKED = ["--collection-size", "1120"]
PAPER = ["-m", "AP NMRR MNRO", "--collection-size", "20"]
GALLERY: list[tuple[str, list[str], str]] = [
    ("leaderboard", ["-m", "AP", *RANKED], ""),
    ("significance", ["-m", "AP", *RANKED], ""),
    ("heatmap", ["-m", "AP", *RANKED], ""),
    ("differences", ["-m", "AP", "--run", "pca", "--baseline", "bits", *RANKED], ""),
    ("against", ["-m", "AP", "--run", "pca", "--baseline", "bits", *RANKED], ""),
    ("scatter", ["-m", "AP nDCG@10", *RANKED], ""),
    ("rank-changes", ["-m", "AP nDCG@10", *RANKED], "Nowak, Figure 9.1"),
    ("critical-difference", ["-m", "AP", *RANKED], "Demšar 2006"),
    ("precision-recall", RANKED, ""),
    ("effectiveness", RANKED, "Chatzichristofis et al. 2; Rocchio 2D"),
    ("topics", ["--run", "pca", *RANKED], "Rocchio 2D, topic by topic"),
    ("cutoffs", RANKED, "Rocchio 2C"),
    ("thresholds", RANKED, "Rocchio 2C"),
    ("joint", ["--run", "gradients", "--cutoff", "50", *RANKED], "Rocchio 2B"),
    ("operating", RANKED, "Chatzichristofis et al. 2, relative operating characteristic"),
    ("detections", RANKED, "Chatzichristofis et al. 2, receiver operating characteristic"),
    ("generality", ["--run", "pca", "--scope", "0.5", *RANKED], "Huijsmans and Sebe"),
    ("generality-sizes", RANKED, "Huijsmans and Sebe, over collection sizes"),
    ("gain", ["--against", "rank", *RANKED], "SHREC, cumulated gain vectors"),
    ("gain", ["-m", "DCG(discount='jk')", "--against", "recall", *RANKED], "SHREC, graph"),
    ("behaviour", ["-m", "AP RR P@10 nDCG RBP", "--collection-size", "100"], ""),
    ("placements", PAPER, "Chatzichristofis et al., Figures 1 and 5"),
    ("placements", ["-m", "MNRO", "--sizes", "1000,10000,100000"], "Figure 6"),
    ("combined-ranks", PAPER, "Chatzichristofis et al., Figures 2 and 7"),
    ("surface", ["-m", "AP", "--collection-size", "20"], "Figure 3, as colour"),
    ("perspective", ["-m", "AP", "--collection-size", "20"], "Figure 3 (a)"),
    ("perspective", ["-m", "NMRR", "--collection-size", "20"], "Figure 3 (b)"),
    ("perspective", ["-m", "MNRO", "--collection-size", "20"], "Figure 8"),
    ("surface-edges", PAPER, "Chatzichristofis et al., curves A and B of Figure 8"),
    ("envelope", PAPER, "Chatzichristofis et al., Figure 4"),
    ("roc", [], ""),
    ("density", ["-m", "F.example"], ""),
    ("concepts", ["-m", "AP.concept"], ""),
    ("concept-curves", ["--run", "columns"], ""),
    ("reliability", [], ""),
    ("box-recall", [], "Lin et al., COCO"),
    ("box-errors", [], "Oksuz et al., LRP against confidence"),
    ("box-errors", ["--run", "ink"], "Oksuz et al., the parts of LRP"),
    ("units", ["-m", "Rprec.example SRP", "--run", "logistic"], "Nowak, Figures 9.4 and 9.5"),
]
CHARTS_OF_LABELS = ("roc", "density", "concepts", "concept-curves", "reliability", "units")


# The width of a picture on a phone.
PHONE = 356


def gallery() -> Iterator[tuple[str, list[str], str, str]]:
    """File, command line as people type it, what it shows, and whose figure it is."""
    for number, (chart, options, source) in enumerate(GALLERY, 1):
        files = []
        if chart in CHARTS_OF_LABELS:
            files = ["--truth", "truth.csv", "labels/*.csv.gz"]
            if "SRP" in " ".join(options):
                files += ["--costmap", "costmap.csv", "--ontology", "ontology.csv"]
        elif chart in CHARTS_OF_BOXES:
            files = ["pages"]
        elif chart not in CHARTS_OF_MEASURES:
            files = ["qrels.txt.gz", "runs/*.run.gz"]
        what = CHARTS[chart]
        yield f"{number:02d}-{chart}.svg", [chart, *files, *options], what, source


def gallery_page() -> str:
    """Every chart with the command that draws it."""
    parts = [
        NOTE,
        "# Gallery\n\nEvery chart of `cranfield report chart`, drawn from the sample collection of "
        "handwritten digits when these pages were made. The pictures follow the reader's choice "
        "of a light or dark screen; each opens by itself, where small writing can be enlarged.\n",
    ]
    for name, words, what, source in gallery():
        command = " ".join(f'"{w}"' if " " in w or "(" in w else w for w in words)
        whose = f" ({source})" if source else ""
        parts.append(
            f"\n## {words[0]}\n\n{what[:1].upper()}{what[1:]}{whose}.\n\n"
            f"```console\n$ cranfield report chart {command} -o {words[0]}.svg\n```\n\n"
            f'<a href="images/gallery/{name}"><picture><source media="(max-width: 600px)" '
            f'srcset="images/gallery/{_narrow(name)}"><img src="images/gallery/{name}" '
            f'alt="{what}"></picture></a>\n'
        )
    return "".join(parts)


def draw_gallery(folder: Path) -> None:
    """The pictures of the gallery."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words, _, _ in gallery():
        given = [path for word in words for path in _found(word)]
        for file, look in ((name, []), (_narrow(name), ["--width", str(PHONE)])):
            if main(["chart", *given, *look, "--quiet", "-o", str(folder / file)]) != 0:
                raise SystemExit(f"{file} could not be drawn")


def _narrow(name: str) -> str:
    """The same picture for phones, where the writing of a wide one would be too small."""
    return name.replace(".svg", "-narrow.svg")


def _found(word: str) -> list[str]:
    """The files of the sample collection that a word of the command names, or the word."""
    if word == "pages":
        return [str(sample_folder(word))]
    if not word.endswith((".gz", ".csv")):
        return [word]
    return sorted(str(path) for path in SAMPLE.glob(word))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "reference")
    write(parser.parse_args(sys.argv[1:]).folder)
    draw(HERE / "images")
    importlib.import_module("rows").write(HERE / "sources")
    (HERE / "gallery.md").write_text(gallery_page())
    draw_gallery(HERE / "images" / "gallery")
