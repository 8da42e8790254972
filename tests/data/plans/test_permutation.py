from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from unisono._src.data.plans._permutation import permutation


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 1001])
def test_it_is_a_permutation(size: int) -> None:
    assert sorted(permutation(size, 1, 0, (0,)).tolist()) == list(range(size))


def test_the_order_is_pinned_because_resumed_jobs_rely_on_it() -> None:
    assert permutation(8, 42, 0, (0,)).tolist() == [3, 7, 2, 6, 1, 4, 5, 0]
    assert permutation(8, -1, 1, (3, 2**40)).tolist() == [0, 2, 7, 6, 3, 5, 1, 4]


def test_seed_shuffle_and_path_each_change_the_order() -> None:
    keys = [(1, 0, (0,)), (2, 0, (0,)), (1, 1, (0,)), (1, 0, (1,)), (1, 0, (0, 0)), (1, 0, ()), (-1, 0, (0,))]
    orders = {tuple(permutation(50, *key).tolist()) for key in keys}
    assert len(orders) == len(keys)


def test_all_orders_are_equally_likely() -> None:
    counts = Counter(tuple(permutation(3, 7, 0, (k,)).tolist()) for k in range(3000))
    # 500 expected of each, with a standard deviation of 20. The seed is fixed: no luck is needed.
    assert len(counts) == 6
    assert all(400 < count < 600 for count in counts.values())


def test_neighbours_are_separated_in_long_orders_too() -> None:
    order = permutation(100_000, 0, 0, (0,))
    assert np.count_nonzero(np.diff(order) == 1) < 10
