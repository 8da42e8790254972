"""What the other finders of this Python know."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec


def installed(name: str, *, besides: object) -> bool:
    """Whether a package `name` can be imported without the finder `besides`.

    A folder without `__init__.py` is none: `~/tensorflow_datasets`, say, where TensorFlow Datasets keeps its data.
    """
    for finder in sys.meta_path:
        if finder is not besides:
            spec: ModuleSpec | None = finder.find_spec(name, None, None)
            if spec is not None and spec.origin is not None:
                return True
    return False
