"""What has to be true of shapes, ranks and dtypes, which are always known."""

from __future__ import annotations

from typing import Any, NoReturn

from unisono.tf._dtypes import as_dtype
from unisono.tf._operands import as_text_or_array
from unisono.tf._tensors import as_array, is_tensor, is_text


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raises unless the tensor has so many dims."""
    found = as_text_or_array(x).ndim
    if found != int(rank):
        _fail_statically(message, f"the tensor has {found} dims, expected {int(rank)}")


def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """Raises unless the tensor has so many dims or more."""
    found = as_text_or_array(x).ndim
    if found < int(rank):
        _fail_statically(message, f"the tensor has {found} dims, expected at least {int(rank)}")


def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: Any = None) -> None:
    """Raises unless the number of dims is one of these."""
    found = as_text_or_array(x).ndim
    if found not in [int(rank) for rank in ranks]:
        _fail_statically(message, f"the tensor has {found} dims, expected one of {list(ranks)}")


def assert_scalar(tensor: Any, message: Any = None, name: Any = None) -> Any:
    """The tensor; raises unless it has no dims."""
    if as_text_or_array(tensor).ndim:
        _fail_statically(message, f"expected a single number, got the shape {tuple(as_text_or_array(tensor).shape)}")
    return tensor


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> Any:
    """The floating dtype that all of them have; raises unless there is one."""
    found = {as_dtype(as_array(each).dtype).name for each in tensors or ()} | (
        set() if dtype is None else {as_dtype(dtype).name}
    )
    if len(found) > 1 or not all(as_dtype(name).is_floating for name in found):
        raise ValueError(f"Expected one floating dtype, got {sorted(found)}.")
    return as_dtype(found.pop() if found else "float32")


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """Raises unless the tensor has this dtype."""
    found = as_dtype(as_text_or_array(tensor).dtype)
    if found != as_dtype(tf_type):
        raise TypeError(f"{message_prefix(message)}the tensor has the dtype {found!r}, expected {as_dtype(tf_type)!r}.")


def assert_integer(x: Any, message: Any = None, name: Any = None) -> None:
    """Raises unless the tensor is of whole numbers."""
    found = as_dtype(as_text_or_array(x).dtype)
    if not found.is_integer:
        raise TypeError(f"{message_prefix(message)}the tensor has the dtype {found!r}, expected whole numbers.")


def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None, name: Any = None) -> None:
    """Raises unless the shapes are these, where a letter stands for the same size everywhere.

    >>> import jax.numpy as jnp
    >>> assert_shapes([(jnp.ones((2, 3)), ("N", 3)), (jnp.ones(2), ("N",))])
    """
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    known: dict[Any, int] = {}
    for tensor, expected in pairs:
        tensor = tensor.deref() if hasattr(tensor, "deref") else tensor
        _check_shape(tuple(as_text_or_array(tensor).shape), expected, known, message)


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether it is a tensor of numbers."""
    return is_tensor(tensor) and not is_text(tensor) and as_dtype(tensor.dtype).is_numeric


def _check_shape(found: tuple[int, ...], expected: Any, known: dict[Any, int], message: Any) -> None:
    wanted = [expected] if isinstance(expected, int | str) else list(expected)
    if isinstance(expected, str) and len(expected) > 1:
        wanted = list(expected)
    if wanted[:1] in (["*"], [Ellipsis]):
        wanted = [None] * (len(found) - len(wanted) + 1) + wanted[1:]
    if len(wanted) != len(found):
        _fail_statically(message, f"the shape is {found}, expected {tuple(wanted)}")
    for size, want in zip(found, wanted, strict=True):
        if want in (None, "."):
            continue
        number = int(want) if not isinstance(want, str) or want.isdigit() else known.setdefault(want, size)
        if number != size:
            _fail_statically(message, f"the shape is {found}, expected {tuple(wanted)} with {want} = {number}")


def _fail_statically(message: Any, what: str) -> NoReturn:
    raise ValueError(f"{message_prefix(message)}{what}.")


def message_prefix(message: Any) -> str:
    return f"{message} " if message else ""
