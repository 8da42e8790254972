"""Options of a dataset."""

from __future__ import annotations

from unisono.data import Dataset, Options
from unisono.data.experimental import AutoShardPolicy, DistributeOptions


def sharing(policy: AutoShardPolicy) -> Options:
    options = Options()
    options.experimental_distribute.auto_shard_policy = policy
    return options


def test_options_that_are_given_later_change_only_what_they_set() -> None:
    dataset = Dataset.range(3).with_options(sharing(AutoShardPolicy.FILE)).map(lambda x: x)
    options = dataset.with_options(Options(deterministic=True)).options()
    assert options.experimental_distribute.auto_shard_policy is AutoShardPolicy.FILE
    assert options.deterministic is True
    last = dataset.with_options(sharing(AutoShardPolicy.AUTO)).options()
    assert last.experimental_distribute.auto_shard_policy is AutoShardPolicy.AUTO


def test_options_of_the_parts_of_a_dataset_count() -> None:
    part = Dataset.range(3).with_options(sharing(AutoShardPolicy.OFF))
    for whole in (Dataset.zip(Dataset.range(3), part), Dataset.range(3).concatenate(part), part.batch(2)):
        assert whole.options().experimental_distribute.auto_shard_policy is AutoShardPolicy.OFF


def test_hints_are_kept() -> None:
    hints, others = Options(), Options()
    hints.threading.private_threadpool_size = 2
    others.autotune.enabled = False
    merged = Dataset.range(3).with_options(hints).with_options(others).options()
    assert (merged.threading.private_threadpool_size, merged.autotune.enabled) == (2, False)


def test_what_is_not_set_is_auto() -> None:
    assert DistributeOptions().auto_shard_policy is AutoShardPolicy.AUTO
    assert DistributeOptions() == DistributeOptions(AutoShardPolicy.AUTO) != DistributeOptions(num_devices=2)
