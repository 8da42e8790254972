"""Plans: how often, how far and which part of the elements a pass gives."""

from __future__ import annotations

from ._space import Space


def _shards(space: Space, num: int, num_shards: int) -> list[list[int]]:
    return [[int(x) for x in space.range(num).shard(num_shards, index)] for index in range(num_shards)]


PASSES = {
    "repeat_twice": lambda s: s.numbers(3).repeat(2),
    "repeat_zero_times": lambda s: s.numbers(3).repeat(0),
    "repeat_once": lambda s: s.numbers(3).repeat(1),
    "repeat_forever": lambda s: s.numbers(3).repeat(),
    "repeat_minus_one_is_forever": lambda s: s.numbers(2).repeat(-1),
    "repeat_forever_then_take": lambda s: s.numbers(3).repeat().take(7),
    "repeat_of_repeat": lambda s: s.numbers(2).repeat(2).repeat(2),
    "repeat_nothing_forever": lambda s: s.numbers(0).repeat(),
    "repeat_nothing_twice": lambda s: s.numbers(0).repeat(2),
    "repeat_before_batch_crosses_the_end": lambda s: s.numbers(3).repeat(2).batch(2),
    "repeat_after_batch_does_not": lambda s: s.numbers(3).batch(2).repeat(2),
    "take_some": lambda s: s.numbers(5).take(3),
    "take_none": lambda s: s.numbers(5).take(0),
    "take_minus_one_is_all": lambda s: s.numbers(5).take(-1),
    "take_minus_two_is_all": lambda s: s.numbers(5).take(-2),
    "take_more_than_there_are": lambda s: s.numbers(5).take(9),
    "take_all_of_an_endless_one": lambda s: s.numbers(2).repeat().take(-1),
    "take_from_an_unknown_number": lambda s: s.rows(1, 2, 3).take(2),
    "take_none_of_an_unknown_number": lambda s: s.rows(1, 2, 3).take(0),
    "skip_some": lambda s: s.numbers(5).skip(3),
    "skip_none": lambda s: s.numbers(5).skip(0),
    "skip_minus_one_is_all": lambda s: s.numbers(5).skip(-1),
    "skip_minus_two": lambda s: s.numbers(5).skip(-2),
    "skip_more_than_there_are": lambda s: s.numbers(5).skip(9),
    "skip_in_an_endless_one": lambda s: s.numbers(3).repeat().skip(2),
    "skip_all_of_an_endless_one": lambda s: s.numbers(3).repeat().skip(-1),
    "skip_in_an_unknown_number": lambda s: s.rows(1, 2, 3).skip(1),
    "skip_then_take": lambda s: s.numbers(9).skip(2).take(3),
    "take_then_skip": lambda s: s.numbers(9).take(5).skip(3),
    "skip_batches": lambda s: s.numbers(7).batch(3).skip(1),
    "take_then_repeat": lambda s: s.numbers(9).take(2).repeat(3),
    "shard_the_first": lambda s: s.numbers(7).shard(3, 0),
    "shard_the_last": lambda s: s.numbers(7).shard(3, 2),
    "shard_in_one": lambda s: s.numbers(4).shard(1, 0),
    "shard_more_than_there_are": lambda s: s.numbers(2).shard(4, 3),
    "shard_all": lambda s: _shards(s, 8, 3),
    "shard_before_batch": lambda s: s.numbers(9).shard(2, 1).batch(2),
    "shard_after_batch": lambda s: s.numbers(9).batch(2).shard(2, 1),
    "shard_after_map": lambda s: s.pairs(5).map(lambda x, y: y).shard(2, 0),
    "shard_after_filter": lambda s: s.numbers(9).filter(lambda x: x != 2).shard(2, 1),
    "shard_after_repeat": lambda s: s.numbers(3).repeat(2).shard(2, 1),
    "shard_of_a_shard": lambda s: s.numbers(12).shard(2, 1).shard(3, 0),
    "shard_an_endless_one": lambda s: s.numbers(3).repeat().shard(2, 0),
    "shard_a_generator": lambda s: s.rows(1, 2, 3).shard(2, 1),
    "cache": lambda s: s.numbers(3).cache(),
    "cache_then_repeat": lambda s: s.numbers(2).map(lambda x: x + 1).cache().repeat(2),
    "cache_in_a_file": lambda s: s.pairs(3).cache(str(s.folder / "cached")),
    "cache_an_unknown_number": lambda s: s.rows(1, 2).cache(),
    "cache_then_take": lambda s: s.numbers(3).cache().take(3),
    "prefetch": lambda s: s.numbers(3).prefetch(2),
    "prefetch_autotune": lambda s: s.numbers(3).batch(2).prefetch(s.data.AUTOTUNE),
    "prefetch_none": lambda s: s.numbers(3).prefetch(0),
    "snapshot": lambda s: s.numbers(3).map(lambda x: x * 2).snapshot(str(s.folder / "snapshot")),
    "snapshot_of_pairs_then_batch": lambda s: (
        s.pairs(4).snapshot(str(s.folder / "snapshot"), compression=None).batch(2)
    ),
}
