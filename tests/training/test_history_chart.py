"""`unisono.plot_history` draws what `fit` returned."""

from pathlib import Path
from xml.etree import ElementTree

import keras
import pytest

import unisono


def _history(epochs: list[int], **values: list[float]) -> keras.callbacks.History:
    history = keras.callbacks.History()
    history.epoch, history.history = epochs, values
    return history


def test_a_chart_has_a_line_for_training_and_one_for_validation(tmp_path: Path) -> None:
    chart = unisono.plot_history(_history([3, 4], accuracy=[0.5, 0.75], val_accuracy=[0.25, 0.5]), "accuracy")
    assert chart.epochs == (4, 5)
    chart.save(tmp_path / "accuracy.svg")
    drawn = ElementTree.parse(tmp_path / "accuracy.svg")
    texts = [element.text for element in drawn.iter() if element.text]
    assert {"accuracy", "training", "validation", "training: 0.75 at 5", "validation: 0.25 at 4"} <= {*texts}


def test_validation_in_some_epochs_only_is_left_out() -> None:
    chart = unisono.plot_history(_history([0, 1], loss=[2.0, 1.0], val_loss=[3.0]))
    assert [*chart.lines] == ["training"]


def test_a_metric_that_is_not_in_the_history_is_named() -> None:
    with pytest.raises(ValueError, match=r"has no 'acc'\. It has 'loss', 'accuracy'\."):
        unisono.plot_history(_history([0], loss=[2.0], accuracy=[0.5], val_loss=[1.0]), "acc")
