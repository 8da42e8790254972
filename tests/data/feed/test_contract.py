"""The contract of feeds, for every kind of input: all batches once, in order, and every position can be resumed."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.data.feed import Feed, open_feed
from unisono._src.devices import Placement
from unisono.data import Dataset

X = np.arange(22, dtype="float32").reshape(11, 2)
Y = np.arange(11, dtype="int32")
BATCH = 3


class _Batches(keras.utils.PyDataset):
    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        rows = slice(BATCH * index, BATCH * (index + 1))
        return X[rows], Y[rows]


def _generate() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from (_Batches()[index] for index in range(4))


def _slices() -> Dataset:
    return Dataset.from_tensor_slices((X, Y))


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "arrays": lambda: {"x": X, "y": Y, "batch_size": BATCH},
    "dataset over arrays": lambda: {"x": _slices().batch(BATCH)},
    "dataset with a map": lambda: {"x": _slices().map(lambda x, y: (x * 1, y)).batch(BATCH)},
    "dataset with a filter": lambda: {"x": _slices().filter(lambda x, y: y >= 0).batch(BATCH)},
    "PyDataset": lambda: {"x": _Batches(workers=1)},
    "generator": lambda: {"x": _generate()},
}


@pytest.fixture(params=["resident", "host"])
def placement(request: pytest.FixtureRequest) -> Iterator[Placement]:
    """Two replicas; data is kept on the devices, or sent in stacks."""
    before = unisono.config.residency()
    unisono.config.set_residency("host" if request.param == "host" else before)
    yield unisono.MirroredStrategy(["cpu:0", "cpu:1"]).placement
    unisono.config.set_residency(before)


def _read(feed: Feed, most: int, limit: int | None = None) -> tuple[list[list[int]], Any]:
    """The labels of each batch of a pass, read in chunks of at most ``most`` steps; and the position after them."""
    found: list[list[int]] = []
    data_pass = feed.open()
    while limit is None or len(found) < limit:
        asked = most if limit is None else min(most, limit - len(found))
        chunk = data_pass.next_chunk(asked, None)
        if chunk is None:
            break
        assert 1 <= chunk.count <= asked
        for step in range(chunk.start, chunk.start + chunk.count):
            batch = chunk.reader.read(chunk.operands, step)
            np.testing.assert_array_equal(np.asarray(batch[0])[:, 0], 2.0 * np.asarray(batch[1]))
            found.append(np.asarray(batch[1]).tolist())
    position = data_pass.position()
    data_pass.close()
    return found, position


EXPECTED = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10]]


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3, 100])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_has_every_batch_once_and_in_order(kind: str, most: int, placement: Placement) -> None:
    feed = open_feed(**KINDS[kind](), placement=placement)
    assert _read(feed, most)[0] == EXPECTED
    feed.close()


@pytest.mark.parametrize("taken", [1, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_a_position_is_json_and_the_next_feed_continues_there(kind: str, taken: int, placement: Placement) -> None:
    feed = open_feed(**KINDS[kind](), placement=placement)
    before, position = _read(feed, 2, limit=taken)
    feed.close()
    resumed = open_feed(**KINDS[kind](), placement=placement, position=json.loads(json.dumps(position)))
    assert before + _read(resumed, 2)[0] == EXPECTED
    resumed.close()


def test_rows_that_are_shuffled_within_batches_have_another_order_in_each_pass(placement: Placement) -> None:
    feed = open_feed(X, Y, batch_size=BATCH, shuffle="batch", placement=placement)
    passes = [_read(feed, 2)[0] for _ in range(5)]
    feed.close()
    assert all([sorted(batch) for batch in batches] == EXPECTED for batches in passes)
    assert len({str(batches) for batches in passes}) > 1


@pytest.mark.parametrize(("before", "now"), [("device", "host"), ("host", "device")])
def test_data_stays_where_the_run_that_is_resumed_had_it(before: Any, now: Any, placement: Placement) -> None:
    """The programs of the two differ, and so may the last bit of a sum."""
    unisono.config.set_residency(before)
    position = _read(open_feed(X, Y, batch_size=BATCH, placement=placement), 1, limit=2)[1]
    unisono.config.set_residency(now)
    resumed = open_feed(X, Y, batch_size=BATCH, placement=placement, position=position)
    assert (resumed.resident_bytes > 0) == (before == "device")


@pytest.mark.parametrize("given", [1, 2, 3])
def test_a_generator_that_is_shorter_than_before_is_refused(given: int, placement: Placement) -> None:
    position = _read(open_feed(_generate(), placement=placement), 2)[1]
    with pytest.raises(ValueError, match=f"it ended after {given} of the"):
        open_feed((batch for batch in [*_generate()][:given]), placement=placement, position=position)


def test_the_position_of_other_data_is_refused(placement: Placement) -> None:
    feed = open_feed(X, Y, batch_size=BATCH, placement=placement)
    position = _read(feed, 1, limit=1)[1]
    feed.close()
    with pytest.raises(ValueError, match="differs from the data of the run"):
        open_feed(X, Y, batch_size=BATCH + 1, placement=placement, position=position)


@pytest.mark.parametrize(("kind", "exact"), [("arrays", True), ("dataset with a filter", True), ("generator", False)])
def test_a_feed_says_whether_it_can_be_resumed_exactly(kind: str, exact: bool, placement: Placement) -> None:
    feed = open_feed(**KINDS[kind](), placement=placement)
    assert (feed.resume_caveat is None) == exact
    feed.close()


def test_what_is_drawn_after_a_shuffle_within_batches_is_the_same_on_a_resume(placement: Placement) -> None:
    np.random.seed(1)
    feed = open_feed(X, Y, batch_size=BATCH, shuffle="batch", placement=placement)
    drawn = np.random.rand()
    position = _read(feed, 1, limit=1)[1]
    feed.close()
    np.random.seed(1)
    open_feed(X, Y, batch_size=BATCH, shuffle="batch", placement=placement, position=position).close()
    assert np.random.rand() == drawn


def test_the_parts_of_an_ordered_dict_keep_their_orders(placement: Placement) -> None:
    parts = OrderedDict(second=_slices().shuffle(11, seed=1), first=Dataset.range(11))
    feed = open_feed(Dataset.zip(parts).batch(11), placement=placement)
    chunk = feed.open().next_chunk(1, None)
    assert chunk is not None
    batch = chunk.reader.read(chunk.operands, chunk.start)
    assert np.asarray(batch["first"]).tolist() == [*range(11)]
    assert sorted(np.asarray(batch["second"][1]).tolist()) == [*range(11)] != np.asarray(batch["second"][1]).tolist()
    feed.close()
