"""`tf.keras.utils.image_dataset_from_directory` and `text_dataset_from_directory`, as datasets of `tf.data`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras

from unisono import data
from unisono.tf.data import Dataset

OTHER_FORMAT = '{call}: format is {format!r}. Expected "tf", for a dataset of tf.data.'


class FolderDataset(Dataset):
    """A dataset of files with its classes and paths. Its methods return plain datasets."""

    def __init__(self, dataset: data.FolderDataset) -> None:
        super().__init__(dataset.plan)
        self.class_names = dataset.class_names
        """The name of each label, in order; None without labels."""
        self.file_paths = dataset.file_paths
        """The files; in the order of the elements where they are not shuffled."""


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: int | Sequence[int] = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """Batches `(images, labels)` of a folder whose sub-folders are the classes; a pair for `subset="both"`.

    The arguments are those of `unisono.data.image_dataset_from_directory`.
    """
    check_format("image_dataset_from_directory", format)
    return _to_tf_dataset(
        data.image_dataset_from_directory(
            directory,
            labels,
            label_mode,
            class_names,
            color_mode,
            batch_size,
            image_size,
            shuffle,
            seed,
            validation_split,
            subset,
            interpolation,
            follow_links,
            crop_to_aspect_ratio,
            pad_to_aspect_ratio,
            data_format or keras.config.image_data_format(),
            verbose,
        )
    )


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """Batches `(texts, labels)` of a folder whose sub-folders are the classes; a pair for `subset="both"`.

    The arguments are those of `unisono.data.text_dataset_from_directory`.
    """
    check_format("text_dataset_from_directory", format)
    return _to_tf_dataset(
        data.text_dataset_from_directory(
            directory,
            labels,
            label_mode,
            class_names,
            batch_size,
            max_length,
            shuffle,
            seed,
            validation_split,
            subset,
            follow_links,
            verbose,
        )
    )


def check_format(call: str, format: str) -> None:
    """Raises ValueError for the formats of Keras's functions that Unisono's lack, such as "grain"."""
    if format != "tf":
        raise ValueError(OTHER_FORMAT.format(call=call, format=format))


def _to_tf_dataset(dataset: Any) -> Any:
    return tuple(map(FolderDataset, dataset)) if isinstance(dataset, tuple) else FolderDataset(dataset)
