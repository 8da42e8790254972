"""Random orders as pure functions of (seed, which shuffle, which pass).

Built on the raw words of Philox, which NumPy promises never to change, and not on `Generator`, whose streams
may change between releases: a job that resumes after an upgrade keeps its data order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.plans._operation import PassId


def random_words(seed: int, shuffle: int, pass_id: PassId) -> np.random.Philox:
    """The source of random 64-bit words for one pass of one shuffle."""
    entropy = seed % 2**64  # seeds may be negative, entropy may not
    return np.random.Philox(np.random.SeedSequence(entropy, spawn_key=(shuffle, *pass_id)))


def permutation(size: int, seed: int, shuffle: int, pass_id: PassId) -> NDArray[np.intp]:
    """The numbers below `size` in a random order.

    Sorts by random 32-bit keys, 16 bits at a time: NumPy's stable argsort of 16-bit numbers is a radix sort,
    so 60,000 rows take about 1 ms. Two keys are equal with probability 2**-32, and then those two rows keep
    their order.
    """
    words = random_words(seed, shuffle, pass_id).random_raw((size + 1) // 2)
    digits = words.astype("<u8", copy=False).view("<u2")  # the same on every machine
    low, high = digits[:size], digits[size : 2 * size]
    order = np.argsort(low, kind="stable")
    return order[np.argsort(high[order], kind="stable")]
