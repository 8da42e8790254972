"""The collector of facts about a `fit`: plausible figures while it is active, no timing while it is not."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.core import _fit_facts, active_fit_facts, collect_fit_facts
from unisono._src.training import Resume
from unisono.checkpoint import EveryEpoch

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


def test_resident_arrays_are_sent_once_and_only_row_numbers_after_that(make_model: Make, xy: XY) -> None:
    x, y = xy  # 22 rows
    with collect_fit_facts() as facts:
        make_model().fit(x, y, batch_size=11, epochs=3, verbose=0)
    assert facts.data_is_resident
    assert facts.resident_bytes == x.nbytes + y.nbytes
    row_numbers = 22 * np.dtype("int32").itemsize
    assert facts.bytes_sent == facts.resident_bytes + 3 * row_numbers


@pytest.mark.slow
def test_steps_calls_and_forms_are_counted_and_compilation_takes_time(make_model: Make, xy: XY) -> None:
    model = make_model()
    with collect_fit_facts() as facts:
        model.fit(*xy, batch_size=8, epochs=2, validation_data=xy, verbose=0)  # 2 regular batches and an odd one
    assert facts.steps == 6
    assert facts.steps_by_form == {"loop": 4, "plain": 2}
    assert 0 < facts.calls <= facts.steps
    assert facts.programs == 4  # both forms, for training and for validation
    assert 0 < facts.compile_seconds < 60
    assert 0 < facts.validation_seconds < 60
    with collect_fit_facts() as again:
        model.fit(*xy, batch_size=8, verbose=0)
    assert (again.steps, again.programs, again.compile_seconds) == (3, 0, 0.0)


def test_a_slow_generator_shows_as_input_wait_and_a_slow_callback_as_callback_time(make_model: Make, xy: XY) -> None:
    def batches() -> Iterator[XY]:
        for _ in range(4):
            time.sleep(0.05)
            yield xy[0][:8], xy[1][:8]

    slow = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: time.sleep(0.1))
    with collect_fit_facts() as facts:
        make_model().fit(batches(), steps_per_epoch=4, callbacks=[slow], verbose=0)
    assert facts.data_is_resident is False
    assert facts.resident_bytes == 0
    assert facts.open_input_seconds >= 0.05  # the first batch, whose shapes are needed
    assert facts.input_wait_seconds >= 0.1
    assert facts.callback_seconds >= 0.1
    assert facts.bytes_sent >= 4 * 8 * (4 + 1) * 4


def test_checkpoints_are_timed_apart_for_the_copy_and_for_the_write(make_model: Make, xy: XY, tmp_path: Path) -> None:
    with collect_fit_facts() as facts:
        make_model().fit(*xy, epochs=2, resume=Resume(tmp_path, policy=EveryEpoch()), verbose=0)
    assert facts.checkpoints == 4  # at the start, after each epoch, and at the end
    assert facts.checkpoint_snapshot_seconds > 0
    assert facts.checkpoint_write_seconds > 0
    assert facts.checkpoint_wait_seconds >= 0


def test_the_facts_are_json_with_a_value_for_every_attribute(make_model: Make, xy: XY) -> None:
    with collect_fit_facts() as facts:
        make_model().fit(*xy, verbose=0)
    stored = json.loads(json.dumps(facts.to_json()))
    assert stored["steps"] == facts.steps
    assert stored.keys() == vars(facts).keys() - {"_lock"}


def test_a_fit_without_a_collector_reads_no_clock_for_it(
    make_model: Make, xy: XY, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> float:
        raise AssertionError("the clock was read for facts that are not collected")

    monkeypatch.setattr(_fit_facts, "perf_counter", refuse)
    assert active_fit_facts() is None
    backup = unisono.callbacks.BackupAndRestore(tmp_path)  # with `resume=` the run is recorded
    make_model().fit(*xy, epochs=2, validation_data=xy, callbacks=[backup], verbose=0)
    with collect_fit_facts(), pytest.raises(AssertionError, match="the clock was read"):
        make_model().fit(*xy, verbose=0)  # the patched clock is the one that is read
