"""Every source and every operation, with several parameters, for tests that hold all of them to one contract."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unisono._src.data.plans import (
    ArraySlices,
    AssertCardinality,
    Batch,
    Buckets,
    Cache,
    ChoiceSource,
    ComputeAhead,
    Concatenate,
    ConcatenateBatches,
    Counter,
    ElementWriter,
    Enumerate,
    FileCache,
    Filter,
    FixedLengthRecords,
    GeneratorSource,
    GroupByWindow,
    Interleave,
    LeafRows,
    ListSource,
    LoadedSource,
    Map,
    Operation,
    Options,
    PaddedBatch,
    Plan,
    Prefetch,
    RandomChoices,
    RandomNumbers,
    Range,
    ReadFiles,
    Rebatch,
    Repeat,
    Scan,
    Shard,
    Shuffle,
    Skip,
    Source,
    Take,
    TakeWhile,
    TextLines,
    TFRecords,
    Unbatch,
    Unique,
    Window,
    WithOptions,
    ZippedPlans,
)
from unisono.io import TFRecordWriter


@dataclass(frozen=True)
class Nested:
    """A dataset inside an element, as far as plans know one."""

    _plan: Plan

    def _then(self, operation: Operation) -> Nested:
        return Nested(self._plan.then(operation))


def nested(source: Source) -> Nested:
    return Nested(Plan(source))


@dataclass(frozen=True)
class SourceCase:
    make: Callable[[Path], Source]
    written: str


@dataclass(frozen=True)
class OperationCase:
    make: Callable[[Path], Operation]
    written: str
    """What `str` must give; `FOLDER` is replaced by the test's folder."""
    before: tuple[Operation, ...] = ()
    """Operations that must come before it."""
    recomputes: int = 0
    """How many elements before a position may be computed again to restore it: those that it holds computed."""


def double(x: Any) -> Any:
    return x * 2


def is_even(x: Any) -> bool:
    return bool(x % 2 == 0)


def is_small(x: Any) -> bool:
    return bool(x < 5)


def running_sum(total: Any, x: Any) -> tuple[Any, Any]:
    return total + x, total + x


def with_history(state: Any, x: Any) -> tuple[Any, Any]:
    history = np.append(state["history"], x)
    return {"count": state["count"] + 1, "history": history, "name": b"n\0"}, (state["count"], history.sum())


def spread(x: Any) -> Nested:
    """x % 3 elements, shuffled."""
    rows = ArraySlices(np.full((int(x) % 3, 2), x))
    return Nested(Plan(rows, (Enumerate(), Shuffle(5))))


def pad_ones(x: Any) -> Any:
    return np.full(int(x) % 3, x)


def third(x: Any) -> Any:
    return x % 3


def half(x: Any) -> Any:
    return x // 2


def in_reverse_pairs(key: Any, window: Nested) -> Nested:
    return window._then(Shuffle(5))._then(Batch(2))


def seven() -> Iterator[int]:
    yield from range(7)


ROWS = ArraySlices(np.arange(7))

SOURCES = {
    "an array": SourceCase(lambda _: ROWS, "7 rows"),
    "a tuple": SourceCase(lambda _: ArraySlices((np.arange(6), np.ones((6, 2), "float32"))), "6 rows"),
    "a dict": SourceCase(lambda _: ArraySlices({"x": ["a", "bc"], "y": [True, False]}), "2 rows"),
    "byte strings": SourceCase(lambda _: ArraySlices([b"a\0", b"", b"\0"]), "3 rows"),
    "no rows": SourceCase(lambda _: ArraySlices(np.zeros((0, 3))), "0 rows"),
    "one element": SourceCase(lambda _: ArraySlices.of_one({"x": 3}), "1 row"),
    "rows of leaves": SourceCase(lambda _: LeafRows({"x": np.arange(3), "y": np.ones((3, 2))}), "3 rows"),
    "range": SourceCase(lambda _: Range(range(7)), "range(7)"),
    "range down": SourceCase(lambda _: Range(range(9, 0, -3), np.dtype("int32")), "range(9, 0, -3)"),
    "generator": SourceCase(lambda _: GeneratorSource(seven), "from_generator(seven)"),
    "generator of pairs": SourceCase(
        lambda _: GeneratorSource(lambda: ((i, {"y": [i, i]}) for i in range(3))), "from_generator(lambda)"
    ),
    "text": SourceCase(lambda folder: TextLines((_text(folder),)), "TextLineDataset('FOLDER/lines.txt')"),
    "texts": SourceCase(lambda folder: TextLines((_text(folder),) * 3), "TextLineDataset(3 files)"),
    "gzip": SourceCase(lambda folder: TextLines((_gzip(folder),), "GZIP"), "TextLineDataset('FOLDER/lines.gz')"),
    "pieces": SourceCase(
        lambda folder: FixedLengthRecords((_text(folder),), record_bytes=2),
        "FixedLengthRecordDataset('FOLDER/lines.txt')",
    ),
    "records": SourceCase(lambda folder: TFRecords((_records(folder),)), "TFRecordDataset('FOLDER/data.tfrecord')"),
    "zip": SourceCase(lambda _: ZippedPlans((Plan(ROWS), {"y": Plan(Range(range(5)))})), "zip(7 rows, range(5))"),
    "zip of a stream": SourceCase(
        lambda _: ZippedPlans((Plan(ROWS, (Shuffle(7, seed=1),)), Plan(GeneratorSource(seven), (Take(4),)))),
        "zip(7 rows -> shuffle(7), from_generator(seven) -> take(4))",
    ),
    "endless zip": SourceCase(
        lambda _: ZippedPlans((Plan(ROWS, (Repeat(),)), Plan(ROWS, (Shuffle(7, seed=1), Repeat())))),
        "zip(7 rows -> repeat(), 7 rows -> shuffle(7) -> repeat())",
    ),
    "choose": SourceCase(
        lambda _: ChoiceSource((Plan(ROWS), Plan(GeneratorSource(seven))), Plan(ArraySlices([0, 1, 1, 0, 0]))),
        "choose_from_datasets([7 rows, from_generator(seven)], 5 rows)",
    ),
    "sample": SourceCase(
        lambda _: ChoiceSource(
            (Plan(ROWS), Plan(Range(range(3)))), Plan(RandomChoices((0.3, 0.7), seed=1)), stop_on_empty=False
        ),
        "choose_from_datasets([7 rows, range(3)], weights [0.3, 0.7])",
    ),
    "choices": SourceCase(lambda _: RandomChoices((1, 2), seed=3), "weights [1.0, 2.0]"),
    "counter": SourceCase(lambda _: Counter(5, -2, np.dtype("int32")), "counter(5, -2)"),
    "random numbers": SourceCase(lambda _: RandomNumbers(seed=4), "random()"),
    "the same random numbers": SourceCase(lambda _: RandomNumbers(seed=4, rerandomize=False), "random()"),
    "load": SourceCase(lambda folder: LoadedSource(_saved(folder)), "load('FOLDER')"),
    "a list of elements": SourceCase(
        lambda _: ListSource((np.zeros(1), np.zeros(2), np.zeros(0))),
        "3 elements",
    ),
}

OPERATIONS = {
    "map": OperationCase(lambda _: Map(double, seed=1), "map(double)"),
    "map to a nest": OperationCase(lambda _: Map(lambda x: {"a": (x, None)}, seed=1), "map(lambda)"),
    "filter": OperationCase(lambda _: Filter(is_even), "filter(is_even)"),
    "filter all": OperationCase(lambda _: Filter(lambda x: False), "filter(lambda)"),
    "take": OperationCase(lambda _: Take(3), "take(3)"),
    "take none": OperationCase(lambda _: Take(0), "take(0)"),
    "take all": OperationCase(lambda _: Take(-1), "take(-1)"),
    "take more": OperationCase(lambda _: Take(100), "take(100)"),
    "skip": OperationCase(lambda _: Skip(2), "skip(2)"),
    "skip all": OperationCase(lambda _: Skip(-1), "skip(-1)"),
    "skip more": OperationCase(lambda _: Skip(100), "skip(100)"),
    "take_while": OperationCase(lambda _: TakeWhile(is_small), "take_while(is_small)"),
    "shard": OperationCase(lambda _: Shard(3, 1), "shard(3, 1)"),
    "shard of more": OperationCase(lambda _: Shard(20, 19), "shard(20, 19)"),
    "enumerate": OperationCase(lambda _: Enumerate(), "enumerate()"),
    "enumerate from": OperationCase(lambda _: Enumerate(5), "enumerate(5)"),
    "shuffle": OperationCase(lambda _: Shuffle(3, seed=1), "shuffle(3)"),
    "shuffle one": OperationCase(lambda _: Shuffle(1, seed=1), "shuffle(1)"),
    "shuffle once": OperationCase(lambda _: Shuffle(100, seed=1, reshuffle_each_iteration=False), "shuffle(100)"),
    "repeat": OperationCase(lambda _: Repeat(2), "repeat(2)"),
    "repeat none": OperationCase(lambda _: Repeat(0), "repeat(0)"),
    "repeat without end": OperationCase(lambda _: Repeat(), "repeat()"),
    "repeat shuffled": OperationCase(lambda _: Repeat(3), "repeat(3)", before=(Shuffle(4, seed=5),)),
    "concatenate": OperationCase(
        lambda _: Concatenate(Plan(Range(range(4)), (Shuffle(4, seed=1),))), "concatenate(range(4) -> shuffle(4))"
    ),
    "concatenate a stream": OperationCase(
        lambda _: Concatenate(Plan(GeneratorSource(seven))), "concatenate(from_generator(seven))"
    ),
    "concatenate nothing": OperationCase(lambda _: Concatenate(Plan(Range(range(0)))), "concatenate(range(0))"),
    "flat_map": OperationCase(lambda _: Interleave(spread, flat=True, seed=1), "flat_map(spread)", recomputes=1),
    "interleave": OperationCase(
        lambda _: Interleave(spread, 3, 2, seed=1), "interleave(spread, cycle_length=3)", recomputes=3
    ),
    "files of names": OperationCase(
        lambda folder: ReadFiles(lambda _: nested(TextLines((_text(folder),))), seed=1, call="TextLineDataset"),
        "TextLineDataset()",
        recomputes=1,
    ),
    "scan": OperationCase(lambda _: Scan(np.int64(0), running_sum), "scan(running_sum)"),
    "scan a nest": OperationCase(
        lambda _: Scan({"count": 0, "history": np.zeros(0), "name": b""}, with_history), "scan(with_history)"
    ),
    "batch": OperationCase(lambda _: Batch(3), "batch(3)"),
    "batch exactly": OperationCase(lambda _: Batch(3, drop_remainder=True), "batch(3, drop_remainder=True)"),
    "batch of all": OperationCase(lambda _: Batch(100), "batch(100)"),
    "join": OperationCase(lambda _: ConcatenateBatches(2), "join(2)", before=(Batch(2),)),
    "padded_batch": OperationCase(lambda _: PaddedBatch(3), "padded_batch(3)", before=(Map(pad_ones, seed=1),)),
    "padded_batch to a shape": OperationCase(
        lambda _: PaddedBatch(2, drop_remainder=True, padded_shapes=(4,), padding_values=7),
        "padded_batch(2, drop_remainder=True)",
        before=(Map(pad_ones, seed=1),),
    ),
    "unbatch": OperationCase(lambda _: Unbatch(), "unbatch()", before=(Batch(3),), recomputes=3),
    "rebatch": OperationCase(lambda _: Rebatch((2,)), "rebatch(2)", before=(Batch(3),), recomputes=3),
    "rebatch with several sizes": OperationCase(
        lambda _: Rebatch((1, 3), drop_remainder=True),
        "rebatch([1, 3], drop_remainder=True)",
        before=(Batch(2),),
        recomputes=2,
    ),
    "group_by_window": OperationCase(
        lambda _: GroupByWindow(
            key=third, reduce=in_reverse_pairs, size=lambda key: int(key) + 2, dataset=nested, seed=1
        ),
        "group_by_window(third, in_reverse_pairs)",
        recomputes=7,
    ),
    "bucket_by_sequence_length": OperationCase(
        lambda _: Buckets(length=len, boundaries=(1, 2), batch_sizes=(2, 3, 2)).make_operation(nested, False),
        "bucket_by_sequence_length([1, 2], [2, 3, 2])",
        before=(Map(pad_ones, seed=1),),
        recomputes=7,
    ),
    "bucket exactly": OperationCase(
        lambda _: Buckets(length=len, boundaries=(1,), batch_sizes=(2, 2)).make_operation(nested, True),
        "bucket_by_sequence_length([1], [2, 2])",
        before=(Map(pad_ones, seed=1),),
        recomputes=4,
    ),
    "unique": OperationCase(lambda _: Unique(), "unique()", before=(Map(half, seed=1),)),
    "window": OperationCase(lambda _: Window(3, nested), "window(3)"),
    "window that slides": OperationCase(
        lambda _: Window(3, nested, shift=1, drop_remainder=True), "window(3, shift=1, drop_remainder=True)"
    ),
    "window with gaps": OperationCase(
        lambda _: Window(2, nested, shift=4, stride=2), "window(2, shift=4, stride=2)", before=(Enumerate(),)
    ),
    "cache": OperationCase(lambda _: Cache(), "cache()"),
    "cache in a file": OperationCase(
        lambda folder: FileCache(folder / "kept", f"cache('{folder}/kept')", "seven"), "cache('FOLDER/kept')"
    ),
    "prefetch": OperationCase(lambda _: Prefetch(2), "prefetch(2)"),
    "prefetch some": OperationCase(lambda _: Prefetch(-1), "prefetch(AUTOTUNE)"),
    "assert_cardinality": OperationCase(lambda _: AssertCardinality(7), "assert_cardinality(7)"),
    "with_options": OperationCase(lambda _: WithOptions(Options()), "with_options(AUTO)"),
    "one thread": OperationCase(lambda _: ComputeAhead(1, 2), "[1 thread, 2 ahead]", recomputes=3),
    "threads": OperationCase(lambda _: ComputeAhead(3, 4), "[3 threads, 4 ahead]", recomputes=5),
}

INPUTS: dict[str, tuple[Source, tuple[Operation, ...]]] = {
    "rows": (ROWS, ()),
    "a stream": (GeneratorSource(seven), ()),
    "filtered rows": (ArraySlices(np.arange(9)), (Filter(lambda x: bool(x % 4 != 3)),)),
}
"""What operations are put on. Each has seven elements."""


def _text(folder: Path) -> str:
    path = folder / "lines.txt"
    path.write_text("one\ntwo\r\n\nlast")
    return str(path)


def _gzip(folder: Path) -> str:
    path = folder / "lines.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\nthree\n"))
    return str(path)


def _records(folder: Path) -> str:
    path = folder / "data.tfrecord"
    with TFRecordWriter(path) as writer:
        for number in range(5):
            writer.write(b"\0" * number)
    return str(path)


def _saved(folder: Path) -> Path:
    path = folder / "elements"
    writer = ElementWriter(path, "numbers")
    for number in range(4):
        writer.write((np.full(number, number), {"b": np.array(b"x", object)}))
    writer.commit()
    return path
