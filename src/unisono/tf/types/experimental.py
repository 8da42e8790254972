"""`tf.types.experimental`: types for annotations and `isinstance`."""

from typing import Any, TypeAlias

from unisono._src.tracing.functions import Function, SpecializedFunction
from unisono.tf._missing import explain_missing_names as _explain_missing_names

Callable = Function
ConcreteFunction = SpecializedFunction
GenericFunction = Function
PolymorphicFunction = Function
TensorLike: TypeAlias = Any

__getattr__ = _explain_missing_names("tf.types.experimental")
