"""A function for arguments of one signature: what `get_concrete_function` returns, and what is saved of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unisono._src.data.dataset import TensorSpec
from unisono._src.data.plans import CompositeSpec
from unisono._src.replicas.values import flatten_with_none
from unisono._src.tracing.functions._arguments import Arguments


@dataclass(frozen=True, eq=False)
class SpecializedFunction:
    """Calls the function, with arguments of this signature.

    Attributes:
        function: the function.
        args: its positional arguments, with a `TensorSpec` for each array. Values per replica are PerReplica with a
            `TensorSpec` inside.
        kwargs: its keyword arguments.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def from_arguments(cls, function: Callable[..., Any], arguments: Arguments) -> SpecializedFunction:
        """The function for arguments of the signature that these have."""
        specs = [TensorSpec(tuple(array.shape), array.dtype) for array in arguments.arrays]
        return cls(function, *arguments.unflatten(specs))

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments."""
        return self.args, self.kwargs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def has_specs(arguments: Any) -> bool:
    """Whether a `TensorSpec`, or the spec of a ragged or sparse tensor, is among the arguments."""
    return any(isinstance(leaf, TensorSpec | CompositeSpec) for leaf in flatten_with_none(arguments)[0])
