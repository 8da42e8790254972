"""How a strategy splits batches over replicas: the table, and the observer of one of its cells.

GRID is `range(num_rows).batch(global_batch_size)` in every small combination, seen as the rows of each replica in each
step. CASES are nests, other ways to build a batch, datasets made per replica, and what an iterator says at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from ._observe import encoded
from ._space import Space

MOST_STEPS = 12
MATRIX = np.arange(15, dtype=np.float32).reshape(5, 3)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One line of the grid."""

    num_rows: int
    global_batch_size: int
    num_replicas: int
    drop_remainder: bool

    @property
    def name(self) -> str:
        drop = "_dropping" if self.drop_remainder else ""
        return f"range_{self.num_rows}_batch_{self.global_batch_size}{drop}_on_{self.num_replicas}"

    def dataset(self, space: Space) -> Any:
        return space.range(self.num_rows).batch(self.global_batch_size, drop_remainder=self.drop_remainder)


GRID = {
    cell.name: cell
    for cell in (
        Cell(num_rows=n, global_batch_size=b, num_replicas=k, drop_remainder=drop)
        for k, n, drop, b in product((2, 3, 4), (5, 6, 9), (False, True), range(1, 10))
    )
}


def rows_of_steps(distributed: Any) -> list[Any]:
    """For each step, for each replica: its rows. The dtype is not looked at: JAX makes int32 of range's int64."""
    return [[np.asarray(value).tolist() for value in per_replica(step)] for step in islice(distributed, MOST_STEPS)]


def per_replica(leaf: Any) -> list[Any]:
    return list(leaf.values) if hasattr(leaf, "values") else [leaf]


@dataclass(frozen=True)
class Case:
    """A dataset for each strategy, distributed; `observe` is what to look at."""

    num_replicas: int
    distribute: Callable[[Space, Any], Any]
    observe: Callable[[Any], Any]


def steps(distributed: Any) -> dict[str, Any]:
    """The spec, and every step with the shapes and dtypes of its parts."""
    seen = [_encoded_step(step) for step in islice(distributed, MOST_STEPS)]
    return {"spec": spec_text(distributed.element_spec), "steps": seen}


def _encoded_step(nest: Any) -> Any:
    match nest:
        case dict():
            return {"dict": {key: _encoded_step(nest[key]) for key in sorted(nest)}}
        case tuple() | list():
            return {type(nest).__name__: [_encoded_step(child) for child in nest]}
    return {"PerReplica": [encoded(value) for value in per_replica(nest)]}


def spec_text(spec: Any) -> str:
    """TensorFlow writes tf.int64 and name=None where we write int64 and nothing."""
    return str(spec).replace("tf.", "").replace(", name=None", "")


def optionals(distributed: Any) -> list[Any]:
    """What five calls of get_next_as_optional give: the rows, or None where there is no value."""
    iterator, seen = iter(distributed), []
    for _ in range(5):
        optional = iterator.get_next_as_optional()
        seen.append(_encoded_step(optional.get_value()) if bool(optional.has_value()) else None)
    return seen


def end(distributed: Any) -> dict[str, str]:
    """How `next` and `get_next` say that there is no more."""
    seen = {}
    for name in ("next", "get_next"):
        iterator = iter(distributed)
        try:
            for _ in range(MOST_STEPS):
                next(iterator) if name == "next" else iterator.get_next()
            seen[name] = "no end"
        except Exception as error:
            seen[name] = type(error).__name__
    return seen


def fact(value: Any) -> Any:
    return encoded(value)


def _split(dataset: Callable[[Space], Any]) -> Callable[[Space, Any], Any]:
    return lambda space, strategy: strategy.experimental_distribute_dataset(dataset(space))


def _from_function(dataset: Callable[[Space, Any], Any]) -> Callable[[Space, Any], Any]:
    return lambda space, strategy: strategy.distribute_datasets_from_function(lambda context: dataset(space, context))


def _context(space: Space, strategy: Any) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def dataset(context: Any) -> Any:
        seen["num_input_pipelines"] = context.num_input_pipelines
        seen["input_pipeline_id"] = context.input_pipeline_id
        seen["num_replicas_in_sync"] = context.num_replicas_in_sync
        seen["per_replica_of_8"] = context.get_per_replica_batch_size(8)
        seen["calls"] = seen.get("calls", 0) + 1
        return space.numbers(4).batch(2)

    strategy.distribute_datasets_from_function(dataset)
    return seen


def _uneven_batch_size(space: Space, strategy: Any) -> Any:
    return strategy.distribute_datasets_from_function(
        lambda context: space.numbers(4).batch(context.get_per_replica_batch_size(5))
    )


def _values_from_function(space: Space, strategy: Any) -> Any:
    distributed = strategy.experimental_distribute_values_from_function(
        lambda context: np.int32(context.replica_id_in_sync_group * 10 + context.num_replicas_in_sync)
    )
    return [np.asarray(value) for value in per_replica(distributed)]


def _two_passes(distributed: Any) -> list[Any]:
    return [rows_of_steps(distributed), rows_of_steps(distributed)]


def _length(distributed: Any) -> Any:
    return {"has_len": hasattr(distributed, "__len__"), "cardinality": int(distributed.cardinality)}


CASES = {
    "matrix_batch_4": Case(2, _split(lambda s: s.slices(MATRIX).batch(4)), steps),
    "matrix_batch_4_on_4": Case(4, _split(lambda s: s.slices(MATRIX).batch(4)), steps),
    "matrix_batch_4_dropping": Case(2, _split(lambda s: s.slices(MATRIX).batch(4, drop_remainder=True)), steps),
    "matrix_batch_5_dropping": Case(2, _split(lambda s: s.slices(MATRIX).batch(5, drop_remainder=True)), steps),
    "pairs_batch_4": Case(2, _split(lambda s: s.pairs(5).batch(4)), steps),
    "dicts_batch_3": Case(2, _split(lambda s: s.slices({"x": MATRIX, "y": MATRIX[:, 0]}).batch(3)), steps),
    "nest_batch_3": Case(2, _split(lambda s: s.slices((MATRIX, {"y": MATRIX[:, 0]})).batch(3)), steps),
    "str_batch_3": Case(2, _split(lambda s: s.slices(np.array(["a", "b", "c"])).batch(3)), steps),
    "batch_then_map": Case(2, _split(lambda s: s.numbers(6).batch(4).map(lambda x: x * 2)), steps),
    "batch_then_repeat": Case(2, _split(lambda s: s.numbers(3).batch(2).repeat(2)), steps),
    "repeat_then_batch": Case(2, _split(lambda s: s.numbers(3).repeat(2).batch(4)), steps),
    "batch_then_take": Case(2, _split(lambda s: s.numbers(9).batch(4).take(2)), steps),
    "batch_then_prefetch": Case(2, _split(lambda s: s.numbers(5).batch(4).prefetch(2)), steps),
    "batch_of_batches": Case(2, _split(lambda s: s.numbers(9).batch(2).batch(2)), steps),
    "batch_then_unbatch_then_batch": Case(2, _split(lambda s: s.numbers(6).batch(3).unbatch().batch(4)), steps),
    "batches_of_two_sizes": Case(2, _split(lambda s: s.numbers(4).batch(4).concatenate(s.numbers(6).batch(6))), steps),
    "batches_from_a_generator": Case(2, _split(lambda s: s.rows(4, 3, 1, 2)), steps),
    "padded_batch": Case(2, _split(lambda s: s.rows(1, 3, 2).padded_batch(2)), steps),
    "bucketed": Case(2, _split(lambda s: s.rows(1, 4, 2, 5).bucket_by_sequence_length(s.length, [3], [2, 2])), steps),
    "filtered_batches": Case(2, _split(lambda s: s.numbers(9).batch(3).filter(lambda x: x[0] != 3)), steps),
    "full_batches_from_tensors": Case(2, _split(lambda s: s.Dataset.from_tensors(MATRIX).repeat(2)), steps),
    "rows_without_batch": Case(2, _split(lambda s: s.slices(MATRIX)), steps),
    "scalars_without_batch": Case(2, _split(lambda s: s.numbers(4)), steps),
    "no_rows": Case(2, _split(lambda s: s.numbers(0).batch(4)), steps),
    "endless": Case(2, _split(lambda s: s.numbers(3).repeat().batch(4)), steps),
    "endless_dropping": Case(2, _split(lambda s: s.numbers(3).repeat().batch(4, drop_remainder=True)), steps),
    "one_replica": Case(1, _split(lambda s: s.numbers(5).batch(4)), steps),
    "one_replica_of_pairs": Case(1, _split(lambda s: s.pairs(3).batch(2)), steps),
    "two_passes": Case(2, _split(lambda s: s.numbers(5).batch(4)), _two_passes),
    "shuffled_rows_all_come": Case(
        2,
        _split(lambda s: s.numbers(9).shuffle(9).batch(4)),
        lambda d: sorted(x for step in rows_of_steps(d) for rows in step for x in rows),
    ),
    "optional_of_full_steps": Case(2, _split(lambda s: s.numbers(8).batch(4)), optionals),
    "optional_of_a_short_last_step": Case(2, _split(lambda s: s.numbers(5).batch(4)), optionals),
    "optional_of_full_batches": Case(2, _split(lambda s: s.numbers(8).batch(4, drop_remainder=True)), optionals),
    "optional_on_one_replica": Case(1, _split(lambda s: s.numbers(3).batch(2)), optionals),
    "end": Case(2, _split(lambda s: s.numbers(5).batch(4)), end),
    "end_of_full_batches": Case(2, _split(lambda s: s.numbers(8).batch(4, drop_remainder=True)), end),
    "length": Case(2, _split(lambda s: s.numbers(5).batch(4)), _length),
    "length_of_many_small_steps": Case(3, _split(lambda s: s.numbers(9).batch(4)), _length),
    "length_of_an_endless_one": Case(2, _split(lambda s: s.numbers(5).repeat().batch(4)), _length),
    "length_of_an_unknown_number": Case(2, _split(lambda s: s.rows(4, 4)), _length),
    "function_each_element_to_one_replica": Case(2, _from_function(lambda s, c: s.numbers(8).batch(2)), steps),
    "function_with_a_short_end": Case(2, _from_function(lambda s, c: s.numbers(5).batch(2)), steps),
    "function_with_an_odd_number_of_batches": Case(2, _from_function(lambda s, c: s.numbers(6).batch(2)), steps),
    "function_on_3": Case(3, _from_function(lambda s, c: s.numbers(10).batch(2)), steps),
    "function_dropping": Case(2, _from_function(lambda s, c: s.numbers(6).batch(2, drop_remainder=True)), steps),
    "function_with_context": Case(
        2, _from_function(lambda s, c: s.numbers(8).batch(c.get_per_replica_batch_size(4))), steps
    ),
    "function_without_batch": Case(2, _from_function(lambda s, c: s.numbers(5)), steps),
    "function_of_pairs": Case(2, _from_function(lambda s, c: s.pairs(5).batch(2)), steps),
    "function_on_one_replica": Case(1, _from_function(lambda s, c: s.numbers(5).batch(2)), steps),
    "function_optional": Case(2, _from_function(lambda s, c: s.numbers(5).batch(2)), optionals),
    "function_optional_of_fixed_shapes": Case(2, _from_function(lambda s, c: s.slices(MATRIX)), optionals),
    "function_of_fixed_shapes": Case(2, _from_function(lambda s, c: s.slices(MATRIX)), steps),
    "function_length": Case(2, _from_function(lambda s, c: s.numbers(8).batch(2)), _length),
    "function_uneven_batch_size": Case(2, _uneven_batch_size, steps),
    "function_context": Case(2, _context, fact),
    "values_from_function": Case(3, _values_from_function, fact),
}


def observe_case(case: Case, space: Space, strategy: Any) -> Any:
    """What there is to see, or when it fails."""
    try:
        distributed = case.distribute(space, strategy)
    except AttributeError:  # there is no such method: not a refusal
        raise
    except Exception:
        return {"error": "construction"}
    try:
        return case.observe(distributed)
    except Exception:
        return {"error": "iteration"}
