"""Plans: several datasets made into one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._plans_sources import Point
from ._space import Space


def _three(space: Space) -> list[Any]:
    return [space.range(n * 10, n * 10 + n) for n in (1, 2, 3)]


def _choices(space: Space, *choices: int) -> Any:
    return space.slices(np.array(choices, np.int64))


def _chosen(space: Space, *choices: int, **arguments: Any) -> Any:
    return space.Dataset.choose_from_datasets(_three(space), _choices(space, *choices), **arguments)


def _sampled(space: Space, weights: Any = None, **arguments: Any) -> Any:
    return space.Dataset.sample_from_datasets(_three(space), weights, **arguments)


def _sampled_values(space: Space, seed: int, **arguments: Any) -> Any:
    endless = [space.Dataset.from_tensors(np.int32(n)).repeat() for n in range(3)]
    return space.Dataset.sample_from_datasets(endless, seed=seed, **arguments).take(60)


def _order_is_kept_within_each(space: Space) -> bool:
    taken = [int(x) for x in _sampled(space, seed=5)]
    return all([x for x in taken if x // 10 == n] == sorted(x for x in taken if x // 10 == n) for n in (1, 2, 3))


def _passes_are_equal(space: Space, rerandomize: bool | None) -> bool:
    dataset = _sampled_values(space, seed=5, rerandomize_each_iteration=rerandomize)
    first, second = ([int(x) for x in dataset] for _ in range(2))
    return first == second


def _weights_are_respected(space: Space) -> bool:
    ones, twos = (space.Dataset.from_tensors(np.int32(n)).repeat() for n in (1, 2))
    taken = [int(x) for x in space.Dataset.sample_from_datasets([ones, twos], [0.9, 0.1], seed=1).take(400)]
    return 320 < taken.count(1) < 395


SEVERAL = {
    "zip_a_tuple": lambda s: s.Dataset.zip((s.range(3), s.range(3, 6))),
    "zip_arguments": lambda s: s.Dataset.zip(s.range(3), s.range(3, 6)),
    "zip_one_argument": lambda s: s.Dataset.zip(s.range(3)),
    "zip_a_tuple_of_one": lambda s: s.Dataset.zip((s.range(3),)),
    "zip_a_dict": lambda s: s.Dataset.zip({"b": s.range(3), "a": s.pairs(3)}),
    "zip_a_nest": lambda s: s.Dataset.zip((s.range(2), (s.range(2, 4), {"x": s.numbers(2)}))),
    "zip_a_namedtuple": lambda s: s.Dataset.zip(Point(s.range(2), s.numbers(2))),
    "zip_unequal_lengths": lambda s: s.Dataset.zip(s.range(5), s.range(2), s.range(3)),
    "zip_with_an_endless_one": lambda s: s.Dataset.zip((s.range(2), s.range(3).repeat())),
    "zip_endless_ones": lambda s: s.Dataset.zip((s.range(2).repeat(), s.range(3).repeat())),
    "zip_with_an_unknown_number": lambda s: s.Dataset.zip((s.range(2), s.rows(1, 2, 3))),
    "zip_an_endless_and_an_unknown_one": lambda s: s.Dataset.zip((s.range(2).repeat(), s.rows(1, 2))),
    "zip_with_itself": lambda s: (lambda d: s.Dataset.zip((d, d.skip(1))))(s.numbers(4)),
    "zip_then_map": lambda s: s.Dataset.zip(s.numbers(3), s.pairs(3)).map(lambda a, bc: a + bc[0]),
    "zip_batches": lambda s: s.Dataset.zip(s.range(5).batch(2), s.range(5).batch(2, drop_remainder=True)),
    "concatenate": lambda s: s.range(2).concatenate(s.range(5, 8)),
    "concatenate_with_itself": lambda s: (lambda d: d.concatenate(d))(s.numbers(2)),
    "concatenate_with_nothing": lambda s: s.range(2).concatenate(s.range(0)),
    "concatenate_batches": lambda s: s.range(3).batch(2).concatenate(s.range(2).batch(2, drop_remainder=True)),
    "concatenate_full_batches_of_two_sizes": lambda s: (
        s.range(4).batch(2, drop_remainder=True).concatenate(s.range(3).batch(3, drop_remainder=True))
    ),
    "concatenate_pairs": lambda s: s.pairs(1).concatenate(s.pairs(2)),
    "concatenate_with_an_endless_one": lambda s: s.range(2).concatenate(s.range(2).repeat()),
    "concatenate_after_an_endless_one": lambda s: s.range(2).repeat().concatenate(s.range(5)),
    "concatenate_with_an_unknown_number": lambda s: s.rows(1).concatenate(s.slices(np.ones((2, 2), np.int32))),
    "concatenate_then_shard": lambda s: s.range(3).concatenate(s.range(10, 13)).shard(2, 1),
    "choose": lambda s: _chosen(s, 0, 1, 2, 2, 1, 2),
    "choose_stops_at_the_first_empty": lambda s: _chosen(s, 2, 0, 0, 1, 1, 2),
    "choose_continues_past_the_empty": lambda s: _chosen(s, 2, 0, 0, 1, 1, 1, 2, 2, 2, stop_on_empty_dataset=False),
    "choose_stops_with_the_choices": lambda s: _chosen(s, 2, 1),
    "choose_all_and_has_choices_left": lambda s: _chosen(s, 0, 1, 1, 2, 2, 2, 0, stop_on_empty_dataset=False),
    "choose_by_an_endless_one": lambda s: s.Dataset.choose_from_datasets(_three(s), s.range(3).repeat()),
    "choose_by_an_endless_one_not_stopping": lambda s: s.Dataset.choose_from_datasets(
        _three(s), s.range(3).repeat(), stop_on_empty_dataset=False
    ),
    "choose_from_endless_ones": lambda s: s.Dataset.choose_from_datasets(
        [d.repeat() for d in _three(s)], _choices(s, 2, 2, 2, 2, 0)
    ),
    "choose_of_pairs": lambda s: s.Dataset.choose_from_datasets([s.pairs(2), s.pairs(3)], _choices(s, 1, 0, 1)),
    "choose_of_one": lambda s: s.Dataset.choose_from_datasets([s.range(3)], _choices(s, 0, 0)),
    "sample_all_of_the_first": lambda s: _sampled(s, [1.0, 0.0, 0.0], seed=1),
    "sample_all_of_the_first_and_stop": lambda s: _sampled(s, [1.0, 0.0, 0.0], seed=1, stop_on_empty_dataset=True),
    "sample_all_of_the_last_and_stop": lambda s: _sampled(s, [0.0, 0.0, 1.0], seed=1, stop_on_empty_dataset=True),
    "sample_everything_in_the_end": lambda s: [sorted(int(x) for x in _sampled(s, seed=1))],
    "sample_everything_with_weights": lambda s: [sorted(int(x) for x in _sampled(s, [0.6, 0.3, 0.1], seed=1))],
    "sample_leaves_out_those_of_no_weight": lambda s: [sorted(int(x) for x in _sampled(s, [1.0, 1.0, 0.0], seed=1))],
    "sample_of_one": lambda s: s.Dataset.sample_from_datasets([s.range(3)]),
    "sample_cardinality": lambda s: int(_sampled(s, seed=1).cardinality()),
    "sample_cardinality_when_stopping": lambda s: int(_sampled(s, seed=1, stop_on_empty_dataset=True).cardinality()),
    "sample_cardinality_of_endless_ones": lambda s: int(
        s.Dataset.sample_from_datasets([d.repeat() for d in _three(s)], seed=1).cardinality()
    ),
    "sample_cardinality_with_one_endless_one": lambda s: int(
        s.Dataset.sample_from_datasets([s.range(2), s.range(2).repeat()], seed=1).cardinality()
    ),
    "sample_cardinality_with_one_endless_one_when_stopping": lambda s: int(
        s.Dataset.sample_from_datasets(
            [s.range(2), s.range(2).repeat()], seed=1, stop_on_empty_dataset=True
        ).cardinality()
    ),
    "sample_keeps_the_order_within_each": _order_is_kept_within_each,
    "sample_takes_the_weights_as_odds": _weights_are_respected,
    "sample_with_a_dataset_of_weights": lambda s: s.Dataset.sample_from_datasets(
        _three(s), s.Dataset.from_tensors([0.0, 1.0, 0.0]).repeat(), stop_on_empty_dataset=True
    ),
    "sample_repeats_with_a_seed": lambda s: _passes_are_equal(s, None),
    "sample_repeats_without_rerandomize": lambda s: _passes_are_equal(s, False),
    "sample_differs_with_rerandomize": lambda s: _passes_are_equal(s, True),
    "sample_weights_need_not_sum_to_one": lambda s: _sampled(s, [0.0, 5.0, 0.0], stop_on_empty_dataset=True),
}
