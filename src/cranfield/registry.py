"""Things that are asked for by name: measures, methods of relatedness, image descriptors.

Each is a frozen declaration. A name such as `nDCG@10(gain='exp')` stands for a declaration bound
to a cutoff and parameters; `nDCG(gain='exp')@10` is the same one, and `str` prints the first form,
`P@10.concept(mean='micro')` for one with a direction. An alias is another spelling of a name,
with or without parameters: it leads to one canonical name, which is what answers print.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeAlias, TypeVar

from cranfield._lazy import cached_property
from cranfield.errors import MeasureError, suggest
from cranfield.references import Source

Value: TypeAlias = str | int | float | bool
Cutoff: TypeAlias = Literal["none", "optional", "required", "recall"]

_STEM = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CUTOFF = re.compile(r"@([0-9.]*[0-9])")
_DIRECTION = re.compile(r"\.[A-Za-z]+")
# trec_eval writes P_10, ndcg_cut_10 and iprec_at_recall_0.50, and is asked for P.10; others write
# ndcg_at_10.
_TAIL = re.compile(r"(?P<name>[A-Za-z]\w*?)(?:[._]|_at_)(?P<at>[0-9]+(?:\.[0-9]+)?)")
# A cutoff without anything before it: NDCG10.
_GLUED = re.compile(r"([A-Za-z]\w*?)([0-9]+)")
_RANGE = re.compile(r"@([0-9]{1,15})\.\.([0-9]{1,15})")
_LONGEST_RANGE = 1000
_DASHED = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+")
_BARE_NUMBER = re.compile(r"[0-9.]*[0-9]")
_LARGEST_EXACT = 2**53  # whole numbers beyond it are not all floats


class Param(NamedTuple):
    """A parameter of a declaration: its kind, its default and the values it may take."""

    kind: type
    default: Value | None
    doc: str
    choices: tuple[Value, ...] = ()
    low: float = -math.inf
    high: float = math.inf

    def convert(self, owner: str, name: str, value: Value | None) -> Value | None:
        """The value as this parameter's kind, or a MeasureError that says what was expected."""
        if value is None and self.default is None:
            return None
        try:
            converted = self._cast(value)
        except (TypeError, ValueError, OverflowError):
            raise MeasureError(
                f"{owner}: parameter {name}={value!r} is not {_KIND_NAMES[self.kind]}"
            ) from None
        if self.choices and converted not in self.choices:
            options = ", ".join(repr(c) for c in self.choices)
            raise MeasureError(f"{owner}: parameter {name}={value!r} is not one of {options}")
        if isinstance(converted, int | float) and not self.low <= converted <= self.high:
            raise MeasureError(
                f"{owner}: parameter {name}={value!r} is outside [{self.low:g}, {self.high:g}]"
            )
        return converted

    def _cast(self, value: Value | None) -> Value:
        if value is None:
            raise TypeError
        if self.kind is str:
            if not isinstance(value, str):
                raise TypeError
            return value
        if isinstance(value, bool | str):
            if self.kind is bool and isinstance(value, bool):
                return value
            raise TypeError
        if self.kind is int:
            if value != int(value):
                raise ValueError
            return int(value)
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        return int(number) if number.is_integer() and abs(number) < _LARGEST_EXACT else number


_KIND_NAMES = {
    str: "a quoted string",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Spec:
    """What every declaration says of itself, and what it is bound to: pure description, no state.

    Two are equal when they print alike.
    """

    noun: ClassVar[str]  # what messages call it
    catalogue: ClassVar[str]  # the command that lists all of its kind

    name: str
    title: str
    formula: str
    source: Source
    family: str = ""
    summary: str = ""
    params: Mapping[str, Param] = field(default_factory=dict)
    cutoff: Cutoff = "none"
    bound: Mapping[str, Value] = field(default_factory=dict)
    at: float | None = None

    def bind(self, *, at: float | None = None, **values: Value) -> Self:
        """This with some parameters set, checked against the declaration."""
        bound = dict(self.bound)
        for key, value in values.items():
            if key not in self.params:
                names = ", ".join(self.params) or "none"
                raise MeasureError(
                    f"{self.name} has no parameter {key!r} (it has: {names})."
                    f"{suggest(key, self.params)}"
                )
            converted = self.params[key].convert(self.name, key, value)
            bound.pop(key, None)
            if converted is not None:
                bound[key] = converted
        for key in [k for k, v in bound.items() if v == self.params[k].default]:
            del bound[key]
        ordered = {k: bound[k] for k in self.params if k in bound}
        cut = self.at if at is None else self._checked_cutoff(at)
        return replace(self, bound=MappingProxyType(ordered), at=cut)

    def _checked_cutoff(self, at: float) -> float:
        if self.cutoff == "none":
            raise MeasureError(f"{self.name} takes no cutoff (@{at:g})")
        if self.cutoff == "recall":
            if not 0 <= at <= 1:
                raise MeasureError(f"{self.name}@{at:g}: a recall level lies in [0, 1]")
            return float(at)
        if at != int(at) or at < 1:
            raise MeasureError(f"{self.name}@{at:g}: a cutoff is a whole number from 1 on")
        if at > _LARGEST_EXACT:
            raise MeasureError(f"{self.name}@{at:g}: no ranking is that long")
        return int(at)

    def check_complete(self) -> Self:
        """This, or a MeasureError when its obligatory cutoff is absent."""
        if self.cutoff in ("required", "recall") and self.at is None:
            example = "0.2" if self.cutoff == "recall" else "10"
            raise MeasureError(f"{self.name} needs a cutoff, such as {self.name}@{example}")
        return self

    def other_names(self) -> Iterable[str]:
        """Names that the declaration itself says people know it by."""
        return ()

    def value_of(self, param: str) -> Any:
        """The bound value of a parameter, or its default."""
        return self.bound.get(param, self.params[param].default)

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        # Made once: tables look measures up by their names thousands of times.
        return self._spell()

    def _spell(self) -> str:
        inside = ", ".join(f"{k}={v!r}" for k, v in self.bound.items())
        stem, dot, direction = self.name.partition(".")
        cut = "" if self.at is None else f"@{_digits(self.at)}"
        return f"{stem}{cut}{dot}{direction}" + (f"({inside})" if inside else "")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._text == str(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __deepcopy__(self, _: Any) -> Self:
        return self


def _digits(number: float) -> str:
    """A number in full and without an exponent, which names do not have."""
    if number == int(number):
        return str(int(number))
    short = repr(number)
    if "e" not in short:
        return short
    from decimal import Decimal

    return format(Decimal(short), "f")


class ParsedName(NamedTuple):
    """A name as it was written, taken apart."""

    text: str
    name: str
    at: float | None
    params: Mapping[str, Value]


D = TypeVar("D", bound=Spec)


class Registry(Mapping[str, D], Generic[D]):
    """Declarations of one kind by their canonical names, found by any spelling of them.

    `declared` gives them; it is called when the first one is asked for, so that what they load is
    loaded only then. `aliases` leads from other spellings to names such as `AP(mean='geometric')`;
    upper and lower case are one. `sets` has names that stand for several declarations, `bare` those
    that mean something else without a cutoff.
    """

    def __init__(
        self,
        kind: type[D],
        declared: Callable[[], Iterable[D]],
        aliases: Mapping[str, str] | None = None,
        sets: Callable[[], Mapping[str, Iterable[str]]] = dict,
        bare: Mapping[str, str] | None = None,
        unlisted: Callable[[], Iterable[D]] = tuple,
    ) -> None:
        self.kind, self._declared, self._sets, self._bare = kind, declared, sets, bare or {}
        self._aliases = dict(aliases or {})
        # Declarations that are found by their names and stand in no list.
        self._unlisted = unlisted

    @cached_property
    def _known(self) -> dict[str, D]:
        return {declaration.name: declaration for declaration in self._declared()}

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Every other spelling, and the name it stands for."""
        declared = {
            spelling: declaration.name
            for declaration in self.values()
            for spelling in declaration.other_names()
        }
        return {k: v for k, v in (declared | self._aliases).items() if k not in self._known}

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """Names and aliases without case; where two meet, the name comes first."""
        others = {spelling.lower(): name for spelling, name in self.aliases.items()}
        return others | {name.lower(): name for name in self}

    def __getitem__(self, name: str) -> D:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def knows(self, entry: str | D) -> bool:
        """Whether an entry is a declaration of this registry, or the name of one or of a set."""
        if not isinstance(entry, str):
            return entry.name in self
        if entry in self._sets():
            return True
        try:
            declaration, _ = self._look_up(entry)
            return declaration is not None and bool(declaration.check_complete())
        except MeasureError:  # its cutoff or its parameters are not those of the declaration
            return False

    def find(self, text: str) -> D:
        """The declaration that a name such as `nDCG@10` stands for, bound to its parameters."""
        declaration, name = self._look_up(text)
        if declaration is None:
            raise MeasureError(
                f"No {self.kind.noun} named {name!r}.{self._likely(name)} "
                f"List them with: {self.kind.catalogue}"
            )
        return declaration.check_complete()

    def _look_up(self, text: str) -> tuple[D | None, str]:
        """The declaration of a name, bound to its parameters; None, and the name without them."""
        if isinstance(text, str) and (dashed := _DASHED.match(text.strip())):
            # alpha-nDCG@10, as papers write it.
            text = dashed[0].replace("-", "_") + text.strip()[dashed.end() :]
        if isinstance(text, str):
            text = self._bare.get(text.strip().lower(), text)
        exact = isinstance(text, str) and self._called(text.strip())
        if exact:
            return exact, exact.name
        tail = isinstance(text, str) and _TAIL.fullmatch(text.strip())
        parsed = parse_name(f"{tail['name']}@{tail['at']}" if tail else text, self.kind.noun)
        declaration = self._called(parsed.name)
        if declaration is None:
            return None, text.strip() if tail else parsed.name
        return declaration.bind(at=parsed.at, **parsed.params), parsed.name

    def _likely(self, name: str) -> str:
        """What may be meant by a name that nothing has."""
        glued = _GLUED.fullmatch(name)
        with_cutoff = glued and self._called(glued[1])
        if glued and with_cutoff:
            return f" Did you mean '{with_cutoff.name}@{glued[2]}'?"
        return suggest(name, self.known_names())

    def find_all(self, selection: str | D | Iterable[str | D]) -> tuple[D, ...]:
        """Declarations by names, sets of names, or themselves; each once, in the order given."""
        declarations: dict[D, None] = {}
        for entry in list_entries(selection, self.kind):
            names = self.members(entry) if isinstance(entry, str) else [entry]
            for name in names:
                declarations[
                    self.find(name) if isinstance(name, str) else name.check_complete()
                ] = None
        if not declarations:
            raise MeasureError(
                f"no {self.kind.noun} was asked for. List them with: {self.kind.catalogue}"
            )
        return tuple(declarations)

    def members(self, name: str) -> Iterable[str]:
        """The names in a set, or the name itself where it is not that of a set."""
        return self._sets().get(name, (name,))

    def known_names(self) -> Iterator[str]:
        """The canonical names, then the other spellings and the sets."""
        yield from self
        yield from self.aliases
        yield from self._sets()

    def _called(self, name: str) -> D | None:
        if name in self._known:
            return self._known[name]
        canonical = self._spellings.get(name.lower())
        if canonical is None:
            return next((one for one in self._unlisted() if one.name == name), None)
        parsed = parse_name(canonical, self.kind.noun)
        return self._known[parsed.name].bind(at=parsed.at, **parsed.params)


class ChainRegistry(Registry[D]):
    """Several registries of one kind as one; the first that knows a name answers."""

    def __init__(self, *registries: Registry[D]) -> None:
        super().__init__(registries[0].kind, tuple)
        self._registries = registries

    def __getitem__(self, name: str) -> D:
        for registry in self._registries:
            if name in registry:
                return registry[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for registry in self._registries for name in registry)

    def __len__(self) -> int:
        return sum(map(len, self._registries))

    def known_names(self) -> Iterator[str]:
        return (name for registry in self._registries for name in registry.known_names())

    def _called(self, name: str) -> D | None:
        declarations = (registry._called(name) for registry in self._registries)
        return next((declaration for declaration in declarations if declaration is not None), None)


def list_entries(selection: str | D | Iterable[str | D], kind: type[D]) -> list[str | D]:
    """Names and declarations one by one; a text may hold several names."""
    if isinstance(selection, str | kind):
        selection = [selection]
    if not isinstance(selection, Iterable):
        raise MeasureError(
            f"{selection!r} is neither the name of a {kind.noun} nor a list of names"
        )
    entries: list[str | D] = []
    for entry in selection:
        if isinstance(entry, str):
            entries += split_names(entry)
        elif isinstance(entry, kind):
            entries.append(entry)
        else:
            raise MeasureError(f"{entry!r} is not the name of a {kind.noun}")
    return entries


def split_names(text: str) -> list[str]:
    """The names in a text, separated by blanks or commas outside of parentheses.

    Numbers after a name with a cutoff are further cutoffs of it, and 1..4 is every one of these.

    >>> split_names("AP, nDCG@5,10(gain='exp') CG@1..3")
    ['AP', 'nDCG@5', "nDCG@10(gain='exp')", 'CG@1', 'CG@2', 'CG@3']
    """
    names: list[str] = []
    start, depth, quote = 0, 0, ""
    for i, char in enumerate(text + " "):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif depth <= 0 and (char.isspace() or char == ","):
            if i > start:
                names += _range_of(_with_cutoff(text[start:i], names))
            start = i + 1
    if start < len(text):
        raise MeasureError(f"unbalanced parenthesis or quote in {text[start:].strip()!r}")
    return names


def _range_of(name: str) -> list[str]:
    """A name with a range of cutoffs as one name for each of them; any other name as it is."""
    match = _RANGE.search(name)
    if match is None:
        return [name]
    first, last = int(match[1]), int(match[2])
    if not first <= last < first + _LONGEST_RANGE:
        raise MeasureError(
            f"{name!r}: a range of cutoffs rises, and has at most {_LONGEST_RANGE} of them"
        )
    before, after = name[: match.start()], name[match.end() :]
    return [f"{before}@{k}{after}" for k in range(first, last + 1)]


def _with_cutoff(part: str, before: list[str]) -> str:
    """A piece of a list of names; one that begins with a number continues the name before it."""
    number = _BARE_NUMBER.match(part)
    last = before[-1] if before else ""
    if number is None or not re.match(r"$|[(.]", part[number.end() :]):
        return part
    if cut := _CUTOFF.search(last):
        return f"{last[: cut.start()]}@{number[0]}{part[number.end() :] or last[cut.end() :]}"
    tail = _TAIL.fullmatch(last)
    return f"{tail['name']}@{part}" if tail else part


def parse_name(text: str, noun: str) -> ParsedName:
    """A name taken apart; whether anything is called so is the matter of a registry."""
    if not isinstance(text, str):
        raise MeasureError(f"{text!r} is not the name of a {noun}")
    rest = text.strip()
    stem = _STEM.match(rest)
    if stem is None:
        raise MeasureError(f"{text!r} is not the name of a {noun}")
    name, rest = stem.group(), rest[stem.end() :]
    at: float | None = None
    params: dict[str, Value] = {}
    while rest:
        if cut := _CUTOFF.match(rest):
            if at is not None:
                raise MeasureError(f"{text!r} has two cutoffs")
            at, rest = _number(cut.group(1), text), rest[cut.end() :]
        elif direction := _DIRECTION.match(rest):
            name, rest = name + direction.group(), rest[direction.end() :]
        elif rest.startswith("("):
            inside, rest = _matching(rest, text)
            _parse_params(inside, text, params)
        else:
            raise MeasureError(f"cannot read {rest!r} in the {noun} name {text!r}")
    return ParsedName(text, name, at, params)


def _number(text: str, full_name: str) -> float:
    try:
        # Python alone takes 1_000 and digits of other scripts for numbers.
        number = float(text if text.isascii() and "_" not in text else "")
    except ValueError:
        raise MeasureError(f"cannot read the cutoff {text!r} in {full_name!r}") from None
    # A float would quietly stand for a neighbour of such a number.
    if number >= _LARGEST_EXACT:
        raise MeasureError(f"the cutoff {text[:40]} in {full_name[:80]!r}: no ranking is that long")
    return number


def _matching(rest: str, full_name: str) -> tuple[str, str]:
    depth, quote = 0, ""
    for i, char in enumerate(rest):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return rest[1:i], rest[i + 1 :]
    raise MeasureError(f"unbalanced parenthesis or quote in {full_name!r}")


def _parse_params(inside: str, full_name: str, values: dict[str, Value]) -> None:
    """Add the parameters written between parentheses to `values`."""
    import ast  # most names have none

    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise MeasureError(f"cannot read the parameters ({inside}) in {full_name!r}") from None
    if not isinstance(call, ast.Call) or call.args or any(k.arg is None for k in call.keywords):
        raise MeasureError(f"parameters are written name=value, not ({inside}) as in {full_name!r}")
    for keyword in call.keywords:
        if keyword.arg in values:
            raise MeasureError(f"{keyword.arg} is given twice in {full_name!r}")
        try:
            value = ast.literal_eval(keyword.value)
        except (ValueError, TypeError, RecursionError):
            raise MeasureError(
                f"the value of {keyword.arg} in {full_name!r} is not a number or a quoted string"
            ) from None
        if not isinstance(value, str | int | float | bool):
            raise MeasureError(f"the value of {keyword.arg} in {full_name!r} is not a simple value")
        values[str(keyword.arg)] = value
