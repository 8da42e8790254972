"""What each worker reads of a dataset whose auto_shard_policy is FILE or OFF."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unisono._src.strategy._autoshard import worker_dataset
from unisono.data import Dataset, Options, TextLineDataset
from unisono.data.experimental import AutoShardPolicy


def with_policy(dataset: Dataset, policy: AutoShardPolicy) -> Dataset:
    options = Options()
    options.experimental_distribute.auto_shard_policy = policy
    return dataset.with_options(options)


def read(dataset: Dataset) -> list[list[Any]]:
    return [np.asarray(batch).tolist() for batch in dataset.as_numpy_iterator()]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Five files of four lines."""
    paths = [tmp_path / f"{number}.txt" for number in range(5)]
    for number, path in enumerate(paths):
        path.write_text("".join(f"{number}{line}\n" for line in range(4)))
    return [str(path) for path in paths]


@pytest.mark.parametrize("by_name", [False, True])
def test_with_file_each_worker_reads_its_share_of_the_files(files: list[str], by_name: bool) -> None:
    lines = Dataset.from_tensor_slices(files).flat_map(TextLineDataset) if by_name else TextLineDataset(files)
    dataset = with_policy(lines.batch(4), AutoShardPolicy.FILE)
    shares = [read(worker_dataset(dataset, worker, 2, num_replicas=2)) for worker in (0, 1)]
    firsts = [{line.decode()[0] for batch in share for line in batch} for share in shares]
    assert firsts == [{"0", "2", "4"}, {"1", "3"}]
    assert {len(batch) for share in shares for batch in share} == {2}, "batches of one replica"


@pytest.mark.parametrize("read_names", [TextLineDataset, lambda names: names.flat_map(TextLineDataset)])
def test_with_file_the_names_are_chosen_before_they_are_shared(files: list[str], read_names: Any) -> None:
    names = Dataset.from_tensor_slices(files)
    chosen = names.skip(1).take(2).concatenate(Dataset.from_tensor_slices(files[4:]))
    dataset = with_policy(read_names(chosen.shuffle(3, seed=1)).batch(4), AutoShardPolicy.FILE)
    shares = [read(worker_dataset(dataset, worker, 2, num_replicas=2)) for worker in (0, 1)]
    firsts = [{line.decode()[0] for batch in share for line in batch} for share in shares]
    assert sorted(map(len, firsts)) == [1, 2]
    assert firsts[0] | firsts[1] == {"1", "2", "4"}


def test_with_file_each_worker_reads_its_share_of_every_dataset_that_is_concatenated(files: list[str]) -> None:
    joined = TextLineDataset(files[:2]).concatenate(TextLineDataset(files[2:4]))
    dataset = with_policy(joined.batch(4), AutoShardPolicy.FILE)
    shares = [read(worker_dataset(dataset, worker, 2, num_replicas=2)) for worker in (0, 1)]
    firsts = [[line.decode()[0] for batch in share for line in batch] for share in shares]
    assert firsts == [[*"00002222"], [*"11113333"]]
    numbers = TextLineDataset(files).map(lambda line: np.int64(bytes(line)))
    mixed = with_policy(numbers.concatenate(Dataset.range(3)).batch(4), AutoShardPolicy.FILE)
    with pytest.raises(ValueError, match="does not come from files"):
        worker_dataset(mixed, 0, 2, num_replicas=2)


def test_with_file_names_may_come_from_a_generator_or_in_batches(files: list[str]) -> None:
    names = Dataset.from_generator(lambda: iter(files), output_types=object, output_shapes=())
    dataset = with_policy(TextLineDataset(names.batch(2)).batch(4), AutoShardPolicy.FILE)
    shares = [read(worker_dataset(dataset, worker, 2, num_replicas=2)) for worker in (0, 1)]
    firsts = [{line.decode()[0] for batch in share for line in batch} for share in shares]
    assert firsts == [{"0", "2", "4"}, {"1", "3"}]


def test_with_off_each_worker_reads_everything_in_batches_of_a_replica() -> None:
    dataset = with_policy(Dataset.range(8).batch(8), AutoShardPolicy.OFF)
    assert read(worker_dataset(dataset, 1, 2, num_replicas=4)) == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("in_file", [False, True])
def test_a_cache_of_all_files_is_not_read_by_the_workers(files: list[str], tmp_path: Path, in_file: bool) -> None:
    lines = TextLineDataset(files).cache(str(tmp_path / "cache") if in_file else "")
    dataset = with_policy(lines.batch(2), AutoShardPolicy.FILE)
    assert len(read(dataset)) == 10
    for _ in range(2):
        shares = [read(worker_dataset(dataset, worker, 2, num_replicas=2)) for worker in (0, 1)]
        firsts = [{line.decode()[0] for batch in share for line in batch} for share in shares]
        assert firsts == [{"0", "2", "4"}, {"1", "3"}]


@pytest.mark.parametrize("policy", [AutoShardPolicy.FILE, AutoShardPolicy.OFF])
def test_every_call_shuffles_in_another_order(files: list[str], policy: AutoShardPolicy) -> None:
    dataset = with_policy(TextLineDataset(files).shuffle(20).batch(2), policy)
    first, second = (read(worker_dataset(dataset, 0, 2, num_replicas=2)) for _ in range(2))
    assert first != second
    assert sorted(chain(*first)) == sorted(chain(*second))


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        (Dataset.range(64).batch(16).rebatch(8), 2),
        (Dataset.range(64).batch(16).rebatch(8).map(lambda x: x + 1), 2),
        (Dataset.range(64).batch(8, drop_remainder=True).batch(16).unbatch(), 2),
        (Dataset.range(64).batch(8).batch(16).flat_map(Dataset.from_tensor_slices).rebatch([4, 4]), 1),
    ],
    ids=["rebatch", "map", "unbatch", "flat-map"],
)
def test_the_last_batches_count(dataset: Dataset, expected: int) -> None:
    part = worker_dataset(with_policy(dataset, AutoShardPolicy.OFF), 0, 2, num_replicas=4)
    assert {len(batch) for batch in read(part)} == {expected}


def test_batches_of_several_sizes_are_refused() -> None:
    dataset = with_policy(Dataset.range(64).batch(16).rebatch([8, 4]), AutoShardPolicy.OFF)
    with pytest.raises(ValueError, match="the size of a batch is not known beforehand"):
        worker_dataset(dataset, 0, 2, num_replicas=4)


@pytest.mark.parametrize(
    ("dataset", "policy", "message"),
    [
        (Dataset.range(9).batch(9), AutoShardPolicy.OFF, "a global batch of 9 rows is not divisible by 2"),
        (Dataset.range(9), AutoShardPolicy.OFF, "the size of a batch is not known beforehand"),
        (Dataset.range(8).batch(4), AutoShardPolicy.FILE, "the data does not come from files"),
    ],
)
def test_what_cannot_be_shared_says_what_to_do(dataset: Dataset, policy: AutoShardPolicy, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        worker_dataset(with_policy(dataset, policy), 0, 2, num_replicas=2)


def test_fewer_files_than_workers_are_refused(files: list[str]) -> None:
    dataset = with_policy(TextLineDataset(files).batch(6), AutoShardPolicy.FILE)
    with pytest.raises(ValueError, match="there are 5 files for 6 workers"):
        worker_dataset(dataset, 0, 6, num_replicas=6)
