"""`__getattr__` for modules that extend a module of Keras: names that they lack are looked up there."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from unisono.tf._missing import explain_missing_names
from unisono.tf._missing_names import MISSING_NAMES

# Names that these modules import for their implementation.
_IMPLEMENTATION_NAMES: Final = frozenset(
    {"Any", "Callable", "Final", "annotations", "keras", "keras_fallback", "np", "ops"}
)


def keras_fallback(own: dict[str, Any], name: str, keras_module: ModuleType | None) -> Callable[[str], Any]:
    """Returns the `__getattr__` of the module with the globals ``own``, which users know as ``name``.

    Missing names are looked up in ``keras_module``; a name that it lacks too raises an error with advice. `import *`
    and `dir()` give the names of both.
    """
    raise_missing = explain_missing_names(name, depth=2)

    def list_names() -> list[str]:
        found = {each for each in (*own, *dir(keras_module)) if not each.startswith("_")}
        return sorted(found - _IMPLEMENTATION_NAMES)

    def look_up(attribute: str) -> Any:
        if attribute == "__all__":
            return list_names()
        if f"{name}.{attribute}" in MISSING_NAMES:  # Keras has the name, but needs TensorFlow for it
            return raise_missing(attribute)
        if keras_module is not None and not attribute.startswith("_") and hasattr(keras_module, attribute):
            return getattr(keras_module, attribute)
        return raise_missing(attribute)

    own["__dir__"] = list_names
    return look_up
