"""Seeds that nobody gave."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

import numpy as np

from unisono._src.data.plans._permutation import random_words


class _Here(threading.local):
    words: np.random.Philox | None = None


_here = _Here()


def draw_seed() -> int:
    """A new seed, from NumPy's global generator: `keras.utils.set_random_seed` governs it.

    While a function runs that makes one dataset out of each element, seeds follow from the element instead:
    its datasets come out the same in every run of that pass.
    """
    if _here.words is not None:
        return int(_here.words.random_raw() % 2**31)
    return int(np.random.randint(2**31))


def draw_map_seed() -> int:
    """A new seed for a function that may draw, from Python's generator, as Keras's layers take theirs.

    Every map has one and few use it: NumPy's generator, which scripts themselves draw from, is left alone.
    """
    return draw_seed() if _here.words is not None else random.randrange(2**31)


@contextlib.contextmanager
def derive_seeds(seed: int, path: tuple[int, ...]) -> Iterator[None]:
    """Inside, `drawn_seed` gives the numbers that belong to `path`."""
    before, _here.words = _here.words, random_words(seed, 0, path)
    try:
        yield
    finally:
        _here.words = before
