"""Where `unisono.datasets` looks for MNIST and related datasets, and what is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from unisono_launch.doctor._finding import Finding
from unisono_launch.worker import IDX_FOLDERS, dataset_folders

NAME = "datasets"


def check_datasets(environ: Mapping[str, str]) -> Finding:
    """The folders and what is in them. Training on other data needs none of it."""
    named = environ.get("UNISONO_DATASETS") or None
    folders = dataset_folders(environ)
    found = {str(folder): _list_datasets(folder) for folder in folders}
    facts = {"variable": named, "folders": found}
    text = "\n".join(f"{_shorten(Path(folder))}: {', '.join(files) or 'nothing'}" for folder, files in found.items())
    if any(found.values()) and (not named or found[str(folders[0])]):
        return Finding(NAME, "ok", text, None, facts)
    if named:
        what = "has no data set" if folders[0].is_dir() else "is not a folder"
        text = f"UNISONO_DATASETS names {named}, which {what}.\n{text}"
    remedy = "Put mnist.npz (arrays x_train, y_train, x_test, y_test) into a folder F: export UNISONO_DATASETS=F"
    return Finding(NAME, "warning", text, remedy, facts)


def _list_datasets(folder: Path) -> list[str]:
    """Files in Keras's format, and folders with files in the original one."""
    idx = [f"{name}/" for name in IDX_FOLDERS.values() if any((folder / name).glob("*-ubyte*"))]
    return sorted([file.name for file in folder.glob("*.npz")] + idx)


def _shorten(folder: Path) -> str:
    home = Path(os.path.expanduser("~"))
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
