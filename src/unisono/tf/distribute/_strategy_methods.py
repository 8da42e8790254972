"""Changes of `Strategy` for scripts: methods of older releases, and `run` converts control flow.

Importing this module applies them.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable
from typing import Any, Final

from unisono._src.strategy import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputOptions,
    InputReplicationMode,
    Strategy,
)
from unisono._src.tracing import control_flow
from unisono.tf.data import Dataset

NO_SESSIONS = """strategy.{method}() configures sessions of TensorFlow 1, which are not available. Leave out the call: a
strategy is ready when it is created, and a cluster comes from TF_CONFIG or from a cluster_resolver."""

_NOT_CONVERTED: Final = ("keras", "unisono")  # packages whose functions are written for tracing


def _install() -> None:
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
    strategy_class: Any = Strategy
    strategy_class.run = _converting(strategy_class.run)


def _converting(run: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `run` so that `if` and `while` in the function may depend on tensors.

    Also outside tf.functions, since on several replicas `run` is always a compiled program.
    """

    @functools.wraps(run)
    def run_converted(
        self: Strategy, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        package = (getattr(fn, "__module__", None) or "").partition(".")[0]
        converted = fn if package in _NOT_CONVERTED else control_flow.convert(fn)
        return run(self, converted, args, kwargs, options)

    return run_converted


def experimental_run_v2(self: Strategy, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
    """The old name of `run`."""
    _warn_old_name("experimental_run_v2", "strategy.run(fn, args)")
    return self.run(fn, args, kwargs)


def experimental_run(self: Strategy, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
    """`run` on the next step of an iterator, or without arguments."""
    _warn_old_name("experimental_run", "strategy.run(fn, args=(next(iterator),))")
    return self.run(fn, () if input_iterator is None else (next(input_iterator),))


def unwrap(self: Strategy, value: Any) -> tuple[Any, ...]:
    """The old name of `experimental_local_results`."""
    _warn_old_name("unwrap", "strategy.experimental_local_results(value)")
    return self.experimental_local_results(value)


def group(self: Strategy, value: Any, name: str | None = None) -> None:
    """Does nothing: there are no operations left to run."""


def experimental_distribute_datasets_from_function(
    self: Strategy, dataset_fn: Callable[[InputContext], Dataset], options: InputOptions | None = None
) -> DistributedDataset:
    """The old name of `distribute_datasets_from_function`."""
    new = "strategy.distribute_datasets_from_function(dataset_fn)"
    _warn_old_name("experimental_distribute_datasets_from_function", new)
    return self.distribute_datasets_from_function(dataset_fn, options)


def make_dataset_iterator(self: Strategy, dataset: Dataset) -> DistributedIterator:
    """An iterator over `experimental_distribute_dataset`."""
    _warn_old_name("make_dataset_iterator", "strategy.experimental_distribute_dataset(dataset)")
    return iter(self.experimental_distribute_dataset(dataset))


def make_input_fn_iterator(
    self: Strategy,
    input_fn: Callable[[InputContext], Dataset],
    replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER,
) -> DistributedIterator:
    """An iterator over `distribute_datasets_from_function`."""
    _warn_old_name("make_input_fn_iterator", "strategy.distribute_datasets_from_function(input_fn)")
    options = InputOptions(experimental_replication_mode=replication_mode)
    return iter(self.distribute_datasets_from_function(input_fn, options))


def experimental_make_numpy_dataset(self: Strategy, numpy_input: Any) -> Dataset:
    """A dataset of the rows of arrays."""
    _warn_old_name("experimental_make_numpy_dataset", "tf.data.Dataset.from_tensor_slices(arrays)")
    return Dataset.from_tensor_slices(numpy_input)


def colocate_vars_with(self: Strategy, colocate_with_variable: Any) -> contextlib.AbstractContextManager[None]:
    """The old name of `extended.colocate_vars_with`."""
    return self.extended.colocate_vars_with(colocate_with_variable)


def configure(*args: Any, **kwargs: Any) -> None:
    """Not supported. There are no sessions to configure; leave out the call."""
    raise NotImplementedError(NO_SESSIONS.format(method="configure"))


def update_config_proto(*args: Any, **kwargs: Any) -> None:
    """Not supported. There are no sessions to configure; leave out the call."""
    raise NotImplementedError(NO_SESSIONS.format(method="update_config_proto"))


def _warn_old_name(name: str, new: str) -> None:
    warnings.warn(f"{name} is an old name. Write {new}.", DeprecationWarning, stacklevel=3)


_install()
