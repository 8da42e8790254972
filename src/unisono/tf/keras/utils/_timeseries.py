"""`tf.keras.utils.timeseries_dataset_from_array`."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf.data import Dataset
from unisono.tf.keras.utils._folder_datasets import check_format


def timeseries_dataset_from_array(
    data: Any,
    targets: Any,
    sequence_length: int,
    sequence_stride: int = 1,
    sampling_rate: int = 1,
    batch_size: int | None = 128,
    shuffle: bool = False,
    seed: int | None = None,
    start_index: int | None = None,
    end_index: int | None = None,
    format: str = "tf",
) -> Dataset:
    """Sliding windows of ``sequence_length`` steps of ``data``, with their targets, if any.

    >>> windows = timeseries_dataset_from_array(np.arange(6), None, sequence_length=3, batch_size=None)
    >>> [window.tolist() for window in windows]
    [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]

    Args:
        data: the measurements, time first.
        targets: ``targets[i]`` belongs to the window that starts at step i; None for none.
        sequence_length: the number of steps of a window.
        sequence_stride: the distance of consecutive windows.
        sampling_rate: the distance of consecutive steps in a window.
        batch_size: windows in a batch; None for no batches.
        shuffle: whether the order of windows differs in every epoch.
        seed: the seed of the shuffling.
        start_index: data before it is not used.
        end_index: data from this index on is not used.
        format: "tf".
    """
    check_format("timeseries_dataset_from_array", format)
    first, last = start_index or 0, len(data) if end_index is None else end_index
    _check_positive(sequence_length=sequence_length, sequence_stride=sequence_stride, sampling_rate=sampling_rate)
    if not 0 <= first < last <= len(data):
        raise ValueError(
            f"start_index={start_index}, end_index={end_index}: not a range of the {len(data)} steps of data."
        )
    part = np.asarray(data)[first:last]
    num_windows = len(part) - (sequence_length - 1) * sampling_rate
    if targets is not None:
        num_windows = min(num_windows, len(targets))
    starts = np.arange(0, max(num_windows, 0), sequence_stride)
    offsets = np.arange(sequence_length) * sampling_rate

    dataset: Any = Dataset.from_tensor_slices(starts)
    if shuffle:
        dataset = dataset.shuffle(len(starts), seed=seed)
    if targets is None:
        dataset = dataset.map(lambda start: part[start + offsets])
    else:
        wanted = np.asarray(targets)[first:]
        dataset = dataset.map(lambda start: (part[start + offsets], wanted[start]))
    return dataset if batch_size is None else dataset.batch(batch_size)  # type: ignore[no-any-return]


def _check_positive(**positive: int) -> None:
    for name, value in positive.items():
        if value < 1:
            raise ValueError(f"{name} is {value}. Expected at least 1.")
