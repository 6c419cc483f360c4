"""Columns of text and numbers, whatever library they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar

from cranfield import _core
from cranfield._lazy import np
from cranfield.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Text: TypeAlias = "tuple[NDArray[np.uint8], NDArray[np.int64]]"
Answer = TypeVar("Answer")

# Headers that the ecosystem uses, by role.
HEADERS: dict[str, tuple[str, ...]] = {
    "topic": (
        *("topic", "query_id", "query-id", "qid", "q_id", "query", "topic_id"),
        *("queryid", "topicid"),
    ),
    "item": (
        "item",
        "doc_id",
        "docno",
        "docid",
        "document_id",
        "item_id",
        "corpus-id",
        "corpus_id",
        "pid",
        "passage_id",
        "documentid",
        "document",
        "doc",
    ),
    "grade": ("grade", "relevance", "rel", "label", "score", "judgement", "judgment", "relevant"),
    "score": ("score", "sim", "similarity"),
    "rank": ("rank",),
    "run": ("run", "run_id", "runid", "system", "run_name"),
}


def is_masked(values: Any) -> bool:
    """Whether some of the values are masked.

    NumPy's masks take a while to load. They are not looked for among the modules that are there:
    another thread may be loading them just now.
    """
    if not hasattr(values, "mask"):
        return False
    from numpy import ma

    return bool(ma.is_masked(values))


def text(values: Any) -> Text:
    """A column of ids as bytes and offsets; numbers become their decimal text."""
    arrow = _as_arrow(values)
    if arrow is not None:
        return _arrow_text(arrow)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if is_masked(values):
        raise InputError.single("<columns>", "a topic or item is masked; leave such rows out")
    try:
        if isinstance(values, np.ndarray):
            return _numpy_text(values)
        if not isinstance(values, list | tuple):
            values = list(values)
        if values and isinstance(values[0], int):
            values = [str(v) for v in values]
        return _core.string_column(values)
    except (TypeError, ValueError) as error:
        raise InputError.single(
            "<columns>", f"topics and items must be text or whole numbers ({error})"
        ) from None


def from_nested(
    work: Callable[[dict[str, dict[str, Any]]], Answer], source: Any, source_name: str, number: str
) -> Answer:
    """What the core makes of {topic: {item: number}}; ids may be whole numbers, as in columns."""
    try:
        nested = {t: i if type(i) is dict else dict(i) for t, i in source.items()}
        try:
            return work(nested)
        except TypeError:
            renamed = {t: _text_keys(items) for t, items in _text_keys(nested).items()}
            if renamed == nested:
                raise
            return work(renamed)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError.single(
            source_name, f"expected {{topic: {{item: {number}}}}} with text ids ({error})"
        ) from None


def _text_keys(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """A dict with its whole-number keys as text."""
    renamed: dict[str, Any] = {}
    for key, value in mapping.items():
        name = str(key) if _is_whole(key) else key
        if name in renamed:
            raise ValueError(f"{name!r} is there as text and as a number")
        renamed[name] = value
    return renamed


def _is_whole(value: Any) -> bool:
    if isinstance(value, str):
        return False
    from numbers import Integral

    return isinstance(value, Integral) and not isinstance(value, bool)


def _numpy_text(array: NDArray[Any]) -> Text:
    if array.ndim != 1:
        raise InputError.single(
            "<columns>", f"topics and items must be flat columns, not of shape {array.shape}"
        )
    if array.dtype.kind == "U" and array.dtype.itemsize:
        native = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
        return _core.fixed_width_column(native.view(np.uint32).reshape(len(array), -1))
    if array.dtype.kind == "i" or array.dtype in (np.uint8, np.uint16, np.uint32):
        return _core.integer_column(np.ascontiguousarray(array, dtype=np.int64))
    return text(array.tolist())


def numbers(values: Any) -> NDArray[np.float64]:
    """A column of numbers: whole, real or true and false, none of them missing or masked."""
    if is_masked(values):
        raise InputError.single("<columns>", "a score or grade is masked; leave such rows out")
    try:
        array = _arrow_numbers(values)
        if array is None:
            array = np.asarray(values)
        if array.dtype.kind == "O":
            # Text, dates and complex numbers would become numbers, or parts of them.
            non_number = next(
                (v for v in array.ravel().tolist() if isinstance(v, str | complex)), None
            )
            if non_number is not None:
                raise TypeError(f"found {non_number!r}")
            array = array.astype(np.float64)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"found {array.dtype}")
        if array.ndim != 1:
            raise TypeError(f"found an array of shape {array.shape}")
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError.single(
            "<columns>", f"scores and grades must be numbers ({error})"
        ) from None


def _arrow_numbers(values: Any) -> NDArray[Any] | None:
    """The numbers of an Arrow column that holds nothing else, from its own buffers.

    Arrow itself would load pandas on the way.
    """
    if type(values).__module__.partition(".")[0] != "pyarrow":
        return None
    import pyarrow as pa

    kind = values.type
    is_numeric = pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
    if not is_numeric or values.null_count:
        return None
    letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    dtype = np.dtype(f"{letter}{kind.bit_width // 8}")
    parts = [
        np.frombuffer(chunk.buffers()[1], dtype)[chunk.offset :][: len(chunk)]
        for chunk in (values.chunks if isinstance(values, pa.ChunkedArray) else [values])
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _as_arrow(values: Any) -> Any:
    """An Arrow array for whatever offers one, without importing pyarrow for plain columns."""
    module = type(values).__module__.partition(".")[0]
    if module not in ("pyarrow", "polars", "pandas"):
        return None
    try:
        import pyarrow as pa
    except ImportError:
        return None
    if module == "pyarrow":
        return values
    if module == "polars":
        return values.to_arrow()
    if not str(values.dtype).startswith(("str", "string", "object", "category")):
        return None
    return pa.array(values)


def _arrow_text(array: Any) -> Text:
    import pyarrow as pa

    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    if array.null_count:
        raise InputError.single("<columns>", "topics and items must not be missing")
    try:
        parts = [_chunk_text(chunk) for chunk in chunks]
    except pa.ArrowException as error:
        raise InputError.single(
            "<columns>", f"topics and items must be text or whole numbers ({error})"
        ) from None
    if len(parts) == 1:
        return parts[0]
    sizes = np.cumsum([0, *(len(raw) for raw, _ in parts)])
    starts = [offsets[:-1] + size for (_, offsets), size in zip(parts, sizes[:-1], strict=True)]
    none = np.empty(0, np.uint8)
    return np.concatenate([none, *(raw for raw, _ in parts)]), np.concatenate([*starts, sizes[-1:]])


def _chunk_text(array: Any) -> Text:
    """The bytes and offsets of one Arrow array, those that it has where it holds text."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_large_string(array.type) or pa.types.is_string(array.type)):
        array = array.cast(pa.large_string())
    _, offset_buffer, data = array.buffers()
    kind = np.int64 if pa.types.is_large_string(array.type) else np.int32
    if offset_buffer is None:
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    offsets = np.frombuffer(offset_buffer, kind)[array.offset :][: len(array) + 1].astype(np.int64)
    raw = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return np.ascontiguousarray(raw[offsets[0] : offsets[-1]]), offsets - offsets[0]


def plain_array(value: Any) -> Any:
    """A tensor of torch, jax or tensorflow as an array of NumPy, anything else as it is."""
    if isinstance(value, list | tuple | str | Mapping) or hasattr(value, "dtype") is False:
        return value
    if hasattr(value, "detach"):  # torch: off the graph and the device
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
    is_tensor = type(value).__module__.partition(".")[0] in ("torch", "jax", "jaxlib", "tensorflow")
    return np.asarray(value) if is_tensor else value


def is_matrix(value: Any) -> TypeGuard[NDArray[np.generic]]:
    """Whether a value is an array or tensor of numbers with two dimensions."""
    if getattr(value, "ndim", 0) != 2 or is_frame(value) or hasattr(value, "tocoo"):
        return False
    return hasattr(value, "__array__") and plain_array(value).dtype.kind in "biuf"


def is_search_result(value: Any) -> bool:
    """Whether a value is what faiss answers: a matrix of scores or distances, and one of ids."""
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(map(is_matrix, value))
        and tuple(value[0].shape) == tuple(value[1].shape)
        and plain_array(value[0]).dtype.kind == "f"
        and plain_array(value[1]).dtype.kind in "iu"
    )


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas or polars data frame, an Arrow table or NumPy's named columns."""
    if _is_named_array(value):
        return True
    # Asked of the class: a lazy frame would have to find its columns out.
    kind = type(value)
    return kind.__module__.partition(".")[0] in ("pandas", "polars", "pyarrow") and (
        hasattr(kind, "columns") or hasattr(kind, "column_names")
    )


def _is_named_array(value: Any) -> bool:
    """Whether a value is a structured array; a mask would be lost."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    return names is not None and hasattr(value, "__array__") and not hasattr(value, "mask")


def collect_frame(frame: Any) -> Any:
    """A data frame that has its rows: a lazy frame of polars answers only when it is collected.

    A data set of Hugging Face's `datasets` is an Arrow table underneath.
    """
    kind = type(frame)
    if kind.__name__ == "LazyFrame":
        return frame.collect()
    if kind.__module__.partition(".")[0] == "datasets" and hasattr(kind, "with_format"):
        return frame.with_format("arrow")[:]
    return frame


def frame_columns(frame: Any) -> Sequence[str]:
    if _is_named_array(frame):
        return list(frame.dtype.names)
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return [str(n) for n in names]


def frame_column(frame: Any, name: str) -> Any:
    return frame.column(name) if hasattr(frame, "column_names") else frame[name]


def pick_header(names: Sequence[str], role: str, value_role: str) -> str:
    """The header that plays a role, or an InputError that lists what would do."""
    by_lower_name = {n.lower(): n for n in names}
    for candidate in HEADERS[role]:
        if [n.lower() for n in names].count(candidate) > 1:
            raise InputError.single("<columns>", f"two columns are named {candidate!r}")
        if candidate in by_lower_name:
            return by_lower_name[candidate]
    expected = ", ".join(HEADERS[r][0] for r in ("topic", "item", value_role))
    raise InputError.single(
        "<columns>",
        f"no column for the {role} among {', '.join(names)} (expected: {expected}; "
        f"for the {role} also: {', '.join(HEADERS[role][1:])})",
    )
