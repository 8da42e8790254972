"""cache, cache in a file and snapshot: computed once, by whoever reads, in this run and the next."""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.data.plans import ElementFileError
from unisono.data import Dataset, TensorSpec

Kept = Callable[[Dataset, Path], Dataset]

WAYS: dict[str, tuple[Kept, str]] = {
    "cache": (lambda dataset, folder: dataset.cache(folder / "train"), "train"),
    "snapshot": (lambda dataset, folder: dataset.snapshot(folder), "elements"),
}
both_ways = pytest.mark.parametrize(("keep", "name"), WAYS.values(), ids=list(WAYS))


class Counting:
    """A map that counts its calls, and cannot be traced."""

    __name__ = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        value = np.asarray(x) + 10
        self.calls += 1
        return value


def taken(dataset: Dataset) -> list[Any]:
    return [element.tolist() for element in dataset]


def stream(count: int) -> Dataset:
    return Dataset.from_generator(lambda: iter(range(count)), output_signature=TensorSpec((), "int64"))


both_inputs = pytest.mark.parametrize("make", [Dataset.range, stream], ids=["rows", "stream"])


@both_inputs
@pytest.mark.parametrize("calls", [None, 2])
def test_a_cache_in_memory_calls_a_function_once_for_each_element(make: Any, calls: int | None) -> None:
    counting = Counting()
    dataset = make(5).map(counting, num_parallel_calls=calls).cache()
    assert [taken(dataset) for _ in range(3)] == [[10, 11, 12, 13, 14]] * 3
    assert counting.calls == 5


@both_inputs
def test_a_function_that_is_not_pure_gives_what_it_gave_first(make: Any) -> None:
    dataset = make(5).map(lambda x: x + np.random.rand()).cache().shuffle(5)
    first = sorted(taken(dataset))
    assert sorted(taken(dataset)) == first
    assert sorted(taken(dataset.batch(2).unbatch())) == first


def test_rounds_of_a_repeat_share_a_cache() -> None:
    counting = Counting()
    assert len(taken(Dataset.range(4).map(counting).cache().repeat(3))) == 12
    assert counting.calls == 4


def test_datasets_that_continue_from_a_cache_share_it() -> None:
    counting = Counting()
    kept = Dataset.range(4).map(counting).cache()
    assert taken(kept.batch(4)) == taken(kept.take(4).batch(4)) == [[10, 11, 12, 13]]
    assert counting.calls == 4


def test_elements_of_a_cache_cannot_be_changed() -> None:
    dataset = stream(2).map(lambda x: np.full(2, np.asarray(x))).cache()
    for _ in range(2):
        for element in dataset:
            with pytest.raises(ValueError, match="read-only"):
                element += 1


@both_ways
@both_inputs
def test_the_second_pass_reads_the_file_and_calls_nothing(make: Any, keep: Kept, name: str, tmp_path: Path) -> None:
    counting = Counting()
    dataset = keep(make(5).map(counting), tmp_path)
    assert taken(dataset) == taken(dataset) == [10, 11, 12, 13, 14]
    assert counting.calls == 5
    assert os.listdir(tmp_path) == [name]


@both_ways
def test_a_later_run_reads_the_file_and_calls_nothing(keep: Kept, name: str, tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    assert taken(keep(stream(5).map(first), tmp_path)) == taken(keep(stream(5).map(second), tmp_path))
    assert (first.calls, second.calls) == (5, 0)


@both_ways
def test_a_pass_that_was_left_early_leaves_no_file(keep: Kept, name: str, tmp_path: Path) -> None:
    dataset = keep(stream(5), tmp_path)
    for _ in dataset:
        break
    assert os.listdir(tmp_path) == []
    assert taken(dataset.take(2)) == [0, 1]
    assert os.listdir(tmp_path) == []
    assert taken(dataset) == [0, 1, 2, 3, 4]


@both_ways
def test_a_pass_that_failed_leaves_no_file(keep: Kept, name: str, tmp_path: Path) -> None:
    def broken(x: Any) -> Any:
        if int(np.asarray(x)) == 3:
            raise RuntimeError("three")
        return np.asarray(x)

    with pytest.raises(RuntimeError, match="three"):
        taken(keep(stream(5).map(broken), tmp_path))
    assert os.listdir(tmp_path) == []


@both_ways
def test_two_passes_at_once_write_one_file(keep: Kept, name: str, tmp_path: Path) -> None:
    dataset = keep(stream(4), tmp_path)
    assert [(int(a), int(b)) for a, b in zip(dataset, dataset, strict=True)] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert os.listdir(tmp_path) == [name]


@both_ways
def test_everything_an_element_can_be_comes_back(keep: Kept, name: str, tmp_path: Path) -> None:
    point_class = namedtuple("point_class", ["x", "y"])

    def build(number: Any) -> Any:
        size = int(np.asarray(number))
        return {
            "empty": np.zeros((0, 3), "float16"),
            "ragged": np.full(size, size, "uint8"),
            "scalar": np.float32(1.5),
            "bool": size > 1,
            "text": "é" * size,
            "bytes": b"\0" * size,
            "nothing": None,
            "list": [size, (size, point_class(size, jnp.bfloat16(1.5)))],
            "date": np.datetime64("2024-01-02"),
        }

    dataset = keep(Dataset.range(3).map(build), tmp_path)
    written, read = list(dataset), list(dataset)
    for one, other in zip(written, read, strict=True):
        assert repr(one) == repr(other)
        assert isinstance(other["list"][1][1], point_class)
        assert one["list"][1][1].y.dtype == other["list"][1][1].y.dtype == jnp.bfloat16


@both_ways
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[: len(data) // 2], "its end is missing"),
        (lambda data: b"", "not a file that this version of Unisono wrote"),
        (lambda data: b"PK" + data[2:], "not a file that this version of Unisono wrote"),
        (lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:], "checksum|ends within"),
        (lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:], "checksum"),
    ],
    ids=["cut", "empty", "something else", "a flipped bit", "a flipped bit in the index"],
)
def test_a_damaged_file_is_refused_by_name(
    damage: Callable[[bytes], bytes], message: str, keep: Kept, name: str, tmp_path: Path
) -> None:
    dataset = keep(stream(50), tmp_path)
    taken(dataset)
    path = tmp_path / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ElementFileError, match=rf"(?s){path}.*({message}).*if you delete it"):
        taken(dataset)


@both_ways
def test_a_file_of_another_plan_is_refused_with_both_plans(keep: Kept, name: str, tmp_path: Path) -> None:
    taken(keep(stream(4), tmp_path))
    with pytest.raises(ElementFileError, match=r"(?s)written by another plan.*the file: .*this plan: .*batch\(2\)"):
        taken(keep(stream(4).batch(2), tmp_path))


@both_ways
def test_how_a_plan_is_run_does_not_decide_whose_file_it_is(keep: Kept, name: str, tmp_path: Path) -> None:
    # A file is read on other machines too, with another number of cores.
    first, second = Counting(), Counting()
    written = keep(stream(6).map(first, num_parallel_calls=2).map(lambda x: x + 1).batch(2), tmp_path)
    read = keep(stream(6).map(second, num_parallel_calls=5).map(lambda x: x + 1).batch(2), tmp_path)
    assert taken(written) == taken(read)
    assert second.calls == 0


@both_ways
def test_an_endless_input_is_not_written(keep: Kept, name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"never ends.*repeat\(\) after"):
        next(iter(keep(stream(3).repeat(), tmp_path)))
    assert os.listdir(tmp_path) == []


@both_ways
def test_a_pass_restored_while_there_is_no_file_writes_none(keep: Kept, name: str, tmp_path: Path) -> None:
    iterator = iter(keep(stream(5), tmp_path))
    next(iterator)
    next(iterator)
    state = iterator.get_state()
    iterator.close()
    again = iter(keep(stream(5), tmp_path))
    again.set_state(state)
    assert [int(x) for x in again] == [2, 3, 4]
    assert os.listdir(tmp_path) == []


@both_ways
def test_a_pass_begun_before_the_file_existed_resumes_after(keep: Kept, name: str, tmp_path: Path) -> None:
    dataset = keep(stream(5).shuffle(5, seed=1), tmp_path)
    iterator = iter(dataset)
    next(iterator)
    state = iterator.get_state()
    rest = [int(x) for x in iterator]
    assert os.listdir(tmp_path) == [name]
    again = iter(dataset)
    again.set_state(state)
    assert [int(x) for x in again] == rest
    again.close()


def test_folders_of_a_cache_are_made(tmp_path: Path) -> None:
    assert len(taken(stream(2).cache(tmp_path / "a" / "b" / "c"))) == 2
    assert (tmp_path / "a" / "b" / "c").is_file()


def test_snapshots_are_one_file(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="reader_func and shard_func are not supported"):
        stream(2).snapshot(tmp_path, shard_func=lambda x: 0)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    original = Dataset.range(5).map(lambda x: {"x": x, "y": x / 2}).shuffle(5, seed=1)
    original.save(tmp_path / "saved")
    loaded = Dataset.load(tmp_path / "saved")
    assert len(loaded) == 5
    assert loaded.element_spec == original.element_spec
    assert list(loaded.shuffle(5, seed=3).take(2)) != []
    assert [element["y"].tolist() for element in loaded] == [
        element["y"].tolist() for element in Dataset.range(5).map(lambda x: {"y": x / 2}).shuffle(5, seed=1)
    ]


def test_keys_that_are_numbers_keep_their_values(tmp_path: Path) -> None:
    dataset = Dataset.from_tensors({2: np.float32(2), 10: np.int32(10)})
    dataset.save(tmp_path / "saved")
    for kept in (Dataset.load(tmp_path / "saved"), dataset.cache(tmp_path / "kept")):
        for _ in range(2):
            (element,) = kept
            assert {key: (value.item(), value.dtype.name) for key, value in element.items()} == {
                2: (2.0, "float32"),
                10: (10, "int32"),
            }
