"""Where MNIST and its kin are looked for: by workers, and by `unisono doctor`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

IDX_FOLDERS: Final = {"mnist": "mnist", "fashion_mnist": "fashion-mnist"}
"""By the name of a dataset: the folder with the four original files, as Keras and Debian call it."""

_DEBIAN: Final = Path("/usr/share/datasets")  # of the package dataset-fashion-mnist


def dataset_folders(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The folders in their order: the user's own, that of a clone of the repository, Keras's cache, Debian's.

    >>> dataset_folders({"UNISONO_DATASETS": "/data"})[0]
    PosixPath('/data')
    """
    named = environ.get("UNISONO_DATASETS")
    clone = Path(__file__).parents[3] / "examples" / "data"
    return [
        *([Path(named)] if named else []),
        *([clone] if clone.is_dir() else []),
        keras_dataset_cache(environ),
        _DEBIAN,
    ]


def keras_dataset_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder into which Keras downloads datasets."""
    # Not Path.home(): it raises for users without a home, who need no data either.
    return Path(environ.get("KERAS_HOME") or os.path.expanduser("~/.keras"), "datasets")
