"""Any plan, through every executor: the same elements, restorable anywhere, as the spec says, shared without loss."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from unisono._src.data.plans import flatten, iterate, structure
from unisono.data import INFINITE_CARDINALITY, Dataset, TensorSpec

from .plan_strategies import Recipe, recipes

pytestmark = pytest.mark.slow

LIMIT = 20
"""Elements that are looked at: some datasets have no end."""

quick = settings(derandomize=True, deadline=None, max_examples=150)
long = settings(derandomize=True, deadline=None, max_examples=2000)


def list_elements(dataset: Dataset, limit: int = LIMIT) -> list[Any]:
    with iter(dataset) as elements:
        return list(islice(elements, limit))


def spec_of(dataset: Dataset, any_element: bool) -> Any:
    """The element_spec; None where only an element would show it and there is none."""
    try:
        return dataset.element_spec
    except ValueError as error:
        if any_element or "has no element" not in str(error):
            raise
        return None


def assert_equal(given: list[Any], expected: list[Any]) -> None:
    """Equal structures, shapes and values; expected dtypes may be other ones, as NumPy and JAX promote differently."""
    assert len(given) == len(expected)
    for number, (one, other) in enumerate(zip(given, expected, strict=True)):
        assert structure(one) == structure(other)
        for leaf, like in zip(flatten(one), flatten(other), strict=True):
            assert_leaf_equal(leaf, like, f"element {number}")


def assert_leaf_equal(leaf: Any, like: Any, where: str) -> None:
    if leaf is None or like is None:
        assert leaf is like
    elif np.issubdtype(leaf.dtype, np.floating):
        assert leaf.shape == like.shape, where
        np.testing.assert_allclose(leaf, like.astype(leaf.dtype), rtol=1e-6, atol=1e-6, err_msg=where)
    else:
        np.testing.assert_array_equal(leaf, like.astype(leaf.dtype), err_msg=where, strict=True)


def assert_fits(element: Any, spec: Any) -> None:
    assert structure(element) == structure(spec)
    for leaf, leaf_spec in zip(flatten(element), flatten(spec), strict=True):
        if leaf is None:
            assert leaf_spec is None
            continue
        assert isinstance(leaf_spec, TensorSpec)
        assert leaf.dtype == leaf_spec.dtype or leaf.dtype.kind == leaf_spec.dtype.kind == "U"
        assert leaf.ndim == len(leaf_spec.shape)
        assert all(dim in (None, have) for dim, have in zip(leaf_spec.shape, leaf.shape, strict=True))


def check_executors(recipe: Recipe) -> None:
    reference, dataset = recipe(), recipe()
    for iteration in range(2):
        expected = list(islice(iterate(reference._plan, iteration), LIMIT))
        assert_equal(list_elements(dataset), expected)


def check_descriptions(recipe: Recipe) -> None:
    dataset = recipe()
    assert str(dataset._plan) in repr(dataset)
    cardinality = dataset.cardinality()
    lines = dataset.explain().split("\n\n")[0].splitlines()
    assert len(lines) == 1 + len(dataset._plan.operations)
    elements = list_elements(dataset)
    spec = spec_of(dataset, bool(elements))
    for element in elements:
        assert_fits(element, spec)
    if cardinality == INFINITE_CARDINALITY:
        assert len(elements) in (0, LIMIT)  # nothing, if it was not known that what is repeated is nothing
    elif cardinality >= 0:
        assert len(elements) == min(cardinality, LIMIT)


def check_restoring(recipe: Recipe, number: int, iteration: int) -> None:
    dataset = recipe()
    for _ in range(iteration):
        dataset._next_iteration()
    with iter(dataset) as first:
        before = list(islice(first, number))
        state = json.loads(json.dumps(first.get_state()))
        rest = list(islice(first, LIMIT))
        # A position can be restored, also by the iterator that has passed it.
        first.set_state(state)
        assert_equal(list(islice(first, 3)), rest[:3])
    with iter(recipe()) as second:
        second.set_state(state)
        assert_equal(list(islice(second, LIMIT)), rest)
    with iter(recipe()._with_seeds([seed + 7 for seed in recipe()._plan.seeds])) as other_seeds:
        other_seeds.set_state(state)
        assert_equal(list(islice(other_seeds, LIMIT)), rest)
    assert len(before) <= number


def check_sharding(recipe: Recipe, num_shards: int) -> None:
    complete = list_elements(recipe())
    shards = [list_elements(recipe().shard(num_shards, index), LIMIT) for index in range(num_shards)]
    together = [shards[number % num_shards][number // num_shards] for number in range(len(complete))]
    assert_equal(together, complete)
    if len(complete) < LIMIT:
        assert sum(map(len, shards)) == len(complete)


@quick
@given(recipe=recipes())
def test_the_executors_give_the_same_elements(recipe: Recipe) -> None:
    note(repr(recipe))
    check_executors(recipe)


@quick
@given(recipe=recipes())
def test_elements_are_what_was_said_about_them(recipe: Recipe) -> None:
    note(repr(recipe))
    check_descriptions(recipe)


@settings(quick, max_examples=100)
@given(recipe=recipes(), number=st.integers(0, 6), iteration=st.integers(0, 1))
def test_a_pass_resumes_where_another_stopped(recipe: Recipe, number: int, iteration: int) -> None:
    note(repr(recipe))
    check_restoring(recipe, number, iteration)


@settings(quick, max_examples=60)
@given(recipe=recipes(), num_shards=st.integers(1, 4))
def test_shards_together_are_the_whole(recipe: Recipe, num_shards: int) -> None:
    note(repr(recipe))
    check_sharding(recipe, num_shards)


@pytest.mark.full
@pytest.mark.timeout(3600)
@long
@given(recipe=recipes(), number=st.integers(0, 9), num_shards=st.integers(1, 4))
def test_all_of_it_for_many_plans(recipe: Recipe, number: int, num_shards: int) -> None:
    note(repr(recipe))
    check_executors(recipe)
    check_descriptions(recipe)
    check_restoring(recipe, number, number % 2)
    check_sharding(recipe, num_shards)
