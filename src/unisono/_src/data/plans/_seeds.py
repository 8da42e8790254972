"""Seeds for what the user gave none."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

import numpy as np

from unisono._src.data.plans._permutation import random_words


class _ThreadWords(threading.local):
    words: np.random.Philox | None = None


_thread = _ThreadWords()


def draw_seed() -> int:
    """A new seed, from NumPy's global generator: `keras.utils.set_random_seed` governs it.

    While a function runs that makes a dataset of each element, seeds are derived from the element instead:
    its datasets are the same in every run of that pass.
    """
    if _thread.words is not None:
        return int(_thread.words.random_raw() % 2**31)
    return int(np.random.randint(2**31))


def draw_map_seed() -> int:
    """A new seed for a function that may draw, from Python's generator, as Keras's layers take theirs.

    Every map has one and few use it: NumPy's generator, from which scripts draw, is not advanced.
    """
    return draw_seed() if _thread.words is not None else random.randrange(2**31)


@contextlib.contextmanager
def derive_seeds(seed: int, pass_id: tuple[int, ...]) -> Iterator[None]:
    """Inside, `drawn_seed` gives the numbers that belong to `pass_id`."""
    before, _thread.words = _thread.words, random_words(seed, 0, pass_id)
    try:
        yield
    finally:
        _thread.words = before
