"""`tf.keras.utils.image_dataset_from_directory` and its siblings for text and audio, as datasets of `tf.data`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import keras

from unisono import data
from unisono.tf.data import Dataset

OTHER_FORMAT = '{call}: format is {format!r}. Expected "tf", for a dataset of tf.data.'


class DirectoryDataset(Dataset):
    """A dataset of files with its classes and paths. Its methods return plain datasets."""

    def __init__(self, dataset: data.FolderDataset) -> None:
        super().__init__(dataset._plan)
        self.class_names = dataset.class_names
        """The name of each label, in order; None without labels."""
        self.file_paths = dataset.file_paths
        """The files; in the order of the elements where they are not shuffled."""


def _as_keras_utility(make: Callable[..., Any]) -> Callable[..., Any]:
    """`make` of `unisono.data` with Keras's arguments: `format`, and the `data_format` that Keras is configured for."""
    signature = inspect.signature(make)
    *parameters, verbose = (
        each.replace(default=None) if name == "data_format" else each for name, each in signature.parameters.items()
    )
    format = inspect.Parameter("format", inspect.Parameter.POSITIONAL_OR_KEYWORD, default="tf")
    signature = signature.replace(parameters=[*parameters, format, verbose])

    @functools.wraps(make)
    def utility(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        check_format(make.__name__, given.pop("format", "tf"))
        if "data_format" in signature.parameters:
            given["data_format"] = given.get("data_format") or keras.config.image_data_format()
        return _to_tf_dataset(make(**given))

    utility.__signature__ = signature  # type: ignore[attr-defined]
    return utility


def check_format(call: str, format: str) -> None:
    """Raises ValueError for the formats of Keras's functions that Unisono's lack, such as "grain"."""
    if format != "tf":
        raise ValueError(OTHER_FORMAT.format(call=call, format=format))


def _to_tf_dataset(dataset: Any) -> Any:
    return tuple(map(DirectoryDataset, dataset)) if isinstance(dataset, tuple) else DirectoryDataset(dataset)


audio_dataset_from_directory = _as_keras_utility(data.audio_dataset_from_directory)
image_dataset_from_directory = _as_keras_utility(data.image_dataset_from_directory)
text_dataset_from_directory = _as_keras_utility(data.text_dataset_from_directory)
