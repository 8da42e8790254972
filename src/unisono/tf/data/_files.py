"""Datasets of files that are read from beginning to end."""

from __future__ import annotations

from typing import Any

from unisono import data
from unisono.tf.data._dataset import Dataset


class TextLineDataset(Dataset):
    """The lines of text files, without their ends."""

    def __init__(self, filenames: Any, compression_type: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.TextLineDataset(filenames, compression_type, *args, **kwargs).plan)


class TFRecordDataset(Dataset):
    """The records of TFRecord files."""

    def __init__(self, filenames: Any, compression_type: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.TFRecordDataset(filenames, compression_type, *args, **kwargs).plan)


class FixedLengthRecordDataset(Dataset):
    """The records of files in which all are equally long."""

    def __init__(self, filenames: Any, record_bytes: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.FixedLengthRecordDataset(filenames, record_bytes, *args, **kwargs).plan)
