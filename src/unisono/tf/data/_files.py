"""Datasets of text lines, records and parsed Examples from files, and the writer of a dataset of records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unisono import data
from unisono._src.data import files
from unisono.tf._paths import to_local_path
from unisono.tf.data._dataset import Dataset
from unisono.tf.io._bytes import to_byte_string

NOT_A_DATASET = """tf.data.experimental.TFRecordWriter.write: expected a dataset of byte strings, got {kind}. To write
single records use tf.io.TFRecordWriter(path), whose write takes bytes."""

_WRITE_CALL = "tf.data.experimental.TFRecordWriter.write"


class TextLineDataset(Dataset):
    """The lines of text files, without line breaks."""

    def __init__(self, filenames: Any, compression_type: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.TextLineDataset(filenames, compression_type, *args, **kwargs)._plan)


class TFRecordDataset(Dataset):
    """The records of TFRecord files."""

    def __init__(self, filenames: Any, compression_type: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.TFRecordDataset(filenames, compression_type, *args, **kwargs)._plan)


class FixedLengthRecordDataset(Dataset):
    """The records of files with records of one length."""

    def __init__(self, filenames: Any, record_bytes: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(data.FixedLengthRecordDataset(filenames, record_bytes, *args, **kwargs)._plan)


class TFRecordWriter:
    """Writes the elements of a dataset, which have to be scalar byte strings.

    Args:
        filename: a local file.
        compression_type: "GZIP", "ZLIB", or None for an uncompressed file.
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._path = to_local_path(filename, "tf.data.experimental.TFRecordWriter")
        self._options = files.TFRecordOptions(compression_type)

    def write(self, dataset: Any) -> None:
        """Writes the file; an existing one is replaced."""
        if not isinstance(dataset, data.Dataset):
            raise TypeError(NOT_A_DATASET.format(kind=type(dataset).__name__))
        with files.TFRecordWriter(self._path, self._options) as writer:
            for element in dataset:
                writer.write(to_byte_string(element, _WRITE_CALL))


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Callable[[data.Dataset], data.Dataset]:
    """For `apply`: parses batches of serialized Examples into dicts of features."""
    return lambda dataset: dataset.map(lambda batch: files.parse_example(batch, dict(features)), num_parallel_calls)


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: int,
    features: Mapping[str, Any],
    reader: Any = None,
    label_key: str | None = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of parsed Examples from files: dicts of features; with `label_key` pairs of dicts and labels."""
    names = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    dataset: Any = names.interleave(reader or TFRecordDataset, cycle_length=reader_num_threads or 1)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or data.AUTOTUNE))
    if label_key is not None:
        dataset = dataset.map(lambda parsed: ({k: v for k, v in parsed.items() if k != label_key}, parsed[label_key]))
    batches: Dataset = dataset.prefetch(prefetch_buffer_size or 1)
    return batches
