"""Hook: operators of arrays take Python lists, as TensorFlow's tensors do: `image - [0.48, 0.45]`. Lists and NumPy's
values take the dtype of the array: in maps, which compute in 64 bits, `image * np.float64(2)` stays float32.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: the operators of `ArrayImpl` are functions of two arguments; those of
`Tracer` forward to the functions of `ShapedArray` with one underscore. Both raise TypeError for a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from jax._src.array import ArrayImpl
from jax._src.core import Tracer
from jax.extend.source_info_util import register_exclusion

from unisono._src import hooks

register_exclusion(__file__)  # JAX's errors and profiles show the line of the user's code

_WHY: Final = "an operand may be a list of numbers or NumPy's, as with TensorFlow's tensors"
_CONVERTED: Final = frozenset([list, tuple, np.ndarray, np.float64, np.int64])

_ARITHMETIC: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")
_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
OPERATORS: Final = (*_ARITHMETIC, *(f"r{name}" for name in _ARITHMETIC), *_COMPARISONS)


def install_list_operands(convert: Callable[[Any, Any], Any]) -> None:
    """Installs the hook. ``convert(numbers, array)`` makes an operand of ``array`` out of a list or NumPy's values."""

    def wrap_operator(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def operate(self: Any, other: Any) -> Any:
            return original(self, convert(other, self) if type(other) in _CONVERTED else other)

        return operate

    for kind in (ArrayImpl, Tracer):
        for name in OPERATORS:
            hooks.wrap(kind, f"__{name}__", wrap_operator, expects="type function", why=_WHY)
