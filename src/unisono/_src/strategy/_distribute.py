"""From what users pass to distributed datasets and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import flatten
from unisono._src.devices import Placement
from unisono._src.processes import processes
from unisono._src.strategy._agreement import Agreement
from unisono._src.strategy._autoshard import reads_per_worker_data, worker_dataset
from unisono._src.strategy._deal import Deal
from unisono._src.strategy._distributed_dataset import DistributedDataset
from unisono._src.strategy._input_context import InputContext, ValueContext
from unisono._src.strategy._input_options import InputOptions, checked
from unisono._src.strategy._replicas import Replicas
from unisono._src.strategy._split_rows import SplitRows
from unisono._src.strategy._step import Step

_SPLIT = "experimental_distribute_dataset"
_DEAL = "distribute_datasets_from_function"


def distribute_dataset(placement: Placement, dataset: Any, options: InputOptions | None) -> DistributedDataset:
    """Global batches, their rows split over the replicas."""
    options = checked(options, _SPLIT)
    if isinstance(dataset, DistributedDataset):
        raise TypeError(f"{_SPLIT}: this dataset is distributed already: {dataset}. Use it as it is.")
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"{_SPLIT}: expected a unisono.data.Dataset, got {type(dataset).__name__}. Of arrays, write "
            f"Dataset.from_tensor_slices((x, y)).batch(global_batch_size); of a generator, Dataset.from_generator(...)."
        )
    if placement.spans_processes:
        dataset = dataset.with_agreed_seeds()
        if reads_per_worker_data(dataset):
            everyone = processes()
            part = worker_dataset(dataset, everyone.index, everyone.count, placement.num_replicas)
            return _dealt(placement, part, options)
    return _distributed(dataset, SplitRows(_replicas(placement, options)), options)


def distribute_from_function(placement: Placement, dataset_fn: Any, options: InputOptions | None) -> DistributedDataset:
    """Batches of one replica, dealt to the replicas in turn."""
    options = checked(options, _DEAL)
    if not callable(dataset_fn):
        raise TypeError(
            f"{_DEAL}: expected a function of an InputContext that returns a Dataset, got "
            f"{type(dataset_fn).__name__}. A dataset that there is already goes to {_SPLIT}(dataset)."
        )
    everyone = processes()
    pipelines, pipeline = (everyone.count, everyone.index) if placement.spans_processes else (1, 0)
    dataset = dataset_fn(InputContext(pipelines, pipeline, placement.num_replicas))
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"{_DEAL}: the function must return a unisono.data.Dataset, but it returned {type(dataset).__name__}."
        )
    return _dealt(placement, dataset, options)


def _dealt(placement: Placement, dataset: Dataset, options: InputOptions) -> DistributedDataset:
    step = Deal(_replicas(placement, options), lambda: _has_fixed_shapes(dataset))
    agreement = Agreement(placement, lambda: dataset.inferred_element_spec) if placement.spans_processes else None
    return _distributed(dataset, step, options, agreement)


def distribute_values(placement: Placement, value_fn: Callable[[ValueContext], Any]) -> Any:
    """What a function returns for each replica, on its device."""
    number = placement.num_replicas
    return Replicas(placement).give([value_fn(ValueContext(i, number)) for i in placement.local_replicas])


def _replicas(placement: Placement, options: InputOptions) -> Replicas:
    return Replicas(placement, on_host=options.experimental_fetch_to_device is False)


def _distributed(
    dataset: Dataset, step: Step, options: InputOptions, agreement: Agreement | None = None
) -> DistributedDataset:
    # What cannot be distributed is refused here, as far as that is known before anything of the user's has run.
    known = dataset.known_element_spec
    if known is not None:
        step.spec(known)
    on_host = options.experimental_fetch_to_device is False
    num_ahead = 0 if on_host else options.experimental_per_replica_buffer_size
    return DistributedDataset(dataset, step, num_ahead, agreement)


def _has_fixed_shapes(dataset: Dataset) -> bool:
    leaves = [leaf for leaf in flatten(dataset.inferred_element_spec) if leaf is not None]
    return all(None not in leaf.shape for leaf in leaves)
