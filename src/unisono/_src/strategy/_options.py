"""tf.distribute's options of `run` and of distributed datasets."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple


class RunOptions(NamedTuple):
    """Options of `strategy.run` for TPUs. Accepted, without effect: XLA compiles for the shapes it gets."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class InputReplicationMode(enum.Enum):
    """How often an input function is called: once for all replicas of a process, or once for each."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """Options of `experimental_distribute_dataset` and `distribute_datasets_from_function`.

    >>> InputOptions(experimental_fetch_to_device=False).experimental_per_replica_buffer_size
    1
    """

    experimental_fetch_to_device: bool | None = True
    """False: values stay NumPy arrays on the host, and nothing is prepared ahead but what the dataset prefetches."""
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    """Only PER_WORKER is supported."""
    experimental_place_dataset_on_device: bool = False
    """Only False is supported: datasets run on the host."""
    experimental_per_replica_buffer_size: int = 1
    """Steps that wait on the devices while one is used. 0: a step is prepared when it is asked for."""


def check_input_options(options: InputOptions | None, call: str) -> InputOptions:
    """`options`, or the defaults; an error if they ask for what is not supported."""
    if options is None:
        return InputOptions()
    if not isinstance(options, InputOptions):
        raise TypeError(f"{call}: options must be a unisono.InputOptions, but it is {options!r}.")
    if options.experimental_replication_mode is not InputReplicationMode.PER_WORKER:
        raise NotImplementedError(
            f"{call}: experimental_replication_mode is {options.experimental_replication_mode}, and only PER_WORKER is "
            f"supported: one pipeline feeds all replicas of a process. Leave the option out."
        )
    if options.experimental_place_dataset_on_device:
        raise NotImplementedError(
            f"{call}: experimental_place_dataset_on_device is True, but datasets run on the host and only their "
            f"values go to the devices. Leave the option out."
        )
    if options.experimental_per_replica_buffer_size < 0:
        raise ValueError(
            f"{call}: experimental_per_replica_buffer_size must be at least 0, but it is "
            f"{options.experimental_per_replica_buffer_size}. Write 1, the default, or 2."
        )
    return options
