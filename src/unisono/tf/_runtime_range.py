"""The result of `tf.range(n)` in a compiled function that does not know ``n``: a loop can run over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.tracing import control_flow


@dataclass(frozen=True, eq=False, repr=False)
class RuntimeRange(control_flow.TracedRange):
    """A range of unknown length. Wherever an array is needed, the function runs on the host instead, if it can.

    Attributes:
        given_dtype: the dtype of the numbers; if None, that of the ends.
    """

    given_dtype: Any = None

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return super().dtype if self.given_dtype is None else jnp.dtype(self.given_dtype)

    def as_result(self) -> NoReturn:
        """Called where a compiled function returns it."""
        raise self._make_error("")

    def __getattr__(self, name: str) -> Any:
        # JAX asks objects for attributes such as `__jax_array__` and `_trace`; scripts for those of tensors.
        if name.startswith("_"):
            raise AttributeError(name)
        raise self._make_error("")

    def _make_error(self, why: str) -> control_flow.ControlFlowError:
        keras_hooks.run_on_host_if_possible("the length of a tf.range depends on the values of a tensor")
        return super()._make_error(why)


def _use_as_array(self: RuntimeRange, *_: Any) -> NoReturn:
    raise self._make_error("")


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor")
_OTHER = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "invert", "getitem")
for _name in (*_BINARY, *(f"r{each}" for each in _BINARY), *_OTHER):
    setattr(RuntimeRange, f"__{_name}__", _use_as_array)
