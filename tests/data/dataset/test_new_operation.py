"""An operation owns its semantics: a class that only this file contains works everywhere a built-in one does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.data.plans import (
    DatasetSpec,
    Deferred,
    Elements,
    Inspection,
    Nest,
    Operation,
    PassId,
    RowPlan,
    StatelessElements,
    TensorSpec,
    Upstream,
    iterate,
    map_deferred,
    map_leaves,
    map_specs,
)
from unisono.data import Dataset


@dataclass(frozen=True)
class EveryOther(Operation):
    """Elements 0, 2, 4, …: an operation that chooses rows."""

    keeps_random_access = True
    commutes_with_maps = True

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream < 0 else -(-upstream // 2)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        def advance(elements: Elements) -> Deferred:
            element = next(elements)
            next(elements, None)
            return element

        return StatelessElements(upstream.open(pass_id), advance)

    def on_rows(self, rows: RowPlan) -> RowPlan | None:
        if rows.is_endless:
            return None
        return rows.select(self.cardinality(rows.size), lambda number, pass_id: slice(0, None, 2))

    def __str__(self) -> str:
        return "every_other()"


@dataclass(frozen=True)
class AddDim(Operation):
    """Every leaf with a new last dim of 1: an operation that changes elements, in Python."""

    keeps_random_access = True

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return map_deferred(upstream.open(pass_id), partial(partial, self._add_dim))

    def _add_dim(self, element: Deferred) -> Nest:
        return map_leaves(lambda leaf: leaf[..., None], element())

    def element_spec(self, spec: Nest, inspection: Inspection) -> Nest:
        def add_dim(leaf: TensorSpec | DatasetSpec) -> TensorSpec:
            assert isinstance(leaf, TensorSpec), "the dataset under test holds arrays"
            return TensorSpec((*leaf.shape, 1), leaf.dtype)

        return map_specs(add_dim, spec)

    def __str__(self) -> str:
        return "add_dim()"


def numbers() -> Dataset:
    return Dataset.from_tensor_slices(np.arange(10, dtype=np.float32)).map(lambda x: (x, 2 * x))


def as_lists(elements: Any) -> list[Any]:
    return [[leaf.tolist() for leaf in element] for element in elements]


def test_its_spec_is_what_the_operation_says() -> None:
    dataset = numbers()._then(EveryOther()).batch(2)._then(AddDim())
    assert dataset.element_spec == (TensorSpec((None, 1)), TensorSpec((None, 1)))
    assert len(dataset) == 3


def test_explain_shows_where_it_runs() -> None:
    by_row = numbers()._then(EveryOther()).batch(2).explain()
    assert "every_other() row numbers" in by_row
    assert "inside the compiled step" in by_row
    in_python = numbers()._then(AddDim()).batch(2).explain()
    assert "add_dim()   python" in in_python
    assert "not every operation can be done by row number" in in_python


@pytest.mark.parametrize("operation", [EveryOther(), AddDim()], ids=str)
def test_iteration_gives_what_the_reference_gives(operation: Operation) -> None:
    dataset = numbers().shuffle(10, seed=3)._then(operation).batch(2)
    for iteration in range(2):
        assert as_lists(dataset) == as_lists(iterate(dataset._plan, iteration))


def test_maps_move_behind_batches_past_it() -> None:
    lines = Dataset.from_generator(lambda: iter(np.arange(6)), output_signature=TensorSpec((), "int64"))
    dataset = lines.map(lambda x: x + 1)._then(EveryOther()).batch(3)
    assert "map(lambda)            host vectorized" in dataset.explain()
    assert [x.tolist() for x in dataset] == [[1, 3, 5]]


def test_an_iterator_resumes_behind_it() -> None:
    dataset = numbers()._then(EveryOther())._then(AddDim())
    iterator = iter(dataset)
    next(iterator)
    state, rest = iterator.get_state(), as_lists(iterator)
    resumed = iter(dataset)
    resumed.set_state(state)
    assert as_lists(resumed) == rest


@pytest.mark.slow
@pytest.mark.parametrize("operation", [EveryOther(), AddDim()], ids=str)
def test_fit_trains_on_its_elements(operation: Operation) -> None:
    def train(dataset: Dataset) -> Any:
        keras.utils.set_random_seed(0)
        with unisono.OneDeviceStrategy("cpu:0").scope():
            model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
            model.compile(keras.optimizers.SGD(0.01), "mse")
        model.fit(dataset, epochs=2, verbose=0)
        return model.get_weights()[0]

    column = numbers() if isinstance(operation, AddDim) else numbers().map(lambda x, y: (x[None], y[None]))
    dataset = column._then(operation).batch(2)
    arrays = tuple(np.concatenate(batches) for batches in zip(*iterate(dataset._plan), strict=True))
    np.testing.assert_allclose(train(dataset), train(Dataset.from_tensor_slices(arrays).batch(2)), rtol=1e-6)
