"""Makes distributed datasets and values from what users pass to a strategy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import Nest, flatten, unflatten
from unisono._src.devices import Placement
from unisono._src.processes import all_gather_json, processes
from unisono._src.replicas.values import PerReplica, check_alike
from unisono._src.strategy._autoshard import reads_per_worker_data, worker_dataset
from unisono._src.strategy._batch_distribution import AssignBatches, BatchDistribution, SplitRows
from unisono._src.strategy._distributed_dataset import DistributedDataset
from unisono._src.strategy._global_step_assembler import GlobalStepAssembler
from unisono._src.strategy._input_context import InputContext, ValueContext
from unisono._src.strategy._options import InputOptions, check_input_options
from unisono._src.strategy._replica_sender import ReplicaSender

_FROM_DATASET = "experimental_distribute_dataset"
_FROM_FUNCTION = "distribute_datasets_from_function"


def distribute_dataset(placement: Placement, dataset: Any, options: InputOptions | None) -> DistributedDataset:
    """Global batches, their rows split over the replicas."""
    options = check_input_options(options, _FROM_DATASET)
    if isinstance(dataset, DistributedDataset):
        raise TypeError(f"{_FROM_DATASET}: this dataset is distributed already: {dataset}. Use it as it is.")
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"{_FROM_DATASET}: expected a unisono.data.Dataset, got {type(dataset).__name__}. For arrays, write "
            "Dataset.from_tensor_slices((x, y)).batch(global_batch_size); for a generator, Dataset.from_generator(...)."
        )
    if placement.spans_processes:
        dataset = dataset._with_agreed_seeds()
        if reads_per_worker_data(dataset):
            everyone = processes()
            part = worker_dataset(dataset, everyone.index, everyone.count, placement.num_replicas)
            return _assign_batches(placement, part, options)
    return _distribute(dataset, SplitRows(_replica_sender(placement, options)), options)


def distribute_from_function(placement: Placement, dataset_fn: Any, options: InputOptions | None) -> DistributedDataset:
    """Batches of one replica, assigned to the replicas one after the other."""
    options = check_input_options(options, _FROM_FUNCTION)
    if not callable(dataset_fn):
        raise TypeError(
            f"{_FROM_FUNCTION}: expected a function of an InputContext that returns a Dataset, got "
            f"{type(dataset_fn).__name__}. Pass an existing dataset to {_FROM_DATASET}(dataset)."
        )
    everyone = processes()
    pipelines, pipeline = (everyone.count, everyone.index) if placement.spans_processes else (1, 0)
    dataset = dataset_fn(InputContext(pipelines, pipeline, placement.num_replicas))
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"{_FROM_FUNCTION}: the function must return a unisono.data.Dataset, but it returned "
            f"{type(dataset).__name__}."
        )
    return _assign_batches(placement, dataset, options)


def _assign_batches(placement: Placement, dataset: Dataset, options: InputOptions) -> DistributedDataset:
    distribution = AssignBatches(_replica_sender(placement, options), lambda: _has_fixed_shapes(dataset))
    assembler = (
        GlobalStepAssembler(placement, lambda: dataset._inferred_element_spec) if placement.spans_processes else None
    )
    return _distribute(dataset, distribution, options, assembler)


def distribute_values(placement: Placement, value_fn: Callable[[ValueContext], Any]) -> Any:
    """What a function returns for each replica, on its device."""
    number = placement.num_replicas
    sent = ReplicaSender(placement).send([value_fn(ValueContext(i, number)) for i in placement.local_replicas])
    return _combine_values(placement, sent) if placement.spans_processes else sent


def _combine_values(placement: Placement, local: Nest) -> Nest:
    """Arrays of all processes: only together do these know whether the replicas have equally many rows. An error is
    raised on all of them."""
    assembler, combined = GlobalStepAssembler(placement, lambda: None), []
    leaves = flatten(local)
    for leaf, *everywhere in zip(leaves, *all_gather_json([_describe(each) for each in leaves]), strict=True):
        is_array = None not in everywhere
        if is_array:
            replicas = [replica for process in everywhere for replica in process]
            check_alike([tuple(shape) for shape, _ in replicas], [dtype for _, dtype in replicas])
        combined.append(assembler.combine(leaf) if is_array else leaf)
    return unflatten(local, combined)


def _describe(leaf: Any) -> list[list[Any]] | None:
    """Shape and dtype of each value; None for what stays as it is: what no device can have, and keys of random
    numbers."""
    values = leaf.values if isinstance(leaf, PerReplica) else (leaf,)
    if not all(isinstance(value, jax.Array) and isinstance(value.dtype, np.dtype) for value in values):
        return None
    return [[value.shape, value.dtype.name] for value in values]


def _replica_sender(placement: Placement, options: InputOptions) -> ReplicaSender:
    return ReplicaSender(placement, on_host=options.experimental_fetch_to_device is False)


def _distribute(
    dataset: Dataset,
    distribution: BatchDistribution,
    options: InputOptions,
    assembler: GlobalStepAssembler | None = None,
) -> DistributedDataset:
    # What cannot be distributed is refused here, as far as that is known before any of the user's functions has run.
    known = dataset._known_element_spec
    if known is not None:
        distribution.spec(known)
    on_host = options.experimental_fetch_to_device is False
    num_ahead = 0 if on_host else options.experimental_per_replica_buffer_size
    return DistributedDataset(dataset, distribution, num_ahead, assembler)


def _has_fixed_shapes(dataset: Dataset) -> bool:
    leaves = [leaf for leaf in flatten(dataset._inferred_element_spec) if leaf is not None]
    return all(None not in leaf.shape for leaf in leaves)
