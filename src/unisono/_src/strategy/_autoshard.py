"""How workers share a dataset, as its auto_shard_policy says.

DATA and AUTO: each worker takes its part of every global batch. The order of the data is then the same for any
number of workers, which is why AUTO is not FILE here where TensorFlow would choose FILE. FILE: each reads some of the
files. OFF: each reads all of the data, and has its own part of a step.
"""

from __future__ import annotations

import dataclasses
from typing import Any
from weakref import WeakKeyDictionary

from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import (
    ArraySlices,
    AutoShardPolicy,
    Concatenate,
    FileCache,
    FileSource,
    Filter,
    GroupByWindow,
    Interleave,
    Operation,
    Plan,
    ReadFiles,
    Shard,
    Unbatch,
    flatten,
)

NO_FILES = """auto_shard_policy is FILE, and the data does not come from files: {dataset}.
Use AutoShardPolicy.DATA, or begin with TFRecordDataset, TextLineDataset or Dataset.list_files."""

TOO_FEW = """auto_shard_policy is FILE, and there are {files} files for {workers} workers: some would have no data.
Use AutoShardPolicy.DATA, or write the data into at least {workers} files."""

NO_BATCH = """auto_shard_policy is {policy}, and the size of a batch is not known beforehand: {spec}.
Batch with a fixed size: dataset.batch(global_batch_size)."""

NOT_DIVISIBLE = """auto_shard_policy is {policy}, and a global batch of {size} rows is not divisible by {replicas}
replicas. Use AutoShardPolicy.DATA, or another batch size."""


_GIVE_OTHER_ELEMENTS = (Unbatch, Interleave, GroupByWindow)

_parts: WeakKeyDictionary[Dataset, dict[tuple[Any, ...], Dataset]] = WeakKeyDictionary()


def reads_per_worker_data(dataset: Dataset) -> bool:
    """Whether each worker reads its own data, rather than its part of global batches that all workers read."""
    policy = dataset.options().experimental_distribute.auto_shard_policy
    return policy in (AutoShardPolicy.FILE, AutoShardPolicy.OFF)


def worker_dataset(dataset: Dataset, worker: int, num_workers: int, num_replicas: int) -> Dataset:
    """What one worker reads, in batches of one replica.

    Returns the same object every time, so that its passes continue to be numbered and shuffle differently.
    """
    parts = _parts.setdefault(dataset, {})
    key = (dataset._plan, worker, num_workers, num_replicas)  # a dataset that is resumed gets another plan
    if key not in parts:
        parts[key] = _make_worker_dataset(dataset, worker, num_workers, num_replicas)
    return parts[key]


def _make_worker_dataset(dataset: Dataset, worker: int, num_workers: int, num_replicas: int) -> Dataset:
    policy = dataset.options().experimental_distribute.auto_shard_policy
    size = _batch_size(dataset, policy)
    if size % num_replicas:
        raise ValueError(NOT_DIVISIBLE.format(policy=policy.name, size=size, replicas=num_replicas))
    if policy is AutoShardPolicy.FILE:
        dataset = dataset._from_plan(_with_files_of_worker(dataset._plan, dataset, worker, num_workers))
    return dataset.rebatch(size // num_replicas)


def _batch_size(dataset: Dataset, policy: AutoShardPolicy) -> int:
    """The size of a full batch: the last one may be smaller, so that it cannot be read from shapes."""
    for operation in reversed(dataset._plan.operations):
        if operation.full_batch_size is not None:
            return operation.full_batch_size
        if operation.makes_batches or isinstance(operation, _GIVE_OTHER_ELEMENTS):
            break
    spec = dataset._inferred_element_spec
    first = next((leaf for leaf in flatten(spec) if leaf is not None), None)
    if first is None or not first.shape or first.shape[0] is None:
        raise ValueError(NO_BATCH.format(policy=policy.name, spec=spec))
    return int(first.shape[0])


def _with_files_of_worker(plan: Plan, dataset: Dataset, worker: int, num_workers: int) -> Plan:
    source = plan.source
    on_names: tuple[Operation, ...] = ()
    if isinstance(source, FileSource):
        num_files, num_names = len(source.paths), 0
        source = dataclasses.replace(source, paths=source.paths[worker::num_workers])
    else:
        found = _num_operations_on_names(plan)
        if found is None:
            raise ValueError(NO_FILES.format(dataset=dataset))
        num_names = found
        num_files = Plan(source, plan.operations[:num_names]).cardinality
        on_names = (*plan.operations[:num_names], Shard(num_workers, worker))
    if 0 <= num_files < num_workers:
        raise ValueError(TOO_FEW.format(files=num_files, workers=num_workers))

    def with_own_files(operation: Operation) -> Operation:
        inputs = (_with_files_of_worker(each, dataset, worker, num_workers) for each in operation.inputs)
        return operation.with_inputs(tuple(inputs))

    operations = (*on_names, *map(with_own_files, plan.operations[num_names:]))
    own = f"{worker}-of-{num_workers}"
    return Plan(source, tuple(_with_own_cache(operation, own) for operation in operations))


def _num_operations_on_names(plan: Plan) -> int | None:
    """How many operations come before the files are read: all workers read the same names there, so that a `take`, for
    example, takes names of all files. None if the elements are not known to be names.
    """
    operations = plan.operations
    readers = [number for number, each in enumerate(operations) if isinstance(each, ReadFiles)]
    if not readers:
        source = plan.source
        if not isinstance(source, ArraySlices) or any(each.dtype.kind not in "OUS" for each in flatten(source.arrays)):
            return None
        readers = [number for number, each in enumerate(operations) if isinstance(each, Interleave)]
    if readers:
        before = operations[: readers[0]]
        return next((number for number, each in enumerate(before) if each.makes_batches), len(before))
    keep_names = (
        each.commutes_with_maps or each.only_reorders or isinstance(each, Concatenate | Filter) for each in operations
    )
    return next((number for number, keeps in enumerate(keep_names) if not keeps), len(operations))


def _with_own_cache(operation: Operation, own: str) -> Operation:
    """Without the elements that a cache has of all files; what it stores in a file has the suffix ``own``."""
    if isinstance(operation, FileCache):
        path = operation.path
        return dataclasses.replace(operation, path=path.with_name(f"{path.name}-{own}"))
    return operation.without_memory()
