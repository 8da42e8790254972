"""Files of one kind in folders: their paths, and the class of each. No file is opened here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FileKind:
    """The kind of files to find.

    Attributes:
        call: the function that the user called, for errors.
        content: what a file holds: "image".
        formats: how names of such files end, in lower case.
    """

    call: str
    content: str
    formats: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class FolderFiles:
    """Files, and a number for the class of each."""

    paths: tuple[str, ...]
    labels: NDArray[np.int32] | None
    """None where there are no classes."""
    class_names: tuple[str, ...] | None

    def select(self, numbers: NDArray[np.intp]) -> FolderFiles:
        """Some of the files, in this order."""
        labels = None if self.labels is None else self.labels[numbers]
        return FolderFiles(tuple(self.paths[number] for number in numbers), labels, self.class_names)


def list_files(
    kind: FileKind, directory: Any, labels: Any, class_names: Sequence[str] | None, follow_links: bool
) -> FolderFiles:
    """The files below a folder, sorted. `labels` is "inferred" (each sub-folder is a class), None, or a list."""
    folder = os.fsdecode(directory)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{kind.call}: there is no folder {folder!r} (working folder: {os.getcwd()!r}). Check the name; "
            f"an archive must be unpacked first."
        )
    if isinstance(labels, str) and labels == "inferred":
        found = _list_by_sub_folder(kind, folder, class_names, follow_links)
    else:
        if class_names is not None:
            raise ValueError(
                f"{kind.call}: class_names={list(class_names)} says how sub-folders become labels, but labels are not "
                f'inferred from sub-folders here. Leave class_names out, or write labels="inferred".'
            )
        found = _attach_labels(kind, tuple(_list_files_below(kind, folder, follow_links)), labels, folder)
    if not found.paths:
        where = (
            f"in {folder!r}" if found.class_names is None else f"in the folders {list(found.class_names)} of {folder!r}"
        )
        raise ValueError(
            f"{kind.call}: there is no {kind.content} {where}. Expected files that end in {', '.join(kind.formats)}."
        )
    return found


def split_files(kind: FileKind, files: FolderFiles, fraction: float) -> tuple[FolderFiles, FolderFiles]:
    """The files for training, and the last `fraction` for validation."""
    num_files = len(files.paths)
    num_training = num_files - int(fraction * num_files)
    if num_training in (0, num_files):
        raise ValueError(
            f"{kind.call}: validation_split={fraction} leaves {num_training} of {num_files} files for training and "
            f"{num_files - num_training} for validation. Expected at least one each."
        )
    numbers = np.arange(num_files)
    return files.select(numbers[:num_training]), files.select(numbers[num_training:])


def _list_by_sub_folder(
    kind: FileKind, folder: str, class_names: Sequence[str] | None, follow_links: bool
) -> FolderFiles:
    found = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    names = found if class_names is None else list(class_names)
    unknown = [name for name in names if name not in found]
    if unknown or len(set(names)) < len(names):
        raise ValueError(
            f"{kind.call}: class_names={names}, but the sub-folders of {folder!r} are {found}. "
            f"Expected names of sub-folders, each once, in the order that their labels should have."
        )
    if not names:
        raise ValueError(
            f"{kind.call}: {folder!r} has no sub-folder, and sub-folders are the classes. Put the {kind.content}s of "
            f"each class into a separate folder, or write labels=None for {kind.content}s without labels."
        )
    by_class = [list(_list_files_below(kind, os.path.join(folder, name), follow_links)) for name in names]
    labels = np.repeat(np.arange(len(names), dtype=np.int32), [len(paths) for paths in by_class])
    return FolderFiles(tuple(path for paths in by_class for path in paths), labels, tuple(names))


def _attach_labels(kind: FileKind, paths: tuple[str, ...], labels: Any, folder: str) -> FolderFiles:
    if labels is None:
        return FolderFiles(paths, None, None)
    numbers = None if isinstance(labels, str) else np.asarray(labels)
    if numbers is None or numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(
            f'{kind.call}: labels={labels!r}. Expected "inferred", None, or a list of whole numbers, one for each '
            f"{kind.content} in the order of sorted paths."
        )
    if len(numbers) != len(paths):
        raise ValueError(
            f"{kind.call}: {len(numbers)} labels for {len(paths)} {kind.content}s in {folder!r}. Expected one for "
            f"each, in the order of sorted paths."
        )
    return FolderFiles(paths, numbers.astype(np.int32), tuple(str(label) for label in np.unique(numbers)))


def _list_files_below(kind: FileKind, folder: str, follow_links: bool) -> list[str]:
    walked = sorted(os.walk(folder, followlinks=follow_links))
    return [os.path.join(root, name) for root, _, names in walked for name in sorted(names) if _has_format(kind, name)]


def _has_format(kind: FileKind, name: str) -> bool:
    return name.lower().endswith(kind.formats)
