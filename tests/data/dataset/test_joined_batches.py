"""A batch directly after an unbatch takes slices of the batches before it, instead of copying row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unisono._src.data.plans import iterate
from unisono.data import Dataset, TensorSpec

_SLICES = "slices of the batches before unbatch()"


def batches(length: int | None = 2) -> Dataset:
    """23 rows in batches of 0 to 9 rows."""

    def generate() -> Any:
        first = 0
        for size in (5, 0, 9, 1, 8):
            numbers = np.arange(first, first + size)
            yield {"x": np.stack([numbers, -numbers], axis=1).astype("float32"), "n": numbers}
            first += size

    signature = {"x": TensorSpec((None, length)), "n": TensorSpec((None,), "int64")}
    return Dataset.from_generator(generate, output_signature=signature).unbatch()


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_the_batches_are_those_of_the_reference(drop_remainder: bool) -> None:
    dataset = batches().map(lambda row: row["x"] * 2).batch(4, drop_remainder=drop_remainder)
    assert _SLICES in dataset.explain()
    expected = list(iterate(dataset._plan))
    assert [len(batch) for batch in expected] == [4, 4, 4, 4, 4, 3][: 5 + (not drop_remainder)]
    for one, other in zip(dataset, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_every_position_can_be_restored() -> None:
    dataset = batches().batch(4)
    expected = [batch["n"].tolist() for batch in dataset]
    for number in range(len(expected) + 1):
        iterator = iter(dataset)
        for _ in range(number):
            next(iterator)
        again = iter(batches().batch(4))
        again.set_state(iterator.get_state())
        assert [batch["n"].tolist() for batch in again] == expected[number:]
        iterator.close()


def test_rows_of_different_shapes_are_stacked_one_by_one() -> None:
    assert _SLICES not in batches(length=None).batch(4).explain()


def test_a_position_in_a_batch_that_is_smaller_now_is_refused() -> None:
    sizes = [5, 5]
    signature = TensorSpec((None,), "float64")
    dataset = Dataset.from_generator(lambda: map(np.zeros, sizes), output_signature=signature).unbatch().batch(3)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.get_state()
    sizes[:] = [2, 8]
    with pytest.raises(ValueError, match="row 3 of a batch, and that batch has 2 rows now"):
        iter(dataset).set_state(state)
    iterator.close()
