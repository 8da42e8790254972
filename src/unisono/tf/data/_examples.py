"""Examples out of TFRecord files, parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from unisono import data
from unisono._src.data import files
from unisono.tf.data._dataset import Dataset
from unisono.tf.data._files import TFRecordDataset


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: int | None = 1, deterministic: bool | None = None
) -> Callable[[data.Dataset], data.Dataset]:
    """For `apply`, on batches of serialized Examples: their features, by name."""
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
    """Batches of parsed Examples out of files: dicts of features, or with `label_key` pairs of these and labels."""
    names = Dataset.list_files(file_pattern, shuffle, shuffle_seed)
    dataset: Any = names.interleave(reader or TFRecordDataset, cycle_length=reader_num_threads or 1)
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    dataset = dataset.repeat(num_epochs).batch(batch_size, drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or data.AUTOTUNE))
    if label_key is not None:
        dataset = dataset.map(lambda parsed: ({k: v for k, v in parsed.items() if k != label_key}, parsed[label_key]))
    made: Dataset = dataset.prefetch(prefetch_buffer_size or 1)
    return made
