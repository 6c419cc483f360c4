"""Cranfield: an evaluation workbench for retrieval and annotation.

>>> import cranfield as cf
>>> cf.evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR").mean()
{'run': {'RR': 0.5}}
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    """A public name of `__init__.pyi`, loaded when it is first used."""
    # A command needs none of them: the list is read when the first one is asked for.
    import lazy_loader

    public = globals()
    attribute, public["__dir__"], public["__all__"] = lazy_loader.attach_stub(__name__, __file__)
    public["__getattr__"] = attribute
    return public["__all__"] if name == "__all__" else attribute(name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
