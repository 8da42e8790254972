"""A user's function as it runs in Python, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset._trace import NON_JAX_KINDS, Traced, is_tracing, shape_struct, trace
from unisono._src.data.plans import Nest, check_function, flatten, function_name, map_leaves, same_structure, unflatten


@dataclass(frozen=True)
class HostCall:
    """Calls `function` with JAX's 64-bit types on, and gives what it returns the dtypes that tracing it gives.

    NumPy and JAX promote differently (`uint8 / 2`): elements must not depend on which of them computes. The results of
    a function that cannot be traced keep their dtypes.
    """

    function: Callable[..., Any]
    call: str
    """The method that the function was passed to, for errors."""
    _known: dict[Any, Nest] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_function(self.function, self.call)

    def __call__(self, *arguments: Any) -> Nest:
        if is_tracing():
            return self.function(*arguments)
        # On the CPU: elements are in its memory, and each operation would send them to the GPU and back.
        with jax.enable_x64(True), jax.default_device("cpu"):
            traced = self._trace_result(arguments)
            value = self.function(*arguments)
        if traced is None or not same_structure(value, traced):
            return value
        return unflatten(value, map(_cast, flatten(value), flatten(traced)))

    def _trace_result(self, arguments: tuple[Any, ...]) -> Nest:
        """The structs of the result for arguments of these dtypes and numbers of dims; None if it cannot be traced."""
        leaves = flatten(arguments)
        kinds = tuple((getattr(leaf, "dtype", None), getattr(leaf, "ndim", None)) for leaf in leaves)
        if kinds not in self._known:
            self._known[kinds] = None
            if all(isinstance(leaf, np.ndarray) or leaf is None for leaf in leaves):
                found = trace(lambda *element: self.function(*element), map_leaves(_struct, arguments))
                self._known[kinds] = found.result if isinstance(found, Traced) else None
        return self._known[kinds]

    @property
    def __name__(self) -> str:
        return function_name(self.function)


def _struct(leaf: Any) -> Any:
    return None if leaf is None else shape_struct(leaf.shape, leaf.dtype)


def _cast(leaf: Any, wanted: Any) -> Any:
    if leaf is None or wanted is None or wanted.dtype.kind in NON_JAX_KINDS:
        return leaf
    return np.asarray(leaf).astype(wanted.dtype, copy=False)
