"""`tf.types.experimental`: names for annotations and `isinstance`."""

from typing import Any, TypeAlias

from unisono._src.tracing.functions import ForArguments, Function
from unisono.tf._missing import missing_in as _missing_in

Callable = Function
ConcreteFunction = ForArguments
GenericFunction = Function
PolymorphicFunction = Function
TensorLike: TypeAlias = Any

__getattr__ = _missing_in("tf.types.experimental")
