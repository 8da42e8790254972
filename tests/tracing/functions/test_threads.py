"""Functions that are called in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable

import keras
import numpy as np
import pytest

import unisono

pytestmark = pytest.mark.slow


def _call_in_threads(*calls: Callable[[], object]) -> list[Exception]:
    """Makes each of the calls 500 times in a thread of its own; returns the errors."""
    errors = []

    def repeat(call: Callable[[], object]) -> None:
        for _ in range(500):
            try:
                call()
            except Exception as error:
                errors.append(error)

    threads = [threading.Thread(target=repeat, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_no_assignment_is_lost() -> None:
    total = keras.Variable(0.0)
    add = unisono.function(lambda: total.assign_add(1.0))
    assert _call_in_threads(add, add) == []
    assert float(total) == 1000


def test_one_thread_reads_what_another_one_writes() -> None:
    weight = keras.Variable(np.zeros(8, "float32"))
    write = unisono.function(lambda: weight.assign_add(np.ones(8, "float32")))
    read = unisono.function(lambda: weight * 2.0)
    assert _call_in_threads(write, lambda: np.asarray(read())) == []
