"""Datasets of any kind for hypothesis: a source and up to six operations, small, printed as the code that is meant.

Functions work on elements of any structure and shape, so that any operation can follow any other. What an operation
needs to know about its input (is it a batch? does it end?) is followed in `Kind`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from unisono._src.data.plans import flatten, map_leaves
from unisono.data import AUTOTUNE, Dataset, Options, TensorSpec, random

_TEXT = "OSU"


@dataclass(frozen=True)
class Kind:
    """What is known about the elements while a recipe is written."""

    single: bool = True
    """Whether an element is one array."""
    batched: bool = False
    """Whether all leaves have a first dim in common."""
    even: bool = True
    """Whether all elements have the same shapes."""
    even_rows: bool = True
    """Whether the rows of all batches have the same shapes."""
    endless: bool = False
    text: bool = False
    """Whether there are strings among the leaves."""
    gaps: bool = False
    """Whether there is None among the leaves."""


@dataclass(frozen=True)
class Step:
    """One call of a method."""

    method: str
    arguments: tuple[Any, ...] = ()

    def __call__(self, dataset: Dataset) -> Dataset:
        if self.method in COMBINATIONS:
            return COMBINATIONS[self.method](dataset, *self.arguments)
        result: Dataset = getattr(dataset, self.method)(*self.arguments)
        return result

    def __repr__(self) -> str:
        return f".{self.method}({', '.join(getattr(each, '__name__', repr(each)) for each in self.arguments)})"


@dataclass(frozen=True)
class Recipe:
    """How a dataset is made. Each call makes a new one, with the same seeds."""

    source: str
    steps: tuple[Step, ...] = ()

    def __call__(self) -> Dataset:
        dataset = SOURCES[self.source][0]()
        for step in self.steps:
            dataset = step(dataset)
        return dataset._with_seeds(range(len(dataset._plan.seeds)))

    def __repr__(self) -> str:
        return f"<{self.source}>" + "".join(map(repr, self.steps))


# Functions of an element, whatever it is.


def _each(function: Callable[[Any], Any], element: tuple[Any, ...]) -> Any:
    """`function` of each leaf that is not text, in an element as a map gets it."""

    def map_leaf(leaf: Any) -> Any:
        return leaf if leaf is None or leaf.dtype.kind in _TEXT else function(leaf)

    return map_leaves(map_leaf, element if len(element) > 1 else element[0])


def plus_one(*element: Any) -> Any:
    return _each(lambda x: x + 1, element)


def halved(*element: Any) -> Any:
    return _each(lambda x: x / 2, element)


def at_least_two(*element: Any) -> Any:
    return _each(lambda x: jnp.maximum(x, 2), element)


def total(*element: Any) -> Any:
    return _each(lambda x: x.sum(), element)


def wrapped(*element: Any) -> Any:
    return {"y": None, "x": element if len(element) > 1 else element[0]}


def noise(*element: Any) -> Any:
    drawn = jax.random.uniform(random.key(), (), "float32")
    return _each(lambda x: x * 0 + drawn, element)


def on_the_host(*element: Any) -> Any:
    return _each(lambda x: np.asarray(x) * 3, element)


def host_noise(*element: Any) -> Any:
    drawn = random.generator().random()
    return _each(lambda x: np.asarray(x) * 0 + drawn, element)


def _number(element: Any) -> int:
    leaf = next(leaf for leaf in flatten(element) if leaf is not None and leaf.dtype.kind not in _TEXT)
    return int(np.floor(np.asarray(leaf, np.float64).sum()))


def some(*element: Any) -> bool:
    return _number(element) % 3 != 1


def below_nine(*element: Any) -> bool:
    return _number(element) < 9


def remainder(*element: Any) -> int:
    return _number(element) % 3


def counting(count: Any, element: Any) -> Any:
    return count + 1, {"count": count, "element": element}


def of_two(_: Any, window: Dataset) -> Dataset:
    return window.batch(2)


def twice(*element: Any) -> Dataset:
    return Dataset.from_tensors(element if len(element) > 1 else element[0]).enumerate().repeat(2)


def shuffled_rows(*element: Any) -> Dataset:
    rows = Dataset.from_tensor_slices(element if len(element) > 1 else element[0])
    return rows.shuffle(3)


# Steps that are more than a method.


def windows(dataset: Dataset, size: int, shift: int, stride: int) -> Dataset:
    def joined(*parts: Any) -> Dataset:
        return Dataset.zip(parts if len(parts) > 1 else parts[0]).batch(size)

    return dataset.window(size, shift, stride).flat_map(joined)


def concatenate_itself(dataset: Dataset) -> Dataset:
    return dataset.concatenate(dataset.take(2))


def zip_with_range(dataset: Dataset) -> Dataset:
    return Dataset.zip(dataset, Dataset.range(5).shuffle(5))


def zip_behind_noise(dataset: Dataset) -> Dataset:
    return Dataset.zip({"a": Dataset.range(3).repeat(2).map(noise), "b": dataset})


def sample_with_itself(dataset: Dataset) -> Dataset:
    return Dataset.sample_from_datasets([dataset, dataset.take(3)], [0.5, 0.5])


def with_options(dataset: Dataset) -> Dataset:
    return dataset.with_options(Options())


COMBINATIONS: dict[str, Callable[..., Dataset]] = {
    function.__name__: function
    for function in (windows, concatenate_itself, zip_with_range, zip_behind_noise, sample_with_itself, with_options)
}

_PAIRS = (np.arange(6), np.arange(12, dtype="float32").reshape(6, 2))
_TEXTS = (np.arange(4, dtype="int32"), np.array(["a", "bc", "", "d"]))

SOURCES: dict[str, tuple[Callable[[], Dataset], Kind]] = {
    "range": (lambda: Dataset.range(6), Kind()),
    "short range": (lambda: Dataset.range(1, 2), Kind()),
    "nothing": (lambda: Dataset.range(0), Kind()),
    "bytes": (lambda: Dataset.from_tensor_slices(np.arange(6, dtype="uint8")), Kind()),
    "pairs": (lambda: Dataset.from_tensor_slices(_PAIRS), Kind(single=False)),
    "dict": (lambda: Dataset.from_tensor_slices({"y": _PAIRS[0], "x": _PAIRS[1]}), Kind(single=False)),
    "text": (lambda: Dataset.from_tensor_slices(_TEXTS), Kind(single=False, text=True)),
    "one matrix": (lambda: Dataset.from_tensors(_PAIRS[1]), Kind(batched=True)),
    "generator": (lambda: Dataset.from_generator(lambda: iter(range(5))), Kind()),
    "signed generator": (
        lambda: Dataset.from_generator(
            lambda: zip(*_PAIRS, strict=True), output_signature=(TensorSpec((), "int64"), TensorSpec((2,), "float32"))
        ),
        Kind(single=False),
    ),
    "zip": (
        lambda: Dataset.zip(Dataset.range(4), Dataset.from_tensor_slices(_PAIRS).shuffle(6)),
        Kind(single=False),
    ),
    "zip of a generator": (
        lambda: Dataset.zip({"a": Dataset.range(9), "b": Dataset.from_generator(lambda: iter(range(5)))}),
        Kind(single=False),
    ),
    "concatenation": (lambda: Dataset.range(3).shuffle(3).concatenate(Dataset.range(10, 14)), Kind()),
    "concatenated generator": (
        lambda: Dataset.range(3).concatenate(Dataset.from_generator(lambda: iter(range(3)))),
        Kind(),
    ),
    "choices": (
        lambda: Dataset.choose_from_datasets([Dataset.range(3), Dataset.range(10, 15)], Dataset.range(2).repeat(3)),
        Kind(),
    ),
    "samples": (lambda: Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(10, 14)]), Kind()),
}

_SAFE_WITHOUT_END = {
    "map",
    "batch",
    "padded_batch",
    "shuffle",
    "enumerate",
    "prefetch",
    "cache",
    "repeat",
    "with_options",
}


def _with(**changes: Any) -> Callable[[Kind], Kind]:
    return lambda kind: replace(kind, **changes)


def _same(kind: Kind) -> Kind:
    return kind


def _batched(kind: Kind) -> Kind:
    return replace(kind, batched=True, even=False, even_rows=kind.even)


def _rebatched(kind: Kind) -> Kind:
    return replace(kind, even=False)


def _full_batches(kind: Kind) -> Kind:
    return replace(kind, batched=True, even_rows=kind.even)


def _rows(kind: Kind) -> Kind:
    return replace(kind, batched=False, even=kind.even_rows, even_rows=False)


def _always(kind: Kind) -> bool:
    return True


def _is_even(kind: Kind) -> bool:
    return kind.even


def _is_whole(kind: Kind) -> bool:
    return kind.even and not kind.gaps


def _has_rows(kind: Kind) -> bool:
    return kind.batched and not kind.gaps


def _step(method: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.builds(Step, st.just(method), st.tuples(*arguments))


_small, _flag, _two_or_three = st.integers(0, 3), st.booleans(), st.integers(2, 3)
_threads = st.sampled_from([None, 2, AUTOTUNE])
_functions = st.sampled_from([plus_one, halved, at_least_two, noise, on_the_host, host_noise])
_apart = _with(single=False, batched=False)

STEPS: list[tuple[st.SearchStrategy[Step], Callable[[Kind], bool], Callable[[Kind], Kind]]] = [
    # Which operations, when, and with which result. Simple ones first: hypothesis shrinks towards them.
    (_step("map", _functions, _threads), _always, _same),
    (_step("batch", _two_or_three), _is_even, _batched),
    (_step("batch", _two_or_three, st.just(True)), _is_even, _full_batches),
    (_step("take", st.integers(-1, 4)), _always, _with(endless=False)),
    (_step("skip", _small), _always, _same),
    (_step("shard", st.just(2), st.integers(0, 1)), _always, _same),
    (_step("shuffle", st.integers(1, 4), st.just(1), _flag), _always, _same),
    (_step("repeat", _small), _always, _same),
    (_step("repeat"), _always, _with(endless=True)),
    (_step("enumerate", st.integers(0, 1)), _always, _apart),
    (_step("filter", st.just(some)), _always, _same),
    (_step("take_while", st.just(below_nine)), _always, _same),
    (_step("cache"), _always, _same),
    (_step("prefetch", st.sampled_from([0, 1, AUTOTUNE])), _always, _same),
    (_step("with_options"), _always, _same),
    (_step("map", st.just(wrapped)), _always, _with(single=False, gaps=True)),
    (_step("map", st.just(total), _threads), lambda kind: not kind.text, _with(batched=False, even=True)),
    (_step("padded_batch", _two_or_three), _always, _batched),
    (_step("unbatch"), lambda kind: kind.batched, _rows),
    (
        _step("rebatch", st.sampled_from([1, 2, [1, 3]]), _flag),
        lambda kind: kind.batched and kind.even_rows,
        _rebatched,
    ),
    (_step("scan", st.just(0), st.just(counting)), _always, _apart),
    (_step("unique"), lambda kind: kind.single, _same),
    (_step("flat_map", st.just(twice)), lambda kind: not kind.gaps, _apart),
    (_step("interleave", st.just(shuffled_rows), st.integers(1, 3), st.integers(1, 2)), _has_rows, _rows),
    (_step("windows", st.integers(1, 3), st.integers(1, 3), st.integers(1, 2)), _is_whole, _batched),
    (_step("group_by_window", st.just(remainder), st.just(of_two), st.just(3)), _is_even, _batched),
    (_step("bucket_by_sequence_length", st.just(remainder), st.just((1, 2)), st.just((2, 2, 3))), _always, _batched),
    (_step("concatenate_itself"), _always, _same),
    (_step("sample_with_itself"), _always, _same),
    (_step("zip_with_range"), _always, _apart),
    (_step("zip_behind_noise"), _always, _apart),
]


def _allowed(kind: Kind, step: Step) -> bool:
    """An infinite dataset must not be searched for an element that never comes."""
    if not kind.endless:
        return True
    return step.method in _SAFE_WITHOUT_END or (step.method == "take" and step.arguments[0] >= 0)


@st.composite
def recipes(draw: st.DrawFn, max_steps: int = 6) -> Recipe:
    """Any dataset of up to `max_steps` operations."""
    source = draw(st.sampled_from(list(SOURCES)))
    kind = SOURCES[source][1]
    steps: list[Step] = []
    for _ in range(draw(st.integers(0, max_steps))):
        choices = [(strategy, after) for strategy, when, after in STEPS if when(kind)]
        strategy, after = draw(st.sampled_from(choices))
        step = draw(strategy)
        if _allowed(kind, step):
            steps.append(step)
            kind = after(kind)
    return Recipe(source, tuple(steps))
