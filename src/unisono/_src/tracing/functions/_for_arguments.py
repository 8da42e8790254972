"""A function for one kind of arguments: what `get_concrete_function` returns, and what is saved of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unisono._src.data.dataset import TensorSpec
from unisono._src.replicas.values import flatten_with_none
from unisono._src.tracing.functions._arguments import Arguments


@dataclass(frozen=True, eq=False)
class SpecializedFunction:
    """Calls the function, whose arguments are of this kind.

    Attributes:
        function: it.
        args: its arguments, with a `TensorSpec` in the place of each array. Values of replicas are as they were, with
            a `TensorSpec` inside.
        kwargs: those that have names.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def of(cls, function: Callable[..., Any], arguments: Arguments) -> SpecializedFunction:
        """The kind that these arguments are of."""
        specs = [TensorSpec(tuple(array.shape), array.dtype) for array in arguments.arrays]
        return cls(function, *arguments.with_arrays(specs))

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments."""
        return self.args, self.kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def has_specs(arguments: Any) -> bool:
    """Whether a `TensorSpec` is among the arguments."""
    return any(isinstance(leaf, TensorSpec) for leaf in flatten_with_none(arguments)[0])
