"""`tf.keras.utils.timeseries_dataset_from_array`: windows over a row of measurements."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono.tf.data import Dataset
from unisono.tf.keras.utils._formats import checked_format


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
    """Windows of ``sequence_length`` steps of ``data``, with the target of each if there are targets.

    >>> windows = timeseries_dataset_from_array(np.arange(6), None, sequence_length=3, batch_size=None)
    >>> [window.tolist() for window in windows]
    [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]]

    Args:
        data: the measurements, time first.
        targets: ``targets[i]`` belongs to the window that begins at step i; None for none.
        sequence_length: how many steps a window has.
        sequence_stride: how far apart the beginnings of windows are.
        sampling_rate: how far apart the steps in a window are.
        batch_size: windows in a batch; None for no batches.
        shuffle: whether windows come in another order in every epoch.
        seed: of the shuffling.
        start_index: data before it is not used.
        end_index: data from there on is not used.
        format: "tf".
    """
    checked_format("timeseries_dataset_from_array", format)
    first, last = start_index or 0, len(data) if end_index is None else end_index
    _check(sequence_length=sequence_length, sequence_stride=sequence_stride, sampling_rate=sampling_rate)
    if not 0 <= first < last <= len(data):
        raise ValueError(f"start_index={start_index}, end_index={end_index}: no part of data of {len(data)} steps.")
    part = np.asarray(data)[first:last]
    number = len(part) - (sequence_length - 1) * sampling_rate
    if targets is not None:
        number = min(number, len(targets))
    begins = np.arange(0, max(number, 0), sequence_stride)
    offsets = np.arange(sequence_length) * sampling_rate

    dataset: Any = Dataset.from_tensor_slices(begins)
    if shuffle:
        dataset = dataset.shuffle(len(begins), seed=seed)
    if targets is None:
        dataset = dataset.map(lambda begin: part[begin + offsets])
    else:
        wanted = np.asarray(targets)[first:]
        dataset = dataset.map(lambda begin: (part[begin + offsets], wanted[begin]))
    return dataset if batch_size is None else dataset.batch(batch_size)  # type: ignore[no-any-return]


def _check(**positive: int) -> None:
    for name, value in positive.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, and is {value}.")
