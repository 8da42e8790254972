"""Plans: datasets inside a dataset."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._space import Space

MATRIX = np.arange(12, dtype=np.float32).reshape(6, 2)


def _windows(space: Space, num: int, *arguments: Any, **more: Any) -> Any:
    return space.range(num).window(*arguments, **more)


def _triangle(space: Space, **arguments: Any) -> Any:
    """Inner datasets of 1, 2, 3, 4 elements: 1 22 333 4444."""
    return space.range(1, 5).interleave(lambda x: space.Dataset.from_tensors(x).repeat(x), **arguments)


NESTED = {
    "window": lambda s: _windows(s, 7, 3),
    "window_dropping_the_remainder": lambda s: _windows(s, 7, 3, drop_remainder=True),
    "window_shifted_by_one": lambda s: _windows(s, 5, 3, shift=1),
    "window_shifted_by_one_dropping": lambda s: _windows(s, 5, 3, shift=1, drop_remainder=True),
    "window_with_a_stride": lambda s: _windows(s, 7, 3, shift=1, stride=2),
    "window_with_a_stride_dropping": lambda s: _windows(s, 7, 3, shift=1, stride=2, drop_remainder=True),
    "window_with_a_gap": lambda s: _windows(s, 10, 2, shift=4),
    "window_with_shift_and_stride": lambda s: _windows(s, 10, 2, 3, 2),
    "window_larger_than_the_data": lambda s: _windows(s, 3, 5),
    "window_larger_than_the_data_dropped": lambda s: _windows(s, 3, 5, drop_remainder=True),
    "window_of_pairs": lambda s: s.pairs(4).window(2),
    "window_of_dicts": lambda s: s.slices({"a": MATRIX, "b": MATRIX[:, 0]}).window(4),
    "window_of_an_endless_one": lambda s: s.numbers(3).repeat().window(2).take(2),
    "window_of_an_unknown_number": lambda s: s.rows(1, 1, 1).window(2),
    "window_batched": lambda s: _windows(s, 7, 3).flat_map(lambda w: w.batch(3)),
    "window_batched_dropping": lambda s: _windows(s, 7, 3, shift=2).flat_map(lambda w: w.batch(3, drop_remainder=True)),
    "window_of_rows_batched": lambda s: (
        s.slices(MATRIX).window(3, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    ),
    "window_of_pairs_zipped": lambda s: (
        s.pairs(5)
        .window(3, shift=1, drop_remainder=True)
        .flat_map(lambda x, y: s.Dataset.zip((x.batch(3), y.batch(3))))
    ),
    "window_of_dicts_zipped": lambda s: (
        s.slices({"a": MATRIX, "b": MATRIX[:, 0]})
        .window(4, shift=2)
        .flat_map(lambda d: s.Dataset.zip({"a": d["a"].batch(4), "b": d["b"].batch(4)}))
    ),
    "window_mapped_inside": lambda s: s.numbers(4).window(2).flat_map(lambda w: w.map(lambda x: x * 10)),
    "window_skipped_and_taken_inside": lambda s: _windows(s, 9, 4).flat_map(lambda w: w.skip(1).take(2)),
    "window_interleaved": lambda s: _windows(s, 8, 3).interleave(lambda w: w, cycle_length=2),
    "window_of_batches": lambda s: s.range(8).batch(2).window(2).flat_map(lambda w: w.batch(2)),
    "window_reduced_inside": lambda s: s.numbers(6).window(2).map(lambda w: w.reduce(np.int32(0), lambda t, x: t + x)),
    "flat_map_slices": lambda s: s.slices(MATRIX).flat_map(lambda row: s.Dataset.from_tensor_slices(row)),
    "flat_map_repeats": lambda s: s.range(4).flat_map(lambda x: s.Dataset.from_tensors(x).repeat(x)),
    "flat_map_ranges": lambda s: s.range(4).flat_map(lambda x: s.Dataset.range(x)),
    "flat_map_of_pairs": lambda s: s.pairs(2).flat_map(lambda x, y: s.Dataset.from_tensors((y, x)).repeat(2)),
    "flat_map_to_dicts": lambda s: s.numbers(2).flat_map(lambda x: s.Dataset.from_tensors({"x": x, "y": x * 2})),
    "flat_map_to_nothing": lambda s: s.range(3).flat_map(lambda x: s.Dataset.from_tensors(x).take(0)),
    "flat_map_to_batches": lambda s: s.range(3).flat_map(lambda x: s.Dataset.range(x + 1).batch(2)),
    "flat_map_of_flat_map": lambda s: s.range(1, 4).flat_map(
        lambda x: s.Dataset.range(x).flat_map(lambda y: s.Dataset.from_tensors(y).repeat(2))
    ),
    "interleave_cycle_one": lambda s: _triangle(s, cycle_length=1),
    "interleave_cycle_two": lambda s: _triangle(s, cycle_length=2),
    "interleave_cycle_two_block_two": lambda s: _triangle(s, cycle_length=2, block_length=2),
    "interleave_cycle_three_block_three": lambda s: _triangle(s, cycle_length=3, block_length=3),
    "interleave_cycle_larger_than_the_data": lambda s: _triangle(s, cycle_length=9),
    "interleave_longest_first": lambda s: s.range(4, 0, -1).interleave(
        lambda x: s.Dataset.from_tensors(x).repeat(x), cycle_length=2, block_length=1
    ),
    "interleave_cycle_three_block_two": lambda s: _triangle(s, cycle_length=3, block_length=2),
    "interleave_in_parallel": lambda s: _triangle(s, cycle_length=2, num_parallel_calls=2, deterministic=True),
    "interleave_in_parallel_block_two": lambda s: _triangle(
        s, cycle_length=3, block_length=2, num_parallel_calls=s.data.AUTOTUNE, deterministic=True
    ),
    "interleave_some_empty": lambda s: s.range(4).interleave(lambda x: s.Dataset.range(x % 2 * 3), cycle_length=2),
    "interleave_some_empty_in_parallel": lambda s: s.range(4).interleave(
        lambda x: s.Dataset.range(x % 2 * 3), cycle_length=2, num_parallel_calls=2, deterministic=True
    ),
    "interleave_pairs": lambda s: s.pairs(3).interleave(
        lambda x, y: s.Dataset.from_tensors((x, y)).repeat(2), cycle_length=2
    ),
    "interleave_batches": lambda s: s.range(2, 5).interleave(lambda x: s.Dataset.range(x).batch(2), cycle_length=2),
    "interleave_endless_inner_ones": lambda s: (
        s.range(3).interleave(lambda x: s.Dataset.from_tensors(x).repeat(), cycle_length=2).take(7)
    ),
    "interleave_nothing": lambda s: s.range(0).interleave(lambda x: s.Dataset.range(x), cycle_length=2),
    "interleave_with_the_default_cycle": lambda s: s.range(3).interleave(lambda x: s.Dataset.from_tensors(x)),
}
