"""`.npz` files in Keras's layout."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

_NAMES: Final = ("x_train", "y_train", "x_test", "y_test")


def read_npz(path: Path) -> list[np.ndarray[Any, Any]]:
    """The arrays ``x_train``, ``y_train``, ``x_test`` and ``y_test`` of a file."""
    with np.load(path, allow_pickle=False) as arrays:
        if missing := [name for name in _NAMES if name not in arrays]:
            raise ValueError(f"{path} has no {' and no '.join(missing)}. It has {', '.join(arrays) or 'nothing'}.")
        return [arrays[name] for name in _NAMES]
