"""Assertions about shapes, ranks and dtypes. These are known while tracing, so failures raise at once."""

from __future__ import annotations

from typing import Any, NoReturn

from unisono.tf._dtypes import as_dtype
from unisono.tf._operands import as_text_or_array
from unisono.tf._tensors import as_array, is_tensor, is_text


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raises ValueError unless the tensor has ``rank`` dims."""
    found = as_text_or_array(x).ndim
    if found != int(rank):
        _fail(message, f"the tensor has {found} dims, expected {int(rank)}")


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raises ValueError unless the tensor has at least ``rank`` dims."""
    found = as_text_or_array(x).ndim
    if found < int(rank):
        _fail(message, f"the tensor has {found} dims, expected at least {int(rank)}")


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """Raises ValueError unless the number of dims is one of ``ranks``."""
    found = as_text_or_array(x).ndim
    if found not in [int(rank) for rank in ranks]:
        _fail(message, f"the tensor has {found} dims, expected one of {list(ranks)}")


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> Any:
    """Returns the tensor; raises ValueError unless it has no dims."""
    if as_text_or_array(tensor).ndim:
        _fail(message, f"expected a scalar, got the shape {tuple(as_text_or_array(tensor).shape)}")
    return tensor


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """Returns the floating-point dtype of all tensors; raises ValueError if they differ or are not floating-point."""
    found = {as_dtype(as_array(each).dtype).name for each in tensors or ()} | (
        set() if dtype is None else {as_dtype(dtype).name}
    )
    if len(found) > 1 or not all(as_dtype(name).is_floating for name in found):
        raise ValueError(f"Expected one floating-point dtype, got {sorted(found)}.")
    return as_dtype(found.pop() if found else "float32")


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Raises TypeError unless the tensor has the dtype ``tf_type``."""
    found = as_dtype(as_text_or_array(tensor).dtype)
    if found != as_dtype(tf_type):
        raise TypeError(f"{message_prefix(message)}the tensor has the dtype {found!r}, expected {as_dtype(tf_type)!r}.")


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """Raises TypeError unless the tensor has an integer dtype."""
    found = as_dtype(as_text_or_array(x).dtype)
    if not found.is_integer:
        raise TypeError(f"{message_prefix(message)}the tensor has the dtype {found!r}, expected an integer dtype.")


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None, name: Any = None) -> None:
    """Raises ValueError unless the shapes match. A letter means the same size wherever it occurs.

    >>> import jax.numpy as jnp
    >>> assert_shapes([(jnp.ones((2, 3)), ("N", 3)), (jnp.ones(2), ("N",))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    letter_sizes: dict[Any, int] = {}
    for tensor, expected in pairs:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        _check_shape(tuple(as_text_or_array(tensor).shape), expected, letter_sizes, message)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor with a numeric dtype."""
    return is_tensor(tensor) and not is_text(tensor) and as_dtype(tensor.dtype).is_numeric


def _check_shape(found: tuple[int, ...], expected: Any, letter_sizes: dict[Any, int], message: Any) -> None:
    sizes = [expected] if isinstance(expected, int | str) else list(expected)
    if isinstance(expected, str) and len(expected) > 1:
        sizes = list(expected)
    if sizes[:1] in (["*"], [Ellipsis]):
        sizes = [None] * (len(found) - len(sizes) + 1) + sizes[1:]
    if len(sizes) != len(found):
        _fail(message, f"the shape is {found}, expected {tuple(sizes)}")
    for size, want in zip(found, sizes, strict=True):
        if want in (None, "."):
            continue
        number = int(want) if not isinstance(want, str) or want.isdigit() else letter_sizes.setdefault(want, size)
        if number != size:
            _fail(message, f"the shape is {found}, expected {tuple(sizes)} with {want} = {number}")


def _fail(message: Any, reason: str) -> NoReturn:
    raise ValueError(f"{message_prefix(message)}{reason}.")


def message_prefix(message: Any) -> str:
    """Returns the user's message as the start of an error message."""
    return f"{message} " if message else ""
