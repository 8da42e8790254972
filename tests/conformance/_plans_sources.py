"""Plans: where elements come from."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from ._space import Space

Point = namedtuple("Point", "x y")

A = np.arange(12, dtype=np.int32).reshape(4, 3)
F = np.array([0.5, 1.5, -2.25, 1e-3], np.float32)


def _counting(space: Space) -> Any:
    def generator(start: Any, stop: Any) -> Any:
        yield from (np.int64(i) for i in range(start, stop))

    return space.Dataset.from_generator(generator, args=(2, 6), output_signature=space.spec(dtype=np.int64))


def _saved_and_loaded(space: Space) -> Any:
    space.pairs(5).save(str(space.folder / "saved"))
    return space.Dataset.load(str(space.folder / "saved"))


def _listed(space: Space) -> Any:
    for name in ("b.txt", "a.txt", "c.csv"):
        (space.folder / name).write_text(name)
    return space.Dataset.list_files(str(space.folder / "*.txt"), shuffle=False).map(lambda _: np.int32(1))


SOURCES = {
    "slices_of_a_vector": lambda s: s.slices(np.array([3, 1, 2], np.int32)),
    "slices_of_a_matrix": lambda s: s.slices(A),
    "slices_of_int64": lambda s: s.slices(np.arange(3)),
    "slices_of_float64": lambda s: s.slices(np.arange(3) / 2),
    "slices_of_float32": lambda s: s.slices(F),
    "slices_of_float16": lambda s: s.slices(F.astype(np.float16)),
    "slices_of_uint8": lambda s: s.slices(np.array([[0, 255], [7, 8]], np.uint8)),
    "slices_of_bool": lambda s: s.slices(np.array([True, False])),
    "slices_of_a_list_of_ints": lambda s: s.slices([1, 2, 3]),
    "slices_of_a_list_of_floats": lambda s: s.slices([1.5, 2.5]),
    "slices_of_nested_lists": lambda s: s.slices([[1, 2], [3, 4], [5, 6]]),
    "slices_of_a_tuple": lambda s: s.slices((A, F)),
    "slices_of_a_tuple_of_one": lambda s: s.slices((A,)),
    "slices_of_a_dict": lambda s: s.slices({"b": A, "a": F}),
    "slices_of_a_nest": lambda s: s.slices(({"image": A, "extra": (F, F * 2)}, F)),
    "slices_of_a_namedtuple": lambda s: s.slices(Point(A, F)),
    "slices_of_a_namedtuple_in_a_dict": lambda s: s.slices({"p": Point(F, A)}),
    "slices_of_str": lambda s: s.slices(np.array(["ada", "é", ""])),
    "slices_of_bytes": lambda s: s.slices(np.array([b"ada", b"bo"])),
    "slices_of_a_list_of_str": lambda s: s.slices(["x", "yz"]),
    "slices_of_str_and_numbers": lambda s: s.slices((np.array(["a", "b", "c", "d"]), F)),
    "slices_of_no_rows": lambda s: s.slices(np.zeros((0, 2), np.float32)),
    "slices_with_an_empty_dim": lambda s: s.slices(np.zeros((2, 0), np.float32)),
    "tensors_of_a_matrix": lambda s: s.Dataset.from_tensors(A),
    "tensors_of_a_scalar": lambda s: s.Dataset.from_tensors(np.float32(2.5)),
    "tensors_of_a_tuple_of_unequal_lengths": lambda s: s.Dataset.from_tensors((A, F[:2])),
    "tensors_of_a_dict_repeated": lambda s: s.Dataset.from_tensors({"x": F}).repeat(2),
    "tensors_of_a_str": lambda s: s.Dataset.from_tensors("ada"),
    "generator_of_scalars": lambda s: s.generated([1, 2, 3], s.spec()),
    "generator_of_float_scalars": lambda s: s.generated([1.5, 2.5], s.spec(dtype=np.float32)),
    "generator_of_rows_of_unequal_length": lambda s: s.rows(1, 3, 0, 2),
    "generator_of_a_fixed_shape": lambda s: s.generated([A[0], A[1]], s.spec(3)),
    "generator_of_tuples": lambda s: s.generated([(A[0], 0.5), (A[1], 1.5)], (s.spec(3), s.spec(dtype=np.float32))),
    "generator_of_dicts": lambda s: s.generated(
        [{"x": A[0], "y": 1}, {"x": A[1], "y": 2}], {"x": s.spec(3), "y": s.spec()}
    ),
    "generator_of_lists_becomes_arrays": lambda s: s.generated([[1, 2], [3]], s.spec(None)),
    "generator_of_nothing": lambda s: s.generated([], s.spec(2)),
    "generator_casts_ints_to_float": lambda s: s.generated([1, 2], s.spec(dtype=np.float32)),
    "generator_with_args": _counting,
    "generator_with_two_open_dims": lambda s: s.generated(
        [np.ones((1, 2), np.float32), np.ones((2, 1), np.float32)], s.spec(None, None, dtype=np.float32)
    ),
    "generator_batched": lambda s: s.generated([1, 2, 3], s.spec()).batch(2),
    "range_of_one_argument": lambda s: s.range(5),
    "range_of_two_arguments": lambda s: s.range(2, 6),
    "range_of_three_arguments": lambda s: s.range(1, 10, 3),
    "range_of_a_negative_step": lambda s: s.range(5, 0, -2),
    "range_of_nothing": lambda s: s.range(3, 3),
    "range_in_the_wrong_direction": lambda s: s.range(5, 0),
    "range_of_a_negative_stop": lambda s: s.range(-3),
    "range_of_int32": lambda s: s.Dataset.range(3, output_type=np.int32),
    "range_of_float32": lambda s: s.Dataset.range(1, 4, output_type=np.float32),
    "counter": lambda s: s.Dataset.counter().take(3),
    "counter_from_ten_by_minus_two": lambda s: s.Dataset.counter(10, -2).take(3),
    "counter_is_infinite": lambda s: s.Dataset.counter(),
    "random_with_a_seed_repeats": lambda s: len(
        {tuple(int(x) for x in s.Dataset.random(seed=3).take(4)) for _ in range(2)}
    ),
    "saved_and_loaded": _saved_and_loaded,
    "files_listed": _listed,
}
