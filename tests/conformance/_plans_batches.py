"""Plans: elements stacked into batches, and batches split again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._space import Space

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def _labelled_rows(space: Space) -> Any:
    rows = [(np.arange(n, dtype=np.int32), np.float32(n)) for n in (1, 3, 2)]
    return space.generated(rows, (space.spec(None), space.spec(dtype=np.float32)))


def _dicts_of_rows(space: Space) -> Any:
    rows = [{"ids": np.arange(n, dtype=np.int32), "mask": np.ones(n, np.float32)} for n in (2, 1, 3)]
    return space.generated(rows, {"ids": space.spec(None), "mask": space.spec(None, dtype=np.float32)})


def _buckets(space: Space, **arguments: Any) -> Any:
    rows = space.rows(1, 6, 2, 3, 5, 1, 4, 2, 7, 1)
    return rows.bucket_by_sequence_length(space.length, [3, 5], [2, 2, 2], **arguments)


def _by_parity(space: Space, num: int, window_size: int) -> Any:
    return space.range(num).group_by_window(
        key_func=lambda x: x % 2, reduce_func=lambda key, window: window.batch(window_size), window_size=window_size
    )


BATCHES = {
    "batch_exactly": lambda s: s.numbers(6).batch(3),
    "batch_with_a_short_last_one": lambda s: s.numbers(7).batch(3),
    "batch_dropping_the_remainder": lambda s: s.numbers(7).batch(3, drop_remainder=True),
    "batch_larger_than_the_data": lambda s: s.numbers(3).batch(5),
    "batch_larger_than_the_data_dropped": lambda s: s.numbers(3).batch(5, drop_remainder=True),
    "batch_of_one": lambda s: s.numbers(2).batch(1),
    "batch_matrices": lambda s: s.slices(MATRIX).batch(3),
    "batch_pairs": lambda s: s.pairs(5).batch(2),
    "batch_dicts": lambda s: s.slices({"x": MATRIX, "y": MATRIX[:, 0]}).batch(3, drop_remainder=True),
    "batch_str": lambda s: s.slices(np.array(["a", "bcd", "e"])).batch(2),
    "batch_batches": lambda s: s.numbers(8).batch(2).batch(2),
    "batch_in_parallel": lambda s: s.numbers(5).batch(2, num_parallel_calls=2, deterministic=True),
    "batch_an_endless_one": lambda s: s.numbers(3).repeat().batch(2),
    "batch_open_rows_of_equal_length": lambda s: s.rows(2, 2, 2).batch(2),
    "batch_nothing": lambda s: s.numbers(0).batch(2),
    "unbatch": lambda s: s.numbers(5).batch(2).unbatch(),
    "unbatch_full_batches": lambda s: s.numbers(5).batch(2, drop_remainder=True).unbatch(),
    "unbatch_pairs": lambda s: s.pairs(3).batch(2).unbatch(),
    "unbatch_a_matrix": lambda s: s.slices(MATRIX).unbatch(),
    "unbatch_a_dict": lambda s: s.slices({"x": MATRIX}).unbatch(),
    "unbatch_rows_of_unequal_length": lambda s: s.rows(2, 0, 3).unbatch(),
    "unbatch_then_batch": lambda s: s.numbers(7).batch(3).unbatch().batch(2),
    "rebatch_smaller": lambda s: s.numbers(7).batch(4).rebatch(3),
    "rebatch_larger": lambda s: s.numbers(7).batch(2).rebatch(4),
    "rebatch_dropping_the_remainder": lambda s: s.numbers(7).batch(2).rebatch(4, drop_remainder=True),
    "rebatch_full_batches": lambda s: s.numbers(7).batch(3, drop_remainder=True).rebatch(2),
    "rebatch_list": lambda s: s.numbers(8).batch(4).rebatch([3, 1]),
    "rebatch_list_with_a_remainder": lambda s: s.numbers(10).batch(4).rebatch([2, 1, 1]),
    "rebatch_list_dropping_the_remainder": lambda s: s.numbers(10).batch(4).rebatch([2, 1], drop_remainder=True),
    "rebatch_list_with_a_zero": lambda s: s.numbers(6).batch(3).rebatch([2, 0]),
    "rebatch_list_of_equals": lambda s: s.numbers(8).batch(4).rebatch([2, 2]),
    "rebatch_list_of_equals_dropping": lambda s: s.numbers(7).batch(4).rebatch([2, 2], drop_remainder=True),
    "rebatch_pairs": lambda s: s.pairs(5).batch(4).rebatch(2),
    "rebatch_a_dict": lambda s: s.slices({"x": MATRIX}).batch(4).rebatch(3),
    "rebatch_an_endless_one": lambda s: s.numbers(3).batch(2).repeat().rebatch(4),
    "padded_batch": lambda s: s.rows(1, 3, 2).padded_batch(2),
    "padded_batch_to_none": lambda s: s.rows(1, 3, 2).padded_batch(2, padded_shapes=[None]),
    "padded_batch_to_a_length": lambda s: s.rows(1, 3, 2).padded_batch(2, padded_shapes=[5]),
    "padded_batch_with_a_value": lambda s: s.rows(1, 3, 2).padded_batch(2, padding_values=-1),
    "padded_batch_dropping": lambda s: s.rows(1, 3, 2).padded_batch(2, drop_remainder=True),
    "padded_batch_dropping_to_a_length": lambda s: s.rows(1, 3, 2).padded_batch(
        2, padded_shapes=[4], drop_remainder=True
    ),
    "padded_batch_of_equal_rows": lambda s: s.slices(MATRIX).padded_batch(3),
    "padded_batch_of_fixed_rows_to_a_length": lambda s: s.slices(MATRIX).padded_batch(3, padded_shapes=[4]),
    "padded_batch_of_pairs": lambda s: _labelled_rows(s).padded_batch(2),
    "padded_batch_of_pairs_with_shapes": lambda s: _labelled_rows(s).padded_batch(2, padded_shapes=([None], [])),
    "padded_batch_of_pairs_with_values": lambda s: _labelled_rows(s).padded_batch(
        2, padding_values=(np.int32(-1), np.float32(9))
    ),
    "padded_batch_of_dicts": lambda s: _dicts_of_rows(s).padded_batch(
        2, padded_shapes={"ids": [None], "mask": [4]}, padding_values={"ids": np.int32(-1), "mask": np.float32(0)}
    ),
    "padded_batch_of_dicts_with_one_value": lambda s: _dicts_of_rows(s).padded_batch(
        2, padding_values={"ids": 7, "mask": None}
    ),
    "padded_batch_of_matrices": lambda s: s.generated(
        [np.ones((1, 2), np.float32), np.ones((2, 1), np.float32)], s.spec(None, None, dtype=np.float32)
    ).padded_batch(2),
    "padded_batch_of_str": lambda s: s.generated([["a"], ["b", "c"]], s.spec(None, dtype=np.str_)).padded_batch(2),
    "padded_batch_of_scalars": lambda s: s.numbers(3).padded_batch(2),
    "padded_batch_after_map_and_filter": lambda s: (
        s.rows(1, 3, 2, 4).filter(lambda x: s.length(x) > 1).map(lambda x: x * 2).padded_batch(2)
    ),
    "bucket_by_length": lambda s: _buckets(s),
    "bucket_by_length_dropping": lambda s: _buckets(s, drop_remainder=True),
    "bucket_by_length_padded_to_the_boundary": lambda s: s.rows(1, 2, 3, 4, 1).bucket_by_sequence_length(
        s.length, [3, 5], [2, 2, 2], pad_to_bucket_boundary=True
    ),
    "bucket_by_length_without_padding": lambda s: s.rows(2, 4, 2, 4).bucket_by_sequence_length(
        s.length, [3], [2, 2], no_padding=True
    ),
    "bucket_by_length_with_a_value": lambda s: _buckets(s, padding_values=-1),
    "bucket_by_length_to_a_shape": lambda s: _buckets(s, padded_shapes=[8]),
    "bucket_by_length_of_different_sizes": lambda s: s.rows(1, 1, 6, 1, 4).bucket_by_sequence_length(
        s.length, [3, 5], [3, 2, 1]
    ),
    "bucket_pairs_by_their_second": lambda s: _labelled_rows(s).bucket_by_sequence_length(
        lambda row, n: s.length(row), [2], [2, 2]
    ),
    "group_by_window": lambda s: _by_parity(s, 9, 2),
    "group_by_window_larger_than_the_data": lambda s: _by_parity(s, 5, 10),
    "group_by_window_of_the_keys_size": lambda s: s.range(9).group_by_window(
        lambda x: x % 2, lambda key, window: window.batch(10), window_size_func=lambda key: key + 1
    ),
}
