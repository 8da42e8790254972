"""Modules that are Keras's and a little more: what they do not define themselves is looked up in Keras's."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from unisono.tf._missing import explain_missing_names
from unisono.tf._missing_names import MISSING_NAMES

# What modules import for themselves.
_IMPLEMENTATION_NAMES: Final = frozenset(
    {"Any", "Callable", "Final", "annotations", "keras", "keras_fallback", "np", "ops"}
)


def keras_fallback(own: dict[str, Any], name: str, keras_module: ModuleType | None) -> Callable[[str], Any]:
    """The `__getattr__` of the module with the globals ``own``, which users know as ``name``.

    Names that it lacks are those of ``keras_module``; what is not available either fails with advice. `import *`
    and `dir()` give the names of both.
    """
    missing = explain_missing_names(name, depth=2)

    def names() -> list[str]:
        found = {each for each in (*own, *dir(keras_module)) if not each.startswith("_")}
        return sorted(found - _IMPLEMENTATION_NAMES)

    def found(attribute: str) -> Any:
        if attribute == "__all__":
            return names()
        if f"{name}.{attribute}" in MISSING_NAMES:  # Keras has the name, but it needs TensorFlow
            return missing(attribute)
        if keras_module is not None and not attribute.startswith("_") and hasattr(keras_module, attribute):
            return getattr(keras_module, attribute)
        return missing(attribute)

    own["__dir__"] = names
    return found
