"""`DatasetBuilder`: reads the files of one dataset and makes datasets of its splits."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from unisono.tf.data import Dataset
from unisono.tfds._catalog import Entry
from unisono.tfds._info import DatasetInfo, SplitDict
from unisono.tfds._sources import Splits
from unisono.tfds._splits import parse_split


class DatasetBuilder:
    """Makes the datasets of one name.

    ```python
    builder = tfds.builder("mnist")
    builder.download_and_prepare()
    train = builder.as_dataset(split="train[:80%]", as_supervised=True)
    ```
    """

    def __init__(self, entry: Entry, data_dir: str | os.PathLike[str] | None) -> None:
        self._entry = entry
        self._data_dir = None if data_dir is None else os.path.expanduser(data_dir)
        self._download = False

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self._entry.info.name

    @property
    def version(self) -> str:
        """The version of TensorFlow Datasets' dataset whose features these are."""
        return self._entry.info.version

    def download_and_prepare(self, **_: Any) -> None:
        """Reads the files; Keras downloads them if they are not found. Arguments about downloads are ignored."""
        self._download = True
        _ = self._splits

    @cached_property
    def info(self) -> DatasetInfo:
        """Name, features and splits."""
        sizes = {split: len(features["label"]) for split, features in self._splits.items()}
        return replace(self._entry.info, splits=SplitDict(sizes))

    def as_dataset(
        self,
        split: Any = None,
        *,
        batch_size: int | None = None,
        shuffle_files: bool = False,
        decoders: Any = None,
        read_config: Any = None,
        as_supervised: bool = False,
    ) -> Any:
        """The dataset of `split`; one for each where it is a list, a tuple or a dict, or None: all of them by name.

        With ``batch_size=-1`` a split is one element, which is returned instead of a dataset. ``shuffle_files``
        changes nothing: each split is one file.
        """
        del shuffle_files
        for argument, value in (("decoders", decoders), ("read_config", read_config)):
            if value is not None:
                raise NotImplementedError(
                    f"tfds: {argument}={value!r} is not supported. Leave it out, and use dataset.map(...)."
                )
        if split is None:
            split = {name: name for name in self._splits}
        return self._make_datasets(split, batch_size, as_supervised)

    def _make_datasets(self, split: Any, batch_size: int | None, as_supervised: bool) -> Any:
        match split:
            case str():
                return self._make_dataset(split, batch_size, as_supervised)
            case dict():
                return {key: self._make_datasets(part, batch_size, as_supervised) for key, part in split.items()}
            case list() | tuple():
                return type(split)(self._make_datasets(part, batch_size, as_supervised) for part in split)
        raise TypeError(f"tfds: a split is text such as 'train[:80%]', or a list of them; got {split!r}.")

    def _make_dataset(self, split: str, batch_size: int | None, as_supervised: bool) -> Any:
        arrays = self._read_rows(split)
        names = self._entry.info.supervised_keys if as_supervised else tuple(arrays)
        elements = tuple(arrays[name] for name in names) if as_supervised else {name: arrays[name] for name in names}
        dataset = Dataset.from_tensor_slices(elements)
        if batch_size is None:
            return dataset
        if batch_size == -1:
            return dataset.batch(len(arrays["label"])).get_single_element()
        return dataset.batch(batch_size)

    def _read_rows(self, split: str) -> dict[str, np.ndarray[Any, Any]]:
        sizes = {name: info.num_examples for name, info in self.info.splits.items()}
        parts = [
            {feature: array[rows] for feature, array in self._splits[name].items()}
            for name, rows in parse_split(split, sizes)
        ]
        if not any(len(part["label"]) for part in parts):
            raise ValueError(f"The split {split!r} of {self.name} has no rows. Its splits have {sizes}.")
        if len(parts) == 1:
            return parts[0]
        return {feature: np.concatenate([part[feature] for part in parts]) for feature in parts[0]}

    @cached_property
    def _splits(self) -> Splits:
        return self._entry.source(self.name, self._data_dir, self._download)
