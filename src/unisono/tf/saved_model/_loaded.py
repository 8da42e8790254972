"""What `tf.saved_model.load` returns: objects with variables and functions, made without the code of the model."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from unisono._src.tracing import functions
from unisono.tf._module import Module
from unisono.tf._spec import TensorSpec

NOT_CALLABLE = """What was loaded cannot be called: no function `__call__` was saved of it. It has the functions
{names} and the signatures {signatures}."""


class Loaded(Module):
    """A loaded object: a `tf.Module` whose attributes are those that were saved.

    Attributes:
        signatures: the signatures by name; of the object that was saved only, not of those in it.
    """

    def __init__(self) -> None:
        super().__init__(name="loaded")
        self.signatures: Mapping[str, Any] = MappingProxyType({})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = vars(self).get("__call__")
        if function is None:
            names = [name for name, value in vars(self).items() if isinstance(value, functions.Function)]
            raise TypeError(NOT_CALLABLE.format(names=names, signatures=list(self.signatures)))
        return function(*args, **kwargs)


class Signature(functions.Function):
    """A function of named tensors that returns a dict of tensors.

    Attributes:
        structured_input_signature: the tensors that it takes.
        structured_outputs: those that it returns.
    """

    structured_input_signature: tuple[tuple[Any, ...], dict[str, TensorSpec]]
    structured_outputs: dict[str, TensorSpec]

    @property
    def inputs(self) -> list[TensorSpec]:
        """What it takes."""
        return list(self.structured_input_signature[1].values())

    @property
    def outputs(self) -> list[TensorSpec]:
        """What it returns."""
        return list(self.structured_outputs.values())
