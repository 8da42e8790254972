"""Names of older releases of tf.distribute, which scripts still call."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any

from unisono._src.strategy import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputOptions,
    InputReplicationMode,
    Strategy,
)
from unisono.tf.data import Dataset

NO_SESSIONS = """strategy.{method}() is about sessions of TensorFlow 1, which are not there. Leave the call out: a
strategy is ready when it is made, and a cluster comes from TF_CONFIG or from a cluster_resolver."""


def give_old_names() -> None:
    """Puts them onto the class of all strategies."""
    for method in (
        colocate_vars_with,
        configure,
        experimental_distribute_datasets_from_function,
        experimental_make_numpy_dataset,
        experimental_run,
        experimental_run_v2,
        group,
        make_dataset_iterator,
        make_input_fn_iterator,
        unwrap,
        update_config_proto,
    ):
        setattr(Strategy, method.__name__, method)


def experimental_run_v2(self: Strategy, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
    """The old name of `run`."""
    _say_old("experimental_run_v2", "strategy.run(fn, args)")
    return self.run(fn, args, kwargs)


def experimental_run(self: Strategy, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
    """`run` on the next step of an iterator, or without arguments."""
    _say_old("experimental_run", "strategy.run(fn, args=(next(iterator),))")
    return self.run(fn, () if input_iterator is None else (next(input_iterator),))


def unwrap(self: Strategy, value: Any) -> tuple[Any, ...]:
    """The old name of `experimental_local_results`."""
    _say_old("unwrap", "strategy.experimental_local_results(value)")
    return self.experimental_local_results(value)


def group(self: Strategy, value: Any, name: str | None = None) -> None:
    """Does nothing: there are no operations left to run."""


def experimental_distribute_datasets_from_function(
    self: Strategy, dataset_fn: Callable[[InputContext], Dataset], options: InputOptions | None = None
) -> DistributedDataset:
    """The old name of `distribute_datasets_from_function`."""
    new = "strategy.distribute_datasets_from_function(dataset_fn)"
    _say_old("experimental_distribute_datasets_from_function", new)
    return self.distribute_datasets_from_function(dataset_fn, options)


def make_dataset_iterator(self: Strategy, dataset: Dataset) -> DistributedIterator:
    """An iterator over `experimental_distribute_dataset`."""
    _say_old("make_dataset_iterator", "strategy.experimental_distribute_dataset(dataset)")
    return iter(self.experimental_distribute_dataset(dataset))


def make_input_fn_iterator(
    self: Strategy,
    input_fn: Callable[[InputContext], Dataset],
    replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
) -> DistributedIterator:
    """An iterator over `distribute_datasets_from_function`."""
    _say_old("make_input_fn_iterator", "strategy.distribute_datasets_from_function(input_fn)")
    options = InputOptions(experimental_replication_mode=replication_mode)
    return iter(self.distribute_datasets_from_function(input_fn, options))


def experimental_make_numpy_dataset(self: Strategy, numpy_input: Any) -> Dataset:
    """A dataset of the rows of arrays."""
    _say_old("experimental_make_numpy_dataset", "tf.data.Dataset.from_tensor_slices(arrays)")
    return Dataset.from_tensor_slices(numpy_input)


def colocate_vars_with(self: Strategy, colocate_with_variable: Any) -> contextlib.AbstractContextManager[None]:
    """The old place of `extended.colocate_vars_with`."""
    return self.extended.colocate_vars_with(colocate_with_variable)


def configure(*args: Any, **kwargs: Any) -> None:
    """Not supported. There are no sessions to configure; leave the call out."""
    raise NotImplementedError(NO_SESSIONS.format(method="configure"))


def update_config_proto(*args: Any, **kwargs: Any) -> None:
    """Not supported. There are no sessions to configure; leave the call out."""
    raise NotImplementedError(NO_SESSIONS.format(method="update_config_proto"))


def _say_old(name: str, new: str) -> None:
    warnings.warn(f"{name} is an old name: write {new}.", DeprecationWarning, stacklevel=3)
