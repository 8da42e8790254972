"""A dataset whose elements hold a value for each replica."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src.data.dataset import Dataset, DatasetIterator
from unisono._src.data.feed import HostBatches
from unisono._src.data.plans import ComputeAhead, Nest, Plan, State
from unisono._src.keras_hooks import report_data_pull
from unisono._src.strategy._batch_distribution import BatchDistribution, SplitRows
from unisono._src.strategy._distributed_iterator import DistributedIterator
from unisono._src.strategy._global_step_assembler import GlobalStepAssembler
from unisono._src.strategy._grouped_steps import SendInGroups


class GatheredBatches(HostBatches):
    """All rows of all processes, step by step, until every process is at the end of its data."""

    def __init__(self, local_steps: DatasetIterator, assembler: GlobalStepAssembler) -> None:
        self._local_steps, self._assembler = local_steps, assembler

    def __next__(self) -> Nest:
        batch = self._assembler.combine_as_batch(next(self._local_steps, None))
        if batch is None:
            raise StopIteration
        return batch

    def get_state(self) -> State:
        return self._local_steps.get_state()

    def close(self) -> None:
        self._local_steps.close()


class DistributedDataset:
    """Made by `strategy.experimental_distribute_dataset` and `strategy.distribute_datasets_from_function`.

    Leaves of its elements are PerReplica, each value on the device of its replica; with one replica they are plain
    arrays. Strings stay NumPy arrays. A thread prepares the next steps while one is used.

    >>> import unisono
    >>> strategy = unisono.OneDeviceStrategy("cpu:0")
    >>> dataset = strategy.experimental_distribute_dataset(unisono.data.Dataset.range(5).batch(4))
    >>> [step.tolist() for step in dataset]
    [[0, 1, 2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Dataset,
        distribution: BatchDistribution,
        num_ahead: int,
        assembler: GlobalStepAssembler | None = None,
    ) -> None:
        self._dataset, self._distribution, self._num_ahead = dataset, distribution, num_ahead
        self._assembler = assembler

    def __iter__(self) -> DistributedIterator:
        report_data_pull()
        return DistributedIterator(self, self._dataset, self._make_plan, self._assembler)

    @property
    def _global_batches(self) -> Dataset:
        """The same steps, each as one batch of all replicas: what `fit` trains on."""
        return self._distribution.global_batches(self._dataset)

    @property
    def _gathered_batches(self) -> Callable[[State], GatheredBatches] | None:
        """A pass over the same batches where every process reads its own data, so that no process has a whole batch.

        It begins at the position that is passed, from an earlier pass; with None at the beginning of the next one.
        """
        assembler = self._assembler
        if assembler is None:
            return None

        def begin(state: State) -> GatheredBatches:
            iterator = DatasetIterator(self._dataset, self._make_plan, self._dataset._next_iteration())
            if state is not None:
                iterator.set_state(state)
            return GatheredBatches(iterator, assembler)

        return begin

    @property
    def _resume_caveat(self) -> str | None:
        """Why an iterator that is set to a position may give other elements than before; None if it cannot."""
        return self._dataset._plan.resume_caveat

    @property
    def element_spec(self) -> Nest:
        """Shapes and dtypes of the leaves, those on the devices: a PerReplicaSpec, or with one replica a TensorSpec."""
        return self._dataset._convert_spec(self._distribution.spec(self._dataset._inferred_element_spec))

    @property
    def cardinality(self) -> int:
        """The number of elements of the dataset inside, as `Dataset.cardinality()` gives it.

        That is the number of steps of `experimental_distribute_dataset`. In `distribute_datasets_from_function` a
        step takes an element for each replica.
        """
        return self._dataset.cardinality()

    def reduce(self, initial_state: Any, reduce_fn: Callable[[Any, Any], Any]) -> Any:
        """`reduce_fn(state, step)` over all steps; the last state.

        >>> import unisono
        >>> strategy = unisono.OneDeviceStrategy("cpu:0")
        >>> dataset = strategy.experimental_distribute_dataset(unisono.data.Dataset.range(5).batch(4))
        >>> dataset.reduce(0, lambda total, step: total + int(step.sum()))
        10
        """
        state = initial_state
        with iter(self) as steps:
            for step in steps:
                state = reduce_fn(state, step)
        return state

    def __bool__(self) -> bool:
        return True  # `if dataset:` asks whether there is one

    def __repr__(self) -> str:
        return f"<DistributedDataset: {self._dataset._plan} -> {self._distribution}>"

    def _make_plan(self, dataset: Dataset) -> Plan:
        plan, distribution = dataset._execution.plan, self._distribution
        is_in_memory = dataset._execution.complete
        if self._num_ahead and is_in_memory and isinstance(distribution, SplitRows) and distribution.can_send_groups:
            return plan.then(SendInGroups(distribution))
        plan = plan.then(distribution)
        # The thread computes one more than those that wait: it begins when a step is handed out.
        return plan.then(ComputeAhead(1, self._num_ahead + 1)) if self._num_ahead else plan
