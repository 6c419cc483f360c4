"""Frozen dataclasses that cost next to nothing until they are used.

A program that answers in 50 ms cannot spend half of them on writing methods for classes that it
may never make an instance of: `dataclasses` compiles six functions for each, and loads `inspect`
before. Here the initializer is written when it is first called, and the other methods are shared by
all classes. The fields, when they are asked for, are those of the standard library, so that
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

        __slots__ = ("default", "factory", "init", "kw_only", "name", "options", "type")

        def __init__(
            self, default=_MISSING, factory=_MISSING, *, init=True, kw_only=None, **options
        ):
            self.default, self.factory, self.init, self.kw_only = default, factory, init, kw_only
            self.options = options
            self.name = self.type = ""

        @property
        def has_default(self):
            return self.default is not _MISSING or self.factory is not _MISSING

        def as_field(self):
            """The same of the standard library."""
            import dataclasses

            options = {"init": self.init, "kw_only": bool(self.kw_only), **self.options}
            if self.default is not _MISSING:
                options["default"] = self.default
            if self.factory is not _MISSING:
                options["default_factory"] = self.factory
            standard = dataclasses.field(**options)
            standard.name, standard.type = self.name, self.type
            standard._field_type = dataclasses._FIELD
            return standard

    def field(*, default=_MISSING, default_factory=_MISSING, **options):
        """A field of which something is to be said."""
        return _Spec(default, default_factory, **options)

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
            self.specs, self.fields = specs, None

        def __get__(self, _, owner):
            if self.fields is None:
                self.fields = {spec.name: spec.as_field() for spec in self.specs}
            return self.fields

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
                return lambda *args, **kwargs: self._fill(instance, args, kwargs)
            return self._write() if instance is None else self._write().__get__(instance, owner)

        def _write(self):
            self.cls.__init__ = initializer = _initializer(self.cls, self.specs)
            return initializer

        def _fill(self, record, args, kwargs):
            places = [s.name for s in self.specs if s.init and not s.kw_only]
            values = dict(zip(places, args, strict=False))
            fits = len(args) <= len(places) and not values.keys() & kwargs
            values.update(kwargs)
            for spec in self.specs:
                value = values.pop(spec.name, spec.default) if spec.init else _MISSING
                if value is _MISSING and spec.factory is not _MISSING:
                    value = spec.factory()
                if value is not _MISSING:
                    object.__setattr__(record, spec.name, value)
                fits = fits and (value is not _MISSING or not spec.init)
            if values or not fits:
                self._write()(record, *args, **kwargs)  # which says what is wrong
            elif hasattr(record, "__post_init__"):
                record.__post_init__()

    def _initializer(cls, specs):
        namespace = {"_MISSING": _MISSING, "_set": object.__setattr__}
        lines = ["_state = self.__dict__"]
        parameters = {False: [], True: []}
        for spec in specs:
            name = spec.name
            if spec.factory is not _MISSING:
                namespace[f"_f_{name}"] = spec.factory
            elif spec.has_default:
                namespace[f"_d_{name}"] = spec.default
            if not spec.init:
                if spec.factory is not _MISSING:
                    lines.append(f"_state[{name!r}] = _f_{name}()")
                continue
            default = ""
            if spec.factory is not _MISSING:
                default = "=_MISSING"
                value = f"_f_{name}() if {name} is _MISSING else {name}"
            else:
                default = f"=_d_{name}" if spec.has_default else ""
                value = name
            parameters[bool(spec.kw_only)].append(name + default)
            # What keeps its values itself is to be told of them.
            has_setter = hasattr(_looked_up(cls, name), "__set__")
            lines.append(
                f"_set(self, {name!r}, {value})" if has_setter else f"_state[{name!r}] = {value}"
            )
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        head = ", ".join(
            ["self", *parameters[False], *(["*", *parameters[True]] if parameters[True] else [])]
        )
        body = "\n ".join(lines)
        exec(f"def __init__({head}):\n {body}", namespace)  # as the standard library does
        initializer = namespace["__init__"]
        initializer.__qualname__ = f"{cls.__qualname__}.__init__"
        initializer.__annotations__ = {s.name: s.type for s in specs if s.init} | {"return": None}
        return initializer

    def _looked_up(cls, name):
        """What a class has under a name, itself."""
        return next((c.__dict__[name] for c in cls.__mro__ if name in c.__dict__), None)

    def _names(record, method):
        """The fields that take part in something; those that say nothing of it do."""
        specs = type(record).__record_specs__
        return [s.name for s in specs if s.options.get(method) is not False]

    def _repr(self):
        values = ", ".join(f"{n}={getattr(self, n)!r}" for n in _names(self, "repr"))
        return f"{type(self).__qualname__}({values})"

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
        specs = {}
        for base in cls.__mro__[-1:0:-1]:
            if "__record_specs__" in base.__dict__:
                specs.update((spec.name, spec) for spec in base.__record_specs__)
            elif _FIELDS in base.__dict__:
                specs.update((f.name, _spec_of(f)) for f in getattr(base, _FIELDS).values())
        return specs

    def _spec_of(standard):
        import dataclasses

        spec = _Spec(
            init=standard.init,
            kw_only=standard.kw_only,
            repr=standard.repr,
            compare=standard.compare,
        )
        if standard.default is not dataclasses.MISSING:
            spec.default = standard.default
        if standard.default_factory is not dataclasses.MISSING:
            spec.factory = standard.default_factory
        spec.name, spec.type = standard.name, standard.type
        return spec

    def _specs(cls, kw_only):
        specs = _inherited(cls)
        for name, kind in vars(cls).get("__annotations__", {}).items():
            if str(kind).startswith(("ClassVar", "typing.ClassVar")):
                continue
            value = getattr(cls, name, _MISSING)
            spec = value if isinstance(value, _Spec) else _Spec(value)
            spec.name, spec.type = name, kind
            if spec.kw_only is None:
                spec.kw_only = kw_only
            specs[name] = spec
            if isinstance(value, _Spec):
                if spec.default is not _MISSING:
                    setattr(cls, name, spec.default)
                else:
                    delattr(cls, name)
        return tuple(specs.values())

    def dataclass(cls=None, /, *, frozen=False, repr=True, eq=True, kw_only=False, **_):
        """A frozen dataclass; the options are those of the standard library."""
        if cls is None:
            options = {"frozen": frozen, "repr": repr, "eq": eq, "kw_only": kw_only}
            return lambda decorated: dataclass(decorated, **options)
        if not frozen:
            raise TypeError(f"{cls.__name__}: a record is frozen")
        members, specs = cls.__dict__, _specs(cls, kw_only)
        cls.__record_specs__ = specs
        setattr(cls, _FIELDS, _Fields(specs))
        setattr(cls, _PARAMS, _Params)
        cls.__init__ = _Initializer(cls, specs)
        if repr and "__repr__" not in members:
            cls.__repr__ = _repr
        if eq and "__eq__" not in members:
            cls.__eq__ = _eq
        if eq and members.get("__hash__") is None:
            cls.__hash__ = _hash
        cls.__setattr__ = cls.__delattr__ = _frozen
        if "__match_args__" not in members:
            cls.__match_args__ = tuple(s.name for s in specs if s.init and not s.kw_only)
        return cls
