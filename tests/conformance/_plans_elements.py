"""Plans: one element after another through a function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._plans_sources import Point
from ._space import Space

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


def _collatz(x: Any) -> Any:
    if x % 2 == 0:
        return x // 2
    return 3 * x + 1


def _running_total(total: Any, x: Any) -> Any:
    return total + x, total + x


def _with_options(space: Space) -> Any:
    options = space.data.Options()
    options.deterministic = True
    options.experimental_distribute.auto_shard_policy = space.data.experimental.AutoShardPolicy.OFF
    return space.numbers(4).with_options(options)


def _read_option(space: Space) -> Any:
    options = space.data.Options()
    options.deterministic = False
    return bool(space.numbers(4).with_options(options).map(lambda x: x).options().deterministic)


ELEMENTS = {
    "map_a_vector": lambda s: s.numbers(4).map(lambda x: x * x + 1),
    "map_rows": lambda s: s.slices(MATRIX).map(lambda x: x[::-1] * 2),
    "map_an_index_away": lambda s: s.slices(MATRIX).map(lambda x: x[0] - x[2]),
    "map_adds_an_axis": lambda s: s.numbers(3).map(lambda x: x[None]),
    "map_spreads_a_tuple": lambda s: s.pairs(3).map(lambda x, y: (y, x)),
    "map_to_one_of_two": lambda s: s.pairs(3).map(lambda x, y: y * 2),
    "map_to_a_dict": lambda s: s.pairs(3).map(lambda x, y: {"x": x, "y": {"half": y * 0.5}}),
    "map_a_dict_is_one_argument": lambda s: s.slices({"a": MATRIX, "b": MATRIX}).map(lambda d: d["a"] + d["b"]),
    "map_a_namedtuple_is_one_argument": lambda s: s.slices(Point(MATRIX, MATRIX)).map(lambda p: Point(p.y, p.x * 2)),
    "map_a_nested_tuple": lambda s: s.slices((MATRIX, (MATRIX, MATRIX))).map(lambda a, bc: a + bc[0] + bc[1]),
    "map_to_a_tuple_of_one": lambda s: s.numbers(2).map(lambda x: (x,)),
    "map_to_a_list_gives_a_tuple": lambda s: s.numbers(3).map(lambda x: [x, x + 1]),
    "map_to_a_constant": lambda s: s.numbers(2).map(lambda x: np.float32(7)),
    "map_to_a_python_int": lambda s: s.numbers(2).map(lambda x: 7),
    "map_to_none": lambda s: s.numbers(2).map(lambda x: (x, None)),
    "map_compares": lambda s: s.numbers(4).map(lambda x: x >= 2),
    "map_int64": lambda s: s.range(3).map(lambda x: x * 2),
    "map_int32_divided": lambda s: s.numbers(3).map(lambda x: x / 2),
    "map_uint8_divided": lambda s: s.slices(np.array([0, 51, 255], np.uint8)).map(lambda x: x / 255),
    "map_float64": lambda s: s.slices(np.arange(3) / 2).map(lambda x: x * 2),
    "map_floor_division_and_modulo": lambda s: s.slices(np.array([-7, 7], np.int32)).map(lambda x: (x // 3, x % 3)),
    "map_in_parallel": lambda s: s.numbers(20).map(lambda x: x * 2, num_parallel_calls=4, deterministic=True),
    "map_with_autotune": lambda s: s.numbers(5).map(lambda x: x + 1, num_parallel_calls=s.data.AUTOTUNE),
    "map_with_a_python_if": lambda s: s.numbers(6).map(_collatz),
    "map_after_batch": lambda s: s.numbers(5).batch(2).map(lambda x: x * 10),
    "map_takes_the_batch_dim_away": lambda s: s.numbers(5).batch(2).map(lambda x: x[0]),
    "map_a_full_batch_to_its_front": lambda s: s.slices(MATRIX).batch(2, drop_remainder=True).map(lambda x: x[:1]),
    "map_str_passes_through": lambda s: s.slices((np.array(["a", "b"]), np.float32([1, 2]))).map(
        lambda n, x: (n, x + 1)
    ),
    "map_to_datasets": lambda s: s.range(3).map(lambda x: s.Dataset.from_tensors(x).repeat(2)),
    "filter_odd": lambda s: s.numbers(7).filter(lambda x: x % 2 == 1),
    "filter_int64_stays_int64": lambda s: s.range(7).filter(lambda x: x > 4),
    "filter_all": lambda s: s.numbers(5).filter(lambda x: x < 0),
    "filter_spreads_a_tuple": lambda s: s.pairs(5).filter(lambda x, y: (x > 1) & (y < 35.0)),
    "filter_a_dict": lambda s: s.slices({"x": MATRIX}).filter(lambda d: d["x"][0] > 2.0),
    "filter_batches": lambda s: s.numbers(6).batch(2).filter(lambda x: x[0] != 2),
    "filter_then_batch_dropping": lambda s: s.numbers(9).filter(lambda x: x != 4).batch(3, drop_remainder=True),
    "filter_then_take": lambda s: s.numbers(9).filter(lambda x: x > 2).take(2),
    "filter_then_repeat": lambda s: s.numbers(4).filter(lambda x: x > 2).repeat(3),
    "filter_then_repeat_forever": lambda s: s.numbers(4).filter(lambda x: x > 1).repeat(),
    "take_while": lambda s: s.numbers(9).take_while(lambda x: x < 4),
    "take_while_stops_for_good": lambda s: s.slices(np.array([1, 5, 1], np.int32)).take_while(lambda x: x < 4),
    "take_while_of_pairs": lambda s: s.pairs(5).take_while(lambda x, y: y < 20.0),
    "take_while_ends_an_endless_one": lambda s: s.Dataset.counter().take_while(lambda x: x < 3),
    "scan_a_running_total": lambda s: s.numbers(5).scan(np.int32(10), _running_total),
    "scan_with_a_state_of_two": lambda s: s.numbers(6).scan(
        (np.int32(0), np.int32(1)), lambda f, x: ((f[1], f[0] + f[1]), f[0])
    ),
    "scan_pairs": lambda s: s.pairs(3).scan(np.float32(0), lambda t, xy: (t + xy[1], (xy[0], t))),
    "enumerate": lambda s: s.slices(MATRIX).enumerate(),
    "enumerate_from_five": lambda s: s.numbers(3).enumerate(start=5),
    "enumerate_pairs": lambda s: s.pairs(2).enumerate(),
    "enumerate_after_filter": lambda s: s.numbers(5).filter(lambda x: x > 2).enumerate(),
    "unique": lambda s: s.slices(np.array([3, 1, 3, 2, 1], np.int32)).unique(),
    "unique_str": lambda s: s.slices(np.array(["a", "b", "a"])).unique(),
    "apply": lambda s: s.numbers(4).apply(lambda d: d.map(lambda x: x + 1).batch(2)),
    "reduce_a_sum": lambda s: s.numbers(5).reduce(np.int32(0), lambda total, x: total + x),
    "reduce_int64": lambda s: s.range(5).reduce(np.int64(0), lambda total, x: total + x),
    "reduce_nothing": lambda s: s.numbers(0).reduce(np.int32(3), lambda total, x: total + x),
    "reduce_pairs": lambda s: s.pairs(4).reduce(np.float32(1), lambda t, xy: t + xy[1]),
    "reduce_to_a_tuple": lambda s: s.numbers(5).reduce(
        (np.int32(0), np.int32(1)), lambda t, x: (t[0] + x, t[1] * (x + 1))
    ),
    "reduce_a_dict": lambda s: s.slices({"a": MATRIX}).reduce(
        {"sum": np.zeros(3, np.float32)}, lambda t, d: {"sum": t["sum"] + d["a"]}
    ),
    "single_element": lambda s: s.Dataset.from_tensors(MATRIX).get_single_element(),
    "with_options": _with_options,
    "with_options_remembers": _read_option,
    "options_keep_the_elements_of_a_map": lambda s: s.numbers(4).with_options(s.data.Options()).map(lambda x: x + 1),
    "numpy_iterator": lambda s: [int(x) for x in s.numbers(3).as_numpy_iterator()],
    "next_of_an_iterator": lambda s: int(next(iter(s.numbers(3).skip(1)))),
    "constants": lambda s: [
        s.data.AUTOTUNE,
        s.data.INFINITE_CARDINALITY,
        s.data.UNKNOWN_CARDINALITY,
        s.data.experimental.AUTOTUNE,
        s.data.experimental.INFINITE_CARDINALITY,
        s.data.experimental.UNKNOWN_CARDINALITY,
    ],
    "cardinality_from_experimental": lambda s: int(s.data.experimental.cardinality(s.numbers(5).batch(2))),
    "cardinality_asserted": lambda s: (
        s.numbers(5).filter(lambda x: x > 1).apply(s.data.experimental.assert_cardinality(3))
    ),
    "cardinality_asserted_as_infinite": lambda s: (
        s.numbers(5)
        .filter(lambda x: x > 1)
        .repeat()
        .apply(s.data.experimental.assert_cardinality(s.data.INFINITE_CARDINALITY))
    ),
    "cardinality_asserted_then_batched": lambda s: (
        s.rows(2, 2, 2).apply(s.data.experimental.assert_cardinality(3)).batch(2)
    ),
    "is_true_as_a_condition": lambda s: [bool(s.numbers(0)), bool(s.numbers(3).repeat())],
}
