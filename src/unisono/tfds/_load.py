"""The functions of `tfds`: `load`, `builder`, `list_builders`; and the error for names that it does not have."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import Any, Final

from unisono.tfds._builder import DatasetBuilder
from unisono.tfds._catalog import CATALOG

_MISSING: Final = """tensorflow_datasets.{name} is not available: this is Unisono's own tensorflow_datasets, which has \
`load`, `builder`, `list_builders`, `as_numpy`, `as_dataframe` and `Split`.
Install tensorflow_datasets itself, or read the data with tf.data. See docs/datasets.md."""


class DatasetNotFoundError(ValueError):
    """There is no dataset of this name, or not in this version."""


def load(
    name: str,
    *,
    split: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    batch_size: int | None = None,
    shuffle_files: bool = False,
    download: bool = True,
    as_supervised: bool = False,
    decoders: Any = None,
    read_config: Any = None,
    with_info: bool = False,
    builder_kwargs: dict[str, Any] | None = None,
    download_and_prepare_kwargs: dict[str, Any] | None = None,
    as_dataset_kwargs: dict[str, Any] | None = None,
    try_gcs: bool = False,
) -> Any:
    """The dataset `name`: as :meth:`DatasetBuilder.as_dataset` gives it, and with its info if `with_info`.

    Elements are ``{"image": ..., "label": ...}``, or ``(image, label)`` if `as_supervised`. Files are looked for in
    `data_dir`, then in the folders of docs/datasets.md; if `download`, Keras downloads what was not found.
    """
    del try_gcs
    found = builder(name, data_dir=data_dir, **(builder_kwargs or {}))
    if download:
        found.download_and_prepare(**(download_and_prepare_kwargs or {}))
    arguments = {
        "split": split,
        "batch_size": batch_size,
        "shuffle_files": shuffle_files,
        "decoders": decoders,
        "read_config": read_config,
        "as_supervised": as_supervised,
    }
    dataset = found.as_dataset(**(arguments | (as_dataset_kwargs or {})))
    return (dataset, found.info) if with_info else dataset


def builder(name: str, *, data_dir: str | os.PathLike[str] | None = None, try_gcs: bool = False) -> DatasetBuilder:
    """The builder of the dataset `name`, which may have a version: "mnist:3.*.*"."""
    del try_gcs
    match = re.fullmatch(r"(?P<name>\w+)(:(?P<version>[\d.*]+))?", name)
    entry = CATALOG.get(match["name"]) if match else None
    if match is None or entry is None:
        raise DatasetNotFoundError(
            f"There is no dataset {name!r} in Unisono's tensorflow_datasets. It has {', '.join(list_builders())}. "
            "Read any other with tf.data (unisono.data): Dataset.from_tensor_slices, TFRecordDataset, "
            "image_dataset_from_directory. See docs/datasets.md."
        )
    if match["version"] and not fnmatch.fnmatchcase(entry.info.version, match["version"]):
        raise DatasetNotFoundError(
            f"There is no version {match['version']} of {entry.info.name}, only {entry.info.version}: "
            f"load {entry.info.name!r}."
        )
    return DatasetBuilder(entry, data_dir)


def list_builders(**_: Any) -> list[str]:
    """The names of all datasets."""
    return sorted(CATALOG)


def disable_progress_bar() -> None:
    """Does nothing: there are no progress bars, because files are read at once."""


def enable_progress_bar() -> None:
    """Does nothing: there are no progress bars, because files are read at once."""


def __getattr__(name: str) -> Any:
    raise AttributeError(_MISSING.format(name=name))
