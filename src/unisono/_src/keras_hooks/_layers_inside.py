"""Hook: the layers that a layer owns, and the names that their variables get.

Checked against Keras 3.15.1: `_layers` are those a layer owns itself, in the order in which it was given them;
`_open_name_scope` is what is around `build` and `call`, and the first one to open it decides the path of the layer.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def child_layers(layer: Any) -> list[Any]:
    """In the order in which it was given them, which is the same in every process."""
    return list(layer._layers)


def child_name_scope(layer: Any) -> AbstractContextManager[Any]:
    """What is built in this block has the names that it gets when ``layer`` builds it."""
    return layer._open_name_scope()  # type: ignore[no-any-return]
