"""Datasets of the files in a folder, whose sub-folders are the classes: shared by images, texts and audio."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.dataset._dataset import Dataset
from unisono._src.data.dataset._folder_files import FileKind, FolderFiles, list_files, split_files
from unisono._src.data.plans import AUTOTUNE, Plan


class FolderDataset(Dataset):
    """A dataset of files with its class names and file paths. Its methods return plain datasets."""

    def __init__(self, plan: Plan, files: FolderFiles) -> None:
        super().__init__(plan)
        self.class_names = None if files.class_names is None else list(files.class_names)
        """The name of each label, in order; None without labels."""
        self.file_paths = list(files.paths)
        """The files; in the order of the elements where they are not shuffled."""


def make_folder_datasets(
    kind: FileKind,
    load: Callable[..., Any],
    directory: Any,
    *,
    labels: Any,
    label_mode: str | None,
    class_names: Sequence[str] | None,
    batch_size: int | None,
    shuffle: bool,
    seed: int | None,
    validation_split: float | None,
    subset: str | None,
    follow_links: bool,
    verbose: bool,
    pads: bool = False,
) -> Any:
    """A dataset, or a pair for `subset="both"`; ``load`` makes an element of a path and its label.

    With ``pads`` the elements of a batch may have different shapes.
    """
    check_one_of(kind.call, "label_mode", label_mode, ("int", "categorical", "binary", None))
    check_one_of(kind.call, "subset", subset, ("training", "validation", "both", None))
    _check_split(kind, validation_split, subset, shuffle, seed)
    files = list_files(kind, directory, None if label_mode is None else labels, class_names, follow_links)
    encode = _label_encoder(kind, label_mode, files)
    if verbose:
        print(_describe(files))

    def dataset(files: FolderFiles, shuffle: bool) -> FolderDataset:
        # As bytes: in NumPy's own strings every path takes four times the bytes of the longest.
        paths = np.array([os.fsencode(path) for path in files.paths], dtype=object)
        rows = Dataset.from_tensor_slices(paths if files.labels is None else (paths, encode(files.labels)))
        ordered = rows.shuffle(len(paths), seed) if shuffle else rows
        elements = ordered.map(load, num_parallel_calls=AUTOTUNE)
        batch = elements.padded_batch if pads else elements.batch
        batches = elements if batch_size is None else batch(batch_size)
        return FolderDataset(batches.prefetch(AUTOTUNE)._plan, files)

    if validation_split is None:
        return dataset(files, shuffle)
    # Shuffled as Keras does it, so that the same seed gives the same split.
    shuffled = files.select(np.random.RandomState(seed).permutation(len(files.paths))) if shuffle else files
    training, validation = split_files(kind, shuffled, validation_split)
    if verbose:
        print(f"Using {len(training.paths)} files for training and {len(validation.paths)} for validation.")
    if subset == "both":
        return dataset(training, shuffle), dataset(validation, False)
    return dataset(training if subset == "training" else validation, shuffle)


def check_one_of(call: str, name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raises a ValueError if an argument has none of the allowed values."""
    if value not in allowed:
        raise ValueError(f"{call}: {name} is {value!r}. Expected one of {', '.join(map(repr, allowed))}.")


def _label_encoder(
    kind: FileKind, label_mode: str | None, files: FolderFiles
) -> Callable[[NDArray[np.int32]], NDArray[Any]]:
    """How class numbers become labels."""
    names = files.class_names or ()
    if label_mode == "binary" and files.labels is not None and len(names) != 2:
        raise ValueError(
            f'{kind.call}: label_mode="binary" is for two classes, and there are {len(names)}: {list(names)}. '
            f'Write label_mode="int" or "categorical", or name two: class_names=[...].'
        )
    if label_mode == "binary":
        return lambda labels: labels.astype(np.float32)[:, None]
    if label_mode == "categorical" and files.labels is not None:
        if files.labels.min() < 0 or files.labels.max() >= len(names):
            raise ValueError(
                f'{kind.call}: label_mode="categorical" with {len(names)} different labels, from '
                f"{files.labels.min()} to {files.labels.max()}. Expected 0 to {len(names) - 1}: "
                f'renumber them, or write label_mode="int".'
            )
        return lambda labels: np.eye(len(names), dtype=np.float32)[labels]
    return lambda labels: labels


def _check_split(
    kind: FileKind, validation_split: float | None, subset: str | None, shuffle: bool, seed: int | None
) -> None:
    if (validation_split is None) != (subset is None):
        raise ValueError(
            f"{kind.call}: validation_split={validation_split} and subset={subset!r} go together. Write both, such as "
            f'validation_split=0.2, subset="both", or neither.'
        )
    if validation_split is None:
        return
    if not 0 < validation_split < 1:
        raise ValueError(
            f"{kind.call}: validation_split is {validation_split}. Expected a part, such as 0.2 for a fifth."
        )
    if shuffle and seed is None:
        raise ValueError(
            f"{kind.call}: files are shuffled before they are split, and without a seed two calls shuffle differently: "
            f"files would be in both parts. Write seed=1, say, or shuffle=False."
        )


def _describe(files: FolderFiles) -> str:
    if files.class_names is None:
        return f"Found {len(files.paths)} files."
    return f"Found {len(files.paths)} files belonging to {len(files.class_names)} classes."
