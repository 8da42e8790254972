"""What every dataset does with its plan: passes over it, questions about it, and resuming it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono._src.data.dataset._element_spec import UNKNOWN, Stage, trace_stages
from unisono._src.data.dataset._execution import Execution, plan_execution
from unisono._src.data.dataset._host_call import HostCall
from unisono._src.data.dataset._iterator import DatasetIterator
from unisono._src.data.dataset._trace import Untraceable
from unisono._src.data.plans import (
    INFINITE_CARDINALITY,
    ElementWriter,
    Nest,
    Operation,
    Plan,
    Scan,
    Source,
    Take,
    as_arrays,
    check_state_type,
    map_leaves,
)
from unisono._src.keras_hooks import report_data_pull
from unisono._src.processes import broadcast_seeds_from_chief, processes

if TYPE_CHECKING:
    from unisono._src.data.dataset._dataset import Dataset


class DatasetBase:
    """A plan that can be read, and the number of its next pass. `Dataset` adds the methods that build plans."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        """The source and the operations, as data."""
        self._num_iterations = 0
        self._agreed: Any = None

    def _then(self, operation: Operation) -> Dataset:
        """This dataset with one more operation at its end."""
        return self._from_plan(self._plan.then(operation))

    @classmethod
    def _from_plan(cls, plan: Plan) -> Dataset:
        """A dataset of the kind that methods of this class return, with another plan."""
        raise NotImplementedError

    def _prepare_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function that is called instead of a user's function: for subclasses that pass other arguments."""
        return function

    def _convert_spec(self, spec: Nest) -> Nest:
        """The spec as users see it: for subclasses with other spec classes."""
        return spec

    # What it is

    @property
    def element_spec(self) -> Nest:
        """The shape and dtype of each leaf of an element; None stands for a dimension that may vary.

        >>> from unisono.data import Dataset
        >>> Dataset.from_tensor_slices([[1.0, 2.0]]).map(lambda x: x.sum()).batch(8).element_spec
        TensorSpec(shape=(None,), dtype=float64)
        """
        return self._inferred_element_spec

    @property
    def _inferred_element_spec(self) -> Nest:
        """The element spec in `unisono.data`'s classes, also in subclasses that convert `element_spec`."""
        return self._traced[-1].spec if self._traced[-1].spec is not UNKNOWN else self._spec

    @property
    def _known_element_spec(self) -> Nest:
        """The same without running anything; None where a user's function would have to run."""
        return None if self._traced[-1].spec is UNKNOWN else self._traced[-1].spec

    def cardinality(self) -> int:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY.

        >>> from unisono.data import Dataset
        >>> Dataset.from_tensor_slices([1, 2]).repeat().cardinality()
        -1
        """
        return self._plan.cardinality

    @cached_property
    def _execution(self) -> Execution:
        """How the plan runs on the host."""
        return plan_execution(self._plan, self._traced)

    def explain(self) -> str:
        """What will run where, and why: the answer to "is my input slow?".

        >>> from unisono.data import Dataset
        >>> print(Dataset.range(100).shuffle(100).map(lambda x: x * 2).batch(10).explain())
        range(100)   row numbers
        shuffle(100) row numbers
        map(lambda)  compiled
        batch(10)    row numbers
        <BLANKLINE>
        In fit: rows are gathered and mapped inside the compiled step; Python does not run for a batch.
        """
        return self._execution.explain()

    # Reading it

    def __iter__(self) -> DatasetIterator:
        report_data_pull()
        return DatasetIterator(self, lambda dataset: dataset._execution.plan, self._next_iteration())

    def as_numpy_iterator(self) -> Iterator[Nest]:
        """The elements of a new pass, with NumPy's numbers instead of arrays without dimensions.

        >>> from unisono.data import Dataset
        >>> list(Dataset.range(3).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        return (map_leaves(_as_scalar, element) for element in self)

    def get_single_element(self, name: str | None = None) -> Nest:
        """The only element.

        >>> from unisono.data import Dataset
        >>> int(Dataset.from_tensors(3).get_single_element())
        3
        """
        elements = list(self._then(Take(2)))
        if len(elements) != 1:
            found = "none" if not elements else "more than one"
            raise ValueError(f"get_single_element: expected one element, and there is {found}: {self._plan}.")
        return elements[0]

    def reduce(self, initial_state: Nest, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Nest:
        """`reduce_func(state, element)` over all elements; returns the last state. Computes all elements.

        >>> from unisono.data import Dataset
        >>> int(Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x))
        10
        """
        if self.cardinality() == INFINITE_CARDINALITY:
            raise ValueError(f"reduce: {self._plan} never ends. Put take(count) before it.")
        operation = Scan(initial_state, HostCall(self._prepare_function(reduce_func), "reduce"))
        state = as_arrays(initial_state, operation)
        for number, element in enumerate(self):
            following = as_arrays(operation.function(state, element), operation)
            if number == 0:
                state = self._adapt_state(state, initial_state, following)
            check_state_type(state, following, operation)
            state = following
        return state

    def _adapt_state(self, state: Nest, given: Nest, following: Nest) -> Nest:
        """The initial state of `reduce`, ``given`` by the user, in the dtypes that ``following``, the next one, shows.

        Unchanged by default.
        """
        return state

    def save(self, path: str | os.PathLike[str], **_: Any) -> None:
        """Writes all elements into a folder, for `Dataset.load`. Computes all elements.

        >>> import tempfile
        >>> from unisono.data import Dataset
        >>> folder = tempfile.mkdtemp() + "/squares"
        >>> Dataset.range(4).map(lambda x: x * x).save(folder)
        >>> [int(x) for x in Dataset.load(folder)]
        [0, 1, 4, 9]
        """
        if self.cardinality() == INFINITE_CARDINALITY:
            raise ValueError(f"save: {self._plan} never ends. Put take(count) before it.")
        writer = ElementWriter(Path(path) / "elements", str(self._plan))
        try:
            for element in self:
                writer.write(element)
            writer.commit()
        finally:
            writer.discard()

    # Passes and seeds

    def _next_iteration(self) -> int:
        """0, 1, 2, …: the number of a new pass over this object. Passes with different numbers shuffle
        differently.

        >>> from unisono.data import Dataset
        >>> dataset = Dataset.from_tensor_slices([1, 2])
        >>> dataset._next_iteration(), dataset._next_iteration()
        (0, 1)
        """
        number, self._num_iterations = self._num_iterations, self._num_iterations + 1
        return number

    def _with_seeds(self, seeds: Sequence[int]) -> Dataset:
        """The same dataset with other seeds, in the order of the plan: those of another run, for example."""
        return self._from_plan(self._plan.with_seeds(seeds))

    def _with_agreed_seeds(self) -> Dataset:
        """The same dataset with the seeds of the chief, if several processes train together: all have to call it.

        Returns the same object every time, so that its passes continue to be numbered.
        """
        if self._agreed is None:
            seeds = self._plan.seeds
            needs_no_exchange = not seeds or processes().count == 1
            self._agreed = self if needs_no_exchange else self._with_seeds(broadcast_seeds_from_chief(seeds))
            self._agreed._agreed = self._agreed
        agreed: Dataset = self._agreed
        return agreed

    def _resume_from(self, seeds: Sequence[int], num_by_row: int | None, next_iteration: int) -> None:
        """Takes over from an earlier run: its seeds, its executor, and the number of its next pass."""
        seeds_differ = list(seeds) != list(self._plan.seeds)
        if seeds_differ:
            self._plan, self._agreed = self._plan.with_seeds(seeds), None
            self.__dict__.pop("_traced", None)
        if seeds_differ or self._execution.num_by_row != num_by_row:
            self._execution = plan_execution(self._plan, self._traced, num_by_row)
        # A dataset that is used for training and validation is resumed at two positions.
        self._num_iterations = max(self._num_iterations, next_iteration)

    def __len__(self) -> int:
        number = self.cardinality()
        if number == INFINITE_CARDINALITY:
            raise TypeError(
                f"This dataset has no length, it repeats without end: {self._plan}. "
                f"Write repeat(count), or say where an epoch ends in fit: steps_per_epoch=..."
            )
        if number < 0:
            raise TypeError(f"The length of this dataset is not known before it has been read: {self._plan}.")
        return number

    def __bool__(self) -> bool:
        return True  # `if dataset:` asks whether there is a dataset, as in tf.data, not whether it is empty

    def __repr__(self) -> str:
        # A debugger calls this: it must not run the user's functions.
        known = self._traced[-1].spec is not UNKNOWN or "_spec" in self.__dict__
        spec = self.element_spec if known else f"unknown ({self._explain_unknown()})"
        return f"<{type(self).__name__}: {self._plan}, element_spec={spec}>"

    @classmethod
    def _from_source(cls, source: Source) -> Dataset:
        return cls._from_plan(Plan(source))

    def _explain_unknown(self) -> str:
        stage = next(stage for stage in self._traced if stage.spec is UNKNOWN)
        if isinstance(stage.traced, Untraceable):
            return f"{stage.operation} cannot be traced: {stage.traced.reason}"
        return f"{stage.operation or self._plan.source} has not run"

    @cached_property
    def _traced(self) -> list[Stage]:
        """What is known about the elements without running anything."""
        return trace_stages(self._plan, may_run=False)

    @cached_property
    def _spec(self) -> Nest:
        """The spec with users' functions run on the first element, where they cannot be traced."""
        return trace_stages(self._plan)[-1].spec

    def _then_checked(self, operation: Operation) -> Dataset:
        """The same as `_then`; raises an error if the operation cannot take these elements, as far as that is known."""
        dataset = self._then(operation)
        _ = dataset._traced
        return dataset


def _as_scalar(leaf: Any) -> Any:
    return np.asarray(leaf)[()] if isinstance(leaf, np.ndarray) else leaf
