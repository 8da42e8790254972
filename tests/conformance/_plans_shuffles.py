"""Plans: shuffles, as facts that hold for every random order."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from ._space import Space

NUM = 24
ALL = list(range(NUM))


def _pass(dataset: Any) -> list[int]:
    return [int(x) for x in dataset]


def _shuffled(space: Space, buffer_size: int = NUM, **arguments: Any) -> Any:
    return space.range(NUM).shuffle(buffer_size, **arguments)


def _halves(dataset: Any) -> dict[str, bool]:
    taken = _pass(dataset)
    first, second = taken[:NUM], taken[NUM:]
    return {"first": sorted(first) == ALL, "second": sorted(second) == ALL, "equal": first == second}


def _two_passes(dataset: Any) -> dict[str, bool]:
    first, second = _pass(dataset), _pass(dataset)
    return {
        "equal": first == second,
        "in_order": first == sorted(first),
        "permutations": sorted(first) == sorted(second),
    }


def _from_the_buffer(taken: list[int], buffer_size: int) -> bool:
    """Whether no element comes before the buffer has reached it."""
    return all(x < position + buffer_size for position, x in enumerate(taken))


def _interleaved_iterators(space: Space) -> bool:
    dataset = _shuffled(space)
    pairs = [(int(a), int(b)) for a, b in zip(dataset, dataset, strict=True)]
    return all(a == b for a, b in pairs)


def _disjoint_shards(space: Space) -> list[int]:
    shards = [_pass(_shuffled(space, seed=4, reshuffle_each_iteration=False).shard(3, index)) for index in range(3)]
    return sorted(x for shard in shards for x in shard)


def _batches(space: Space) -> Any:
    dataset = space.numbers(NUM).shuffle(NUM, seed=2).batch(10)
    batches = [np.asarray(batch) for batch in dataset]
    return {"sizes": [len(b) for b in batches], "rows": sorted(int(x) for b in batches for x in b)}


def _shuffled_batches(space: Space) -> Any:
    batches = [np.asarray(batch).tolist() for batch in space.range(10).batch(4).shuffle(10)]
    return sorted(batches)


def _enumerated(space: Space) -> dict[str, bool]:
    taken = [(int(i), int(x)) for i, x in _shuffled(space, seed=1).enumerate()]
    return {"counted": [i for i, _ in taken] == ALL, "permuted": sorted(x for _, x in taken) == ALL}


def _with_itself(space: Space) -> bool:
    dataset = _shuffled(space, seed=1, reshuffle_each_iteration=False)
    return all(int(a) == int(b) for a, b in space.Dataset.zip((dataset, dataset)))


SHUFFLES = {
    "shuffle_is_a_permutation": lambda s: sorted(_pass(_shuffled(s))),
    "shuffle_passes_differ": lambda s: _two_passes(_shuffled(s)),
    "shuffle_passes_differ_with_a_seed": lambda s: _two_passes(_shuffled(s, seed=7)),
    "shuffle_passes_repeat_without_reshuffling": lambda s: _two_passes(_shuffled(s, reshuffle_each_iteration=False)),
    "shuffle_passes_repeat_with_a_seed": lambda s: _two_passes(_shuffled(s, seed=7, reshuffle_each_iteration=False)),
    "shuffle_with_a_seed_is_the_same_elsewhere": lambda s: _pass(_shuffled(s, seed=7)) == _pass(_shuffled(s, seed=7)),
    "shuffle_of_other_seeds_differs": lambda s: _pass(_shuffled(s, seed=7)) == _pass(_shuffled(s, seed=8)),
    "shuffle_without_a_seed_differs_elsewhere": lambda s: _pass(_shuffled(s)) == _pass(_shuffled(s)),
    "shuffle_then_repeat": lambda s: _halves(_shuffled(s).repeat(2)),
    "shuffle_once_then_repeat": lambda s: _halves(_shuffled(s, seed=1, reshuffle_each_iteration=False).repeat(2)),
    "repeat_then_shuffle": lambda s: sorted(_pass(s.range(5).repeat(3).shuffle(100, seed=1))),
    "repeat_then_shuffle_mixes_the_rounds": lambda s: (
        sorted(_pass(s.range(NUM).repeat(2).shuffle(100, seed=1).take(NUM))) == ALL
    ),
    "shuffle_then_batch": _batches,
    "shuffle_batches": _shuffled_batches,
    "shuffle_keeps_pairs_together": lambda s: all(float(y) == int(x) * 10 + 0.5 for x, y in s.pairs(9).shuffle(9)),
    "shuffle_keeps_dicts_together": lambda s: sorted(
        (int(d["a"]), int(d["b"])) for d in s.slices({"a": np.arange(5), "b": np.arange(5) * 2}).shuffle(5)
    ),
    "shuffle_then_map": lambda s: sorted(_pass(s.numbers(6).shuffle(6).map(lambda x: x * 2))),
    "shuffle_with_a_buffer_of_one_keeps_the_order": lambda s: _pass(_shuffled(s, 1, seed=1)),
    "shuffle_with_a_small_buffer_draws_from_it": lambda s: _from_the_buffer(_pass(_shuffled(s, 3, seed=1)), 3),
    "shuffle_of_an_unknown_number": lambda s: sorted(_pass(s.range(NUM).filter(lambda x: x % 2 == 0).shuffle(100))),
    "shuffle_of_an_unknown_number_draws_from_the_buffer": lambda s: _from_the_buffer(
        _pass(s.range(NUM).filter(lambda x: x >= 0).shuffle(3, seed=1)), 3
    ),
    "shuffle_of_an_unknown_number_repeats_with_a_seed": lambda s: _two_passes(
        s.range(NUM).filter(lambda x: x >= 0).shuffle(100, seed=1, reshuffle_each_iteration=False)
    ),
    "shuffle_of_an_unknown_number_passes_differ": lambda s: _two_passes(
        s.range(NUM).filter(lambda x: x >= 0).shuffle(100, seed=1)
    ),
    "shuffle_of_an_endless_one": lambda s: all(0 <= int(x) < 3 for x in islice(s.range(3).repeat().shuffle(5), 30)),
    "shuffle_then_cache_keeps_the_first_order": lambda s: _two_passes(_shuffled(s).cache()),
    "cache_then_shuffle_draws_anew": lambda s: _two_passes(s.range(NUM).cache().shuffle(NUM)),
    "shuffle_then_take": lambda s: len(set(_pass(_shuffled(s).take(5))) & set(ALL)),
    "shuffle_then_take_is_another_part_each_time": lambda s: _two_passes(_shuffled(s, seed=1).take(12))["equal"],
    "shuffle_then_skip_is_the_rest": lambda s: sorted(
        _pass(_shuffled(s, seed=1, reshuffle_each_iteration=False).take(9))
        + _pass(_shuffled(s, seed=1, reshuffle_each_iteration=False).skip(9))
    ),
    "shuffle_then_shard_is_disjoint": _disjoint_shards,
    "shuffle_then_enumerate": _enumerated,
    "shuffle_zipped_with_itself": _with_itself,
    "shuffle_in_two_iterators_at_once": _interleaved_iterators,
    "shuffle_twice": lambda s: sorted(_pass(_shuffled(s).shuffle(NUM))),
    "shuffle_larger_than_the_data": lambda s: sorted(_pass(_shuffled(s, 1000))),
    "shuffle_of_all_rows": lambda s: sorted(_pass(_shuffled(s, s.data.UNKNOWN_CARDINALITY))),
    "shuffle_spec_and_number": lambda s: int(s.pairs(5).shuffle(2).batch(2).cardinality()),
    "shuffle_of_nothing": lambda s: s.numbers(0).shuffle(3),
    "shuffle_of_one": lambda s: s.numbers(1).shuffle(3),
}
