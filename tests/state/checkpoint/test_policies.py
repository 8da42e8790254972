"""When to save."""

from __future__ import annotations

import math
from typing import Any

import pytest

from unisono._src.state.checkpoint._retention import RetentionRecord, newest_of_each_mark
from unisono.checkpoint import AnyOf, Best, EveryEpoch, EverySeconds, EverySteps, Progress, SavePolicy


def at(step: int = 0, saved: int = 0, seconds: float = 0.0, epochs: int | None = None, *losses: float) -> Progress:
    *earlier, logs = [{"loss": loss} for loss in losses] or [{}]
    return Progress(step=step, saved_step=saved, seconds=seconds, epochs=epochs, logs=logs, earlier=earlier)


@pytest.mark.parametrize(
    ("policy", "progress", "due"),
    [
        (EverySteps(10), at(9, 0), False),
        (EverySteps(10), at(10, 0), True),
        (EverySteps(10), at(10, 10), False),
        (EverySteps(10), at(13, 9), True),  # a call of several steps went past it
        (EverySteps(10), at(19, 13), False),
        (EverySeconds(2), at(5, 4, 1.9), False),
        (EverySeconds(2), at(5, 4, 2.0), True),
        (EverySeconds(2), at(5, 5, 9.0), False),  # nothing has happened
        (EveryEpoch(), at(5, 0, 0.0, None), False),
        (EveryEpoch(), at(5, 0, 0.0, 1), True),
        (EveryEpoch(3), at(5, 0, 0.0, 2), False),
        (EveryEpoch(3), at(5, 0, 0.0, 6), True),
        (Best("loss"), at(5, 0, 0.0, 1, 0.5), True),
        (Best("loss"), at(5, 0, 0.0, 3, 0.5, 0.3, 0.4), False),
        (Best("loss"), at(5, 0, 0.0, 3, 0.5, 0.3, 0.2), True),
        (Best("loss"), at(5, 0, 0.0, 2, 0.3, 0.3), False),
        (Best("loss"), at(5, 0, 0.0, None, 0.3), False),
        (Best("loss", "max"), at(5, 0, 0.0, 3, 0.5, 0.3, 0.6), True),
        (Best("loss"), at(5, 0, 0.0, 1, math.nan), False),
        (Best("loss"), at(5, 0, 0.0, 2, math.nan, 0.1), True),
        (AnyOf(EverySteps(10), EveryEpoch()), at(5, 0, 0.0, 1), True),
        (AnyOf(EverySteps(10), EveryEpoch()), at(5, 0), False),
    ],
)
def test_is_due(policy: SavePolicy, progress: Progress, due: bool) -> None:
    assert policy.due(progress) is due


@pytest.mark.parametrize(
    "monitor",
    [
        "val_accuracy",
        "auc_1",
        "val_precision",
        "binary_io_u",
        "recall",
        "val_acc",
        "f1_score",
        "val_f1score",
        "mean_iou",
        "r2_score",
        "acc@5",
        "aucpr",
        "Accuracy",
        "val_jaccard",
        "jaccard_coef",
        "dice_coef",
        "f1macro",
        "macrof1",
        "iouscore",
        "fbetascore",
        "accuracyTop5",
        "precisions",
    ],
)
def test_auto_knows_what_is_better_when_larger(monitor: str) -> None:
    logs: Any = [{monitor: 0.5}, {monitor: 0.6}]
    progress = Progress(step=2, saved_step=0, seconds=0, epochs=2, logs=logs[1], earlier=logs[:1])
    assert Best(monitor).due(progress)


@pytest.mark.parametrize(
    "monitor",
    ["val_acceleration_loss", "val_accuracy_loss", "previous_count", "recall_error", "sauce", "indices", "dice_loss"],
)
def test_auto_reads_whole_words(monitor: str) -> None:
    logs: Any = [{monitor: 0.5}, {monitor: 0.6}]
    progress = Progress(step=2, saved_step=0, seconds=0, epochs=2, logs=logs[1], earlier=logs[:1])
    assert not Best(monitor).due(progress)


def test_a_record_that_was_given_to_a_writer_does_not_change() -> None:
    """In the background it is written while the next epochs add their logs."""
    record = RetentionRecord(logs=[{"loss": 1.0}])
    given = record.to_json()
    record.logs.append({"loss": 0.5})
    record.note(2, "best loss")
    assert given["logs"] == [{"loss": 1.0}]
    assert given["marks"] == {}


def test_the_best_is_worth_keeping_and_nothing_else_is() -> None:
    assert Best("loss").worth_keeping(at(5, 0, 0.0, 2, 0.3, 0.2)) == "best loss"
    assert Best("loss").worth_keeping(at(5, 0, 0.0, 2, 0.2, 0.3)) is None
    assert EverySteps(5).worth_keeping(at(5)) is None
    assert AnyOf(EveryEpoch(), Best("loss"), Best("loss", "min")).worth_keeping(at(5, 0, 0, 1, 0.3)) == "best loss"


def test_a_value_that_is_never_logged_is_named() -> None:
    with pytest.warns(UserWarning, match="no 'val_loss'.*They have 'loss'"):
        assert not Best("val_loss").due(at(5, 0, 0.0, 1, 0.3))


def test_a_value_that_is_logged_now_and_then_is_not() -> None:
    progress = Progress(step=2, saved_step=0, seconds=0, epochs=2, logs={"loss": 1.0}, earlier=[{"val_loss": 1.0}])
    assert not Best("val_loss").due(progress)


def test_a_call_of_several_steps_ends_at_multiples() -> None:
    assert EverySteps(7).every == 7
    assert EverySeconds(1).every is None
    assert AnyOf(EverySteps(20), EveryEpoch(), EverySteps(30)).every == 10
    assert AnyOf(EveryEpoch()).every is None


def test_of_each_mark_the_newest_is_kept() -> None:
    assert newest_of_each_mark({1: "best a", 2: "best a, best b", 3: None, 4: "best a"}) == {2, 4}
    assert newest_of_each_mark({1: None}) == set()


@pytest.mark.parametrize(
    "make",
    [
        lambda: EverySteps(0),
        lambda: EverySteps(2.5),  # type: ignore[arg-type]
        lambda: EverySteps(True),
        lambda: EverySeconds(0),
        lambda: EverySeconds(math.nan),
        lambda: EverySeconds("30"),  # type: ignore[arg-type]
        lambda: EveryEpoch(-1),
        lambda: Best(""),
        lambda: Best("loss", "best"),  # type: ignore[arg-type]
        lambda: AnyOf(),
        lambda: AnyOf("epoch"),  # type: ignore[arg-type]
    ],
)
def test_policies_check_themselves(make: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"Every|Best|AnyOf"):
        make()


def test_policies_are_values() -> None:
    assert AnyOf(EverySteps(5), Best("loss")) == AnyOf(EverySteps(5), Best("loss"))
    assert len({EverySteps(5), EverySteps(5), EveryEpoch()}) == 2
