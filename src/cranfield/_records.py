"""Frozen dataclasses that cost next to nothing until they are used.

A program that answers in 50 ms cannot spend half of them on writing methods for classes that it
may never make an instance of: `dataclasses` compiles six functions for each, and loads `inspect`
before. Here the initializer is written when it is first called, and the other methods are shared by
all classes. Whoever asks for the fields gets those of the standard library, so that
`dataclasses.replace`, `fields` and `asdict` work, as do subclasses that are dataclasses.

The modules that every command loads take `dataclass`, `field` and `replace` from here; for type
checkers they are the standard library's. Slots are not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    _MISSING = object()
    _FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"

    class _Spec:
        """What is said of a field, as `dataclasses.field` takes it."""

        __slots__ = ("default", "factory", "how", "init", "kw_only", "name", "type")

        def __init__(self, default=_MISSING, factory=_MISSING, *, init=True, kw_only=None, **how):
            self.default, self.factory, self.init, self.kw_only = default, factory, init, kw_only
            self.how = how
            self.name = self.type = ""

        @property
        def has_default(self):
            return self.default is not _MISSING or self.factory is not _MISSING

        def as_field(self):
            """The same of the standard library."""
            import dataclasses

            how = {"init": self.init, "kw_only": bool(self.kw_only), **self.how}
            if self.default is not _MISSING:
                how["default"] = self.default
            if self.factory is not _MISSING:
                how["default_factory"] = self.factory
            made = dataclasses.field(**how)
            made.name, made.type = self.name, self.type
            made._field_type = dataclasses._FIELD
            return made

    def field(*, default=_MISSING, default_factory=_MISSING, **how):
        """A field of which something is to be said."""
        return _Spec(default, default_factory, **how)

    def replace(record, /, **changes):
        """The record with some other values."""
        kind = type(record)
        if "__record_specs__" not in kind.__dict__:
            import dataclasses

            return dataclasses.replace(record, **changes)
        for spec in kind.__record_specs__:
            if spec.init and spec.name not in changes:
                changes[spec.name] = getattr(record, spec.name)
        return kind(**changes)

    class _Fields:
        """The fields as the standard library has them, made when they are asked for."""

        def __init__(self, specs):
            self.specs, self.made = specs, None

        def __get__(self, _, owner):
            if self.made is None:
                self.made = {spec.name: spec.as_field() for spec in self.specs}
            return self.made

    class _Params:
        """What a subclass that is a dataclass looks at."""

        frozen = True

    class _Initializer:
        """Fills the first few instances itself, and writes the initializer of a class after them:
        that costs as much as a few dozen instances that are filled without one."""

        def __init__(self, cls, specs):
            self.cls, self.specs, self.left = cls, specs, 8

        def __get__(self, instance, owner):
            if instance is not None and self.left:
                self.left -= 1
                return lambda *given, **named: self._fill(instance, given, named)
            return self._written() if instance is None else self._written().__get__(instance, owner)

        def _written(self):
            self.cls.__init__ = written = _initializer(self.cls, self.specs)
            return written

        def _fill(self, record, given, named):
            places = [s.name for s in self.specs if s.init and not s.kw_only]
            values = dict(zip(places, given, strict=False))
            fits = len(given) <= len(places) and not values.keys() & named
            values.update(named)
            for spec in self.specs:
                value = values.pop(spec.name, spec.default) if spec.init else _MISSING
                if value is _MISSING and spec.factory is not _MISSING:
                    value = spec.factory()
                if value is not _MISSING:
                    object.__setattr__(record, spec.name, value)
                fits = fits and (value is not _MISSING or not spec.init)
            if values or not fits:
                self._written()(record, *given, **named)  # which says what is wrong
            elif hasattr(record, "__post_init__"):
                record.__post_init__()

    def _initializer(cls, specs):
        known = {"_MISSING": _MISSING, "_set": object.__setattr__}
        lines = ["_held = self.__dict__"]
        taken = {False: [], True: []}
        for spec in specs:
            name = spec.name
            if spec.factory is not _MISSING:
                known[f"_f_{name}"] = spec.factory
            elif spec.has_default:
                known[f"_d_{name}"] = spec.default
            if not spec.init:
                if spec.factory is not _MISSING:
                    lines.append(f"_held[{name!r}] = _f_{name}()")
                continue
            default = ""
            if spec.factory is not _MISSING:
                default = "=_MISSING"
                value = f"_f_{name}() if {name} is _MISSING else {name}"
            else:
                default = f"=_d_{name}" if spec.has_default else ""
                value = name
            taken[bool(spec.kw_only)].append(name + default)
            # What keeps its values itself is to be told of them.
            kept = hasattr(_looked_up(cls, name), "__set__")
            lines.append(f"_set(self, {name!r}, {value})" if kept else f"_held[{name!r}] = {value}")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        head = ", ".join(["self", *taken[False], *(["*", *taken[True]] if taken[True] else [])])
        body = "\n ".join(lines)
        exec(f"def __init__({head}):\n {body}", known)  # as the standard library does
        made = known["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        made.__annotations__ = {s.name: s.type for s in specs if s.init} | {"return": None}
        return made

    def _looked_up(cls, name):
        """What a class has under a name, itself."""
        return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)

    def _names(record, what):
        """The fields that take part in something; those that say nothing of it do."""
        specs = type(record).__record_specs__
        return [s.name for s in specs if s.how.get(what) is not False]

    def _repr(self):
        shown = ", ".join(f"{n}={getattr(self, n)!r}" for n in _names(self, "repr"))
        return f"{type(self).__qualname__}({shown})"

    def _values(record):
        return tuple([getattr(record, name) for name in _names(record, "compare")])

    def _eq(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _values(self) == _values(other)

    def _hash(self):
        return hash(_values(self))

    def _frozen(_, name, *__):
        import dataclasses

        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _inherited(cls):
        """The specs of the classes above, the standard library's dataclasses among them."""
        found = {}
        for base in cls.__mro__[-1:0:-1]:
            if "__record_specs__" in base.__dict__:
                found.update((spec.name, spec) for spec in base.__record_specs__)
            elif _FIELDS in base.__dict__:
                found.update((f.name, _spec_of(f)) for f in getattr(base, _FIELDS).values())
        return found

    def _spec_of(known):
        import dataclasses

        spec = _Spec(init=known.init, kw_only=known.kw_only, repr=known.repr, compare=known.compare)
        if known.default is not dataclasses.MISSING:
            spec.default = known.default
        if known.default_factory is not dataclasses.MISSING:
            spec.factory = known.default_factory
        spec.name, spec.type = known.name, known.type
        return spec

    def _specs(cls, kw_only):
        specs = _inherited(cls)
        for name, kind in vars(cls).get("__annotations__", {}).items():
            if str(kind).startswith(("ClassVar", "typing.ClassVar")):
                continue
            given = getattr(cls, name, _MISSING)
            spec = given if isinstance(given, _Spec) else _Spec(given)
            spec.name, spec.type = name, kind
            if spec.kw_only is None:
                spec.kw_only = kw_only
            specs[name] = spec
            if isinstance(given, _Spec):
                if spec.default is not _MISSING:
                    setattr(cls, name, spec.default)
                else:
                    delattr(cls, name)
        return tuple(specs.values())

    def dataclass(cls=None, /, *, frozen=False, repr=True, eq=True, kw_only=False, **_):
        """A frozen dataclass; the options are those of the standard library."""
        if cls is None:
            how = {"frozen": frozen, "repr": repr, "eq": eq, "kw_only": kw_only}
            return lambda made: dataclass(made, **how)
        if not frozen:
            raise TypeError(f"{cls.__name__}: a record is frozen")
        own, specs = cls.__dict__, _specs(cls, kw_only)
        cls.__record_specs__ = specs
        setattr(cls, _FIELDS, _Fields(specs))
        setattr(cls, _PARAMS, _Params)
        cls.__init__ = _Initializer(cls, specs)
        if repr and "__repr__" not in own:
            cls.__repr__ = _repr
        if eq and "__eq__" not in own:
            cls.__eq__ = _eq
        if eq and own.get("__hash__") is None:
            cls.__hash__ = _hash
        cls.__setattr__ = cls.__delattr__ = _frozen
        if "__match_args__" not in own:
            cls.__match_args__ = tuple(s.name for s in specs if s.init and not s.kw_only)
        return cls
