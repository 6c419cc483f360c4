"""Writes the reference pages from the declarations, the commands and the public API."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from latex2mathml.converter import convert

import cranfield
from cranfield.cli import COMMANDS, main
from cranfield.evaluation.catalogue import DIRECTION, all_sets, show_range, signature
from cranfield.measures import REGISTRY, Measure
from cranfield.sources import REFERENCES

HERE = Path(__file__).parent
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
        f"| | |\n|---|---|\n{rows}{params}"
    )


def commands_page() -> str:
    """Every command with its options."""
    parts = [
        NOTE,
        "# Commands\n\n",
        "Tables go to standard output, progress and warnings to standard error. Exit 0: done; "
        "1: an asked-for check failed; 2: bad input or usage.\n",
    ]
    for name, (module_name, what) in COMMANDS.items():
        module = importlib.import_module(f"cranfield.cli.{module_name}")
        parts.append(f"\n## cranfield {name}\n\n{what[:1].upper()}{what[1:]}.\n\n")
        texts = _helps(module.make_parser()) if hasattr(module, "make_parser") else [module.USAGE]
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
        if inspect.ismodule(thing) or isinstance(thing, str):
            continue
        form = f"{name}{inspect.signature(thing)}" if inspect.isfunction(thing) else f"class {name}"
        parts.append(
            f"\n## {name}\n\n```python\n{form}\n```\n\n```text\n{inspect.getdoc(thing)}\n```\n"
        )
        if inspect.isclass(thing):
            for method_name, method in inspect.getmembers(thing):
                if not method_name.startswith("_") and inspect.isfunction(method):
                    about = (inspect.getdoc(method) or "").splitlines()
                    parts.append(
                        f"\n- `{method_name}{_short(method)}`: {about[0] if about else ''}"
                    )
            parts.append("\n")
    return "".join(parts)


def _short(method: object) -> str:
    names = [p for p in inspect.signature(method).parameters if p not in ("self", "cls")]  # type: ignore[arg-type]
    return f"({', '.join(names)})"


PAGES = {"measures.md": measures_page, "commands.md": commands_page, "python.md": python_page}


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE / "reference")
    write(parser.parse_args(sys.argv[1:]).folder)
    draw(HERE / "images")
