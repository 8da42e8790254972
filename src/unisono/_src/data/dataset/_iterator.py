"""Iterators over datasets, with a position that can be saved and restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Self

from unisono._src.core import Override, out_of_range_error
from unisono._src.data.plans import Elements, Nest, Plan, State
from unisono._src.keras_hooks import report_data_pull

if TYPE_CHECKING:
    from unisono._src.data.dataset._dataset_base import DatasetBase

_VERSION: Final = 1

WRONG_STATE = """This state belongs to another dataset.
  the state's dataset: {theirs}
  this dataset:        {ours}
Restore it into a dataset that is built by the same lines."""

ENDED = """get_next: the data has ended: {plan}. Write `for element in dataset`, or check
get_next_as_optional().has_value()."""


def _keep_element(element: Nest) -> Nest:
    return element


element_conversion: Final[Override[Callable[[Nest], Nest]]] = Override(_keep_element)
"""Converts each element that iterating over a dataset gives: `unisono.tf` makes tensors of arrays."""


class Optional:
    """The next element, or none at the end of the data.

    >>> from unisono.data import Dataset
    >>> iterator = iter(Dataset.range(1))
    >>> first, second = iterator.get_next_as_optional(), iterator.get_next_as_optional()
    >>> int(first.get_value()), second.has_value()
    (0, False)
    """

    def __init__(self, values: list[Nest]) -> None:
        self._values = values

    def has_value(self) -> bool:
        """Whether there is an element."""
        return bool(self._values)

    def get_value(self) -> Nest:
        """The element; an error if there is none."""
        if not self._values:
            raise ValueError("There is no value: the dataset has ended. Check has_value() first.")
        return self._values[0]


class DatasetIterator:
    """One pass over a dataset.

    `get_state()` gives the position after the last element, as JSON; `set_state(state)` on an iterator of the same
    dataset, in this process or another, moves there without computing the elements before it. (A Python generator is
    the exception: it is run again up to there.)

    >>> from unisono.data import Dataset
    >>> iterator = iter(Dataset.range(10).shuffle(10, seed=1).batch(3))
    >>> first, state, second = next(iterator), iterator.get_state(), next(iterator)
    >>> again = iter(Dataset.range(10).shuffle(10, seed=1).batch(3))
    >>> again.set_state(state)
    >>> next(again).tolist() == second.tolist()
    True
    """

    def __init__(self, dataset: DatasetBase, plan_of: Callable[[Any], Plan], iteration: int) -> None:
        self._dataset, self._plan_of, self._iteration = dataset, plan_of, iteration
        self._elements: Elements | None = None
        self._end: State = None
        """The state at the end of the data, or where the pass was closed."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Nest:
        report_data_pull()
        if self._end is not None:
            raise StopIteration
        try:
            element = next(self._open(), None)
            if element is not None:
                return element_conversion.current(element())
        except (KeyboardInterrupt, SystemExit):
            self.close()  # threads must not keep the process alive
            raise
        self.close()
        raise StopIteration

    def get_next(self) -> Nest:
        """The next element, as `next(iterator)`; at the end an OutOfRangeError."""
        try:
            return next(self)
        except StopIteration:
            raise out_of_range_error.current(ENDED.format(plan=self._dataset._plan)) from None

    def get_next_as_optional(self) -> Optional:
        """The next element, if there is one."""
        return Optional([element for element in [next(self, _END)] if element is not _END])

    @property
    def element_spec(self) -> Nest:
        """The element spec of the dataset."""
        return self._dataset.element_spec

    def get_state(self) -> State:
        """The position after the last element, for `set_state`. JSON can hold it."""
        return {
            "version": _VERSION,
            "plan": str(self._dataset._plan),
            "seeds": list(self._dataset._plan.seeds),
            "by_row": self._dataset._execution.num_by_row,
            "iteration": self._iteration,
            "place": self._end if self._end is not None else self._open().get_state(),
        }

    def set_state(self, state: State) -> None:
        """Moves to where `get_state` was called.

        Seeds that were drawn, not given, become those of the run that the state comes from, and the next pass over the
        dataset is the one that followed there.
        """
        theirs, ours = state["plan"], str(self._dataset._plan)
        if theirs != ours or state["version"] != _VERSION:
            raise ValueError(WRONG_STATE.format(theirs=theirs, ours=ours))
        self.close()
        self._iteration, self._end = state["iteration"], None
        self._dataset._resume_from(state["seeds"], state["by_row"], self._iteration + 1)
        self._open().set_state(state["place"])

    def close(self) -> None:
        """Ends the pass and releases files, threads and generators. Done automatically at the end of the data."""
        elements, self._elements = self._elements, None
        if elements is not None:
            self._end = elements.get_state()
            elements.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def _open(self) -> Elements:
        if self._elements is None:
            self._elements = self._plan_of(self._dataset).open((self._iteration,))
        return self._elements


_END: Any = object()
