"""Image files in folders: which there are, and of which class each is. No image is opened here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FORMATS: Final = (".bmp", ".gif", ".jpeg", ".jpg", ".png")

_CALL: Final = "image_dataset_from_directory"


@dataclass(frozen=True, eq=False)
class ImageFiles:
    """Files, and a number for the class of each."""

    paths: tuple[str, ...]
    labels: NDArray[np.int32] | None
    """None where there are no classes."""
    class_names: tuple[str, ...] | None

    def chosen(self, numbers: NDArray[np.intp]) -> ImageFiles:
        """Some of the files, in this order."""
        labels = None if self.labels is None else self.labels[numbers]
        return ImageFiles(tuple(self.paths[number] for number in numbers), labels, self.class_names)


def list_images(directory: Any, labels: Any, class_names: Sequence[str] | None, follow_links: bool) -> ImageFiles:
    """The images below a folder, sorted. `labels` is "inferred" (each sub-folder is a class), None, or a list."""
    folder = os.fsdecode(directory)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{_CALL}: there is no folder {folder!r}, seen from {os.getcwd()!r}. Check the name; "
            f"an archive must be unpacked first."
        )
    if isinstance(labels, str) and labels == "inferred":
        found = _by_sub_folder(folder, class_names, follow_links)
    else:
        if class_names is not None:
            raise ValueError(
                f"{_CALL}: class_names={list(class_names)} says how sub-folders become labels, but labels are not "
                f'inferred from sub-folders here. Leave class_names out, or write labels="inferred".'
            )
        found = _labelled(tuple(_images_below(folder, follow_links)), labels, folder)
    if not found.paths:
        where = (
            f"in {folder!r}" if found.class_names is None else f"in the folders {list(found.class_names)} of {folder!r}"
        )
        raise ValueError(f"{_CALL}: there is no image {where}. Expected files that end in {', '.join(FORMATS)}.")
    return found


def split(files: ImageFiles, fraction: float) -> tuple[ImageFiles, ImageFiles]:
    """Those for training, and the last `fraction` for validation."""
    num_files = len(files.paths)
    num_training = num_files - int(fraction * num_files)
    if num_training in (0, num_files):
        raise ValueError(
            f"{_CALL}: validation_split={fraction} leaves {num_training} of {num_files} files for training and "
            f"{num_files - num_training} for validation. Expected at least one each."
        )
    numbers = np.arange(num_files)
    return files.chosen(numbers[:num_training]), files.chosen(numbers[num_training:])


def _by_sub_folder(folder: str, class_names: Sequence[str] | None, follow_links: bool) -> ImageFiles:
    there = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith("."))
    names = there if class_names is None else list(class_names)
    unknown = [name for name in names if name not in there]
    if unknown or len(set(names)) < len(names):
        raise ValueError(
            f"{_CALL}: class_names={names}, but the sub-folders of {folder!r} are {there}. "
            f"Expected names of sub-folders, each once, in the order that their labels should have."
        )
    if not names:
        raise ValueError(
            f"{_CALL}: {folder!r} has no sub-folder, and sub-folders are the classes. Put the images of each class "
            f"into a folder of its own, or write labels=None for images without labels."
        )
    by_class = [list(_images_below(os.path.join(folder, name), follow_links)) for name in names]
    labels = np.repeat(np.arange(len(names), dtype=np.int32), [len(paths) for paths in by_class])
    return ImageFiles(tuple(path for paths in by_class for path in paths), labels, tuple(names))


def _labelled(paths: tuple[str, ...], labels: Any, folder: str) -> ImageFiles:
    if labels is None:
        return ImageFiles(paths, None, None)
    numbers = None if isinstance(labels, str) else np.asarray(labels)
    if numbers is None or numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise ValueError(
            f'{_CALL}: labels={labels!r}. Expected "inferred", None, or a list of whole numbers, one for each image '
            f"in the order of sorted paths."
        )
    if len(numbers) != len(paths):
        raise ValueError(
            f"{_CALL}: {len(numbers)} labels for {len(paths)} images in {folder!r}. Expected one for each, in the "
            f"order of sorted paths."
        )
    return ImageFiles(paths, numbers.astype(np.int32), tuple(str(label) for label in np.unique(numbers)))


def _images_below(folder: str, follow_links: bool) -> list[str]:
    walked = sorted(os.walk(folder, followlinks=follow_links))
    return [os.path.join(root, name) for root, _, names in walked for name in sorted(names) if _is_image(name)]


def _is_image(name: str) -> bool:
    return name.lower().endswith(FORMATS)
