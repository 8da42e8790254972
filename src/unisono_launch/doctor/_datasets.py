"""Where `unisono.datasets` looks for MNIST and its kin, and what lies there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unisono_launch.doctor._finding import Finding

NAME = "datasets"


def check_datasets(environ: Mapping[str, str]) -> Finding:
    """The folders and their files. Who trains on data of their own needs none of it."""
    named = environ.get("UNISONO_DATASETS") or None
    folders = dataset_folders(named)
    found = {str(folder): sorted(file.name for file in folder.glob("*.npz")) for folder in folders}
    facts = {"variable": named, "folders": found}
    text = "\n".join(f"{_short(Path(folder))}: {', '.join(files) or 'nothing'}" for folder, files in found.items())
    if any(found.values()):
        return Finding(NAME, "ok", text, None, facts)
    if named and not folders[0].is_dir():
        text = f"UNISONO_DATASETS names {named}, which is no folder: unisono.datasets will find nothing."
    elif named:
        text = f"UNISONO_DATASETS names {named}, which holds no .npz file: unisono.datasets will find nothing."
    remedy = "Put mnist.npz (arrays x_train, y_train, x_test, y_test) into a folder F: export UNISONO_DATASETS=F"
    return Finding(NAME, "warning", text, remedy, facts)


def dataset_folders(named: str | None) -> list[Path]:
    """As `unisono.datasets` has it: the folder the user named, else that of a clone, else Keras's cache."""
    if named:
        return [Path(named)]
    clone = Path(__file__).parents[3] / "examples" / "data"
    return [*([clone] if clone.is_dir() else []), Path.home() / ".keras" / "datasets"]


def _short(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
