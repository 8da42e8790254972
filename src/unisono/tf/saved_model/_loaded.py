"""The classes of what `tf.saved_model.load` returns: objects with variables and functions, and signatures."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from unisono._src.tracing import functions
from unisono.tf._module import Module
from unisono.tf._spec import TensorSpec

NOT_CALLABLE = """The loaded object cannot be called: no function `__call__` was saved with it. Call one of its
functions {names} or signatures {signatures}."""


class LoadedObject(Module):
    """A loaded object: a `tf.Module` with the attributes that were saved.

    Attributes:
        signatures: the signatures by name; only of the root object.
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


class LoadedSignature(functions.Function):
    """A function of named tensors that returns a dict of tensors.

    Attributes:
        structured_input_signature: the specs of its inputs.
        structured_outputs: the specs of its outputs.
    """

    structured_input_signature: tuple[tuple[Any, ...], dict[str, TensorSpec]]
    structured_outputs: dict[str, TensorSpec]

    @property
    def inputs(self) -> list[TensorSpec]:
        """The specs of its inputs."""
        return list(self.structured_input_signature[1].values())

    @property
    def outputs(self) -> list[TensorSpec]:
        """The specs of its outputs."""
        return list(self.structured_outputs.values())
