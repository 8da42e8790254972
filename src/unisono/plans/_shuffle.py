"""shuffle: the same elements in a random order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unisono.plans._operation import Deferred, Operation, Path, Upstream
from unisono.plans._permutation import permutation, random_words
from unisono.plans._whole_number import whole_number


@dataclass(frozen=True)
class Shuffle(Operation):
    """A random order, new in every pass unless `reshuffle_each_iteration` is False.

    Where the number of elements is known the order is a full permutation, whatever the buffer size: elements
    are deferred, so it costs nothing, and it mixes better than tf.data does. Otherwise a buffer of
    `buffer_size` elements is kept and one of them is drawn at a time, as in tf.data.
    """

    buffer_size: int
    seed: int | None = None
    """None is replaced by a number when the operation is made."""
    reshuffle_each_iteration: bool = True

    def __post_init__(self) -> None:
        size = whole_number(self.buffer_size, "shuffle", "buffer_size")
        if size < 1:
            raise ValueError(
                f"shuffle: buffer_size must be at least 1, but it is {size}. "
                f"Write shuffle(len(x)); rows of arrays are mixed fully whatever the size."
            )
        # NumPy's global generator, so that keras.utils.set_random_seed governs unseeded shuffles too.
        seed = np.random.randint(2**31) if self.seed is None else whole_number(self.seed, "shuffle", "seed")
        object.__setattr__(self, "buffer_size", size)
        object.__setattr__(self, "seed", int(seed))

    def cardinality(self, upstream: int) -> int:
        return upstream

    def permutation(self, size: int, shuffle: int, path: Path) -> NDArray[np.intp]:
        """The order of `size` elements in this pass; `shuffle` counts the shuffles that stand before."""
        return permutation(size, self._seed, shuffle, self._pass(path))

    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        if upstream.cardinality >= 0:
            elements = list(upstream.elements(path))
            for index in self.permutation(len(elements), upstream.num_shuffles, path):
                yield elements[index]
        else:
            yield from self._drawn_from_buffer(upstream, path)

    def _drawn_from_buffer(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        words = random_words(self._seed, upstream.num_shuffles, self._pass(path))
        buffer: list[Deferred] = []
        for element in upstream.elements(path):
            if len(buffer) < self.buffer_size:
                buffer.append(element)
                continue
            drawn = words.random_raw() % len(buffer)
            yield buffer[drawn]
            buffer[drawn] = element
        while buffer:
            drawn = words.random_raw() % len(buffer)
            buffer[drawn], buffer[-1] = buffer[-1], buffer[drawn]
            yield buffer.pop()

    @property
    def _seed(self) -> int:
        assert self.seed is not None, "__post_init__ draws one"
        return self.seed

    def _pass(self, path: Path) -> Path:
        return path if self.reshuffle_each_iteration else ()

    def __str__(self) -> str:
        return f"shuffle({self.buffer_size})"
