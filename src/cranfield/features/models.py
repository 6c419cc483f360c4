"""Any model that turns a picture into a vector, as an ONNX file: `onnx:path/to/model.onnx`.

The picture is brought to the size that the model takes, its values to [0, 1], then to the mean and
spread that the model was trained with. Those of ImageNet are taken unless a file of the same name
with the ending .toml says otherwise: `size`, `mean`, `std` (three numbers each), `output`.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, MissingExtraError, os_message
from cranfield.features._spec import Descriptor, Source
from cranfield.features.pictures import Decoded, resized

PREFIX = "onnx:"
_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
_SIZE = 224
_SETTINGS = ("size", "mean", "std", "output")


def model_descriptor(name: str) -> Descriptor:
    """The descriptor that `onnx:FILE` stands for; its vectors go by the name of the file."""
    path = Path(name.removeprefix(PREFIX))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError.single(str(path), os_message(error)) from None
    session = _session(path, content)
    given = _settings(path.with_suffix(".toml"))
    size, layout = _input_size(path, session, given)
    output = _output(path, session, given)
    compute = _computing(path, session, output, size, layout, given)
    length = len(compute(Decoded(np.zeros((*size, 3), dtype=np.uint8), {})))
    said = f"{hashlib.sha256(content).hexdigest()}{sorted(given.items())}"
    return Descriptor(
        name=path.stem,
        title=f"The model {path.name}",
        summary="A model of the user's own.",
        formula=r"f(I)",
        source=Source("onnx"),
        family="models",
        length=length,
        range=(-np.inf, np.inf),
        kernel="",
        distance="cosine",
        small="brought to the model's size",
        checked="unverified: the user's own",
        shares=False,
        kind="float32",
        compute=compute,
        edition=hashlib.sha256(said.encode()).hexdigest(),
    )


def _session(path: Path, content: bytes) -> Any:
    try:
        runtime = importlib.import_module("onnxruntime")
    except ModuleNotFoundError:
        raise MissingExtraError("onnxruntime", "onnx", "Describing pictures by a model") from None
    runtime.set_default_logger_severity(4)
    options = runtime.SessionOptions()
    # The pictures are shared out over threads already.
    options.intra_op_num_threads = 1
    try:
        session = runtime.InferenceSession(
            content, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # the runtime has a class of its own for every kind of fault
        reason = str(error).splitlines()[0][:200]
        raise InputError.single(str(path), f"is no model that can be run: {reason}") from None
    if len(session.get_inputs()) != 1:
        taken = len(session.get_inputs())
        raise InputError.single(str(path), f"takes {taken} inputs, expected one picture")
    return session


def _settings(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        given = parse_toml(path.read_text(encoding="utf-8"), str(path))
    except (OSError, ValueError) as error:
        raise InputError.single(str(path), f"cannot be read: {error}") from None
    unknown = next((key for key in given if key not in _SETTINGS), None)
    if unknown is not None:
        known = ", ".join(_SETTINGS)
        raise InputError.single(str(path), f"has no setting {unknown!r}, expected one of {known}")
    return given


def _input_size(path: Path, session: Any, given: Mapping[str, Any]) -> tuple[tuple[int, int], str]:
    """Height and width that the model takes, and where it has the colours."""
    shape = list(session.get_inputs()[0].shape)
    if len(shape) != 4 or 3 not in (shape[1], shape[3]):
        raise InputError.single(
            str(path), f"takes an input of shape {shape}, expected 1 x 3 x height x width"
        )
    layout = "first" if shape[1] == 3 else "last"
    sides = shape[2:] if layout == "first" else shape[1:3]
    asked = given.get("size", _SIZE)
    if not isinstance(asked, int) or not 1 <= asked <= 4096:
        raise InputError.single(str(path), f"size = {asked!r} is no side from 1 to 4096 pixels")
    height, width = (side if isinstance(side, int) and side > 0 else asked for side in sides)
    return (height, width), layout


def _output(path: Path, session: Any, given: Mapping[str, Any]) -> str:
    names = [output.name for output in session.get_outputs()]
    wanted = given.get("output", names[0])
    if wanted not in names:
        raise InputError.single(str(path), f"has no output {wanted!r}, only {', '.join(names)}")
    return str(wanted)


def _three(path: Path, given: Mapping[str, Any], key: str, usual: tuple[float, ...]) -> Any:
    values = given.get(key, usual)
    if len(values) != 3 or not all(isinstance(v, int | float) for v in values):
        raise InputError.single(str(path), f"{key} is three numbers, not {values!r}")
    return np.array(values, dtype=np.float32)


def _computing(
    path: Path,
    session: Any,
    output: str,
    size: tuple[int, int],
    layout: str,
    given: Mapping[str, Any],
) -> Callable[[Decoded], NDArray[Any]]:
    mean, spread = _three(path, given, "mean", _MEAN), _three(path, given, "std", _STD)
    name = session.get_inputs()[0].name
    kind = np.float16 if "float16" in session.get_inputs()[0].type else np.float32

    def compute(decoded: Decoded) -> NDArray[Any]:
        pixels = resized(decoded.pixels, *size).astype(np.float32) / 255
        values = ((pixels - mean) / spread).astype(kind)
        batch = (values.transpose(2, 0, 1) if layout == "first" else values)[None]
        found = session.run([output], {name: np.ascontiguousarray(batch)})[0]
        return np.asarray(found, dtype=np.float32).reshape(-1)

    return compute
