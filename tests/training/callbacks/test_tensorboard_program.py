"""The real TensorBoard shows what was written. It has two loaders: a program of its own, and one in Python."""

import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests.training.callbacks import _driver as driver
from tests.training.callbacks._board import board
from unisono.callbacks import TensorBoard
from unisono.io import decode_png

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

Make = Callable[..., Any]
XY = tuple[np.ndarray, np.ndarray]

LOADERS = pytest.mark.parametrize("fast", [True, False], ids=["fast loader", "slow loader"])


@LOADERS
def test_tensorboard_shows_curves_histograms_images_and_the_graph(
    make_model: Make, xy: XY, tmp_path: Path, fast: bool
) -> None:
    model = make_model()
    callback = TensorBoard(tmp_path, histogram_freq=1, write_images=True, update_freq=4, profile_batch=(9, 16))
    history = model.fit(*xy, epochs=3, batch_size=8, validation_data=xy, callbacks=[callback], verbose=0).history
    with board(tmp_path, fast=fast) as shown:
        assert shown.scalars("train", "epoch_loss", 3) == list(enumerate(np.float32(history["loss"])))
        assert shown.scalars("validation", "epoch_loss", 3) == list(enumerate(np.float32(history["val_loss"])))
        assert [step for step, _ in shown.scalars("train", "batch_loss", 6)] == [4, 8, 12, 16, 20, 24]
        iterations = shown.scalars("validation", "evaluation_loss_vs_iterations", 3)
        assert [step for step, _ in iterations] == [8, 16, 24]

        histograms = shown.ask("plugin/histograms/histograms", run="train", tag="net/first/kernel/histogram")
        assert [step for _, step, _ in histograms] == [0, 1, 2]
        assert sum(count for _, _, count in histograms[-1][2]) == 12

        images = shown.ask("plugin/images/images", run="train", tag="net/first/kernel/image", sample=0)
        query = dict(urllib.parse.parse_qsl(images[-1]["query"]))
        shades = decode_png(shown.get("plugin/images/individualImage", **query))
        kernel = np.asarray(model.get_layer("first").kernel).T
        np.testing.assert_array_equal(shades[..., 0], np.clip(kernel * 255.5, 0, 255).astype("uint8"))

        assert shown.ask("plugin/graphs/info")["train"]["tags"]["keras"]["conceptual_graph"]
        graph = shown.get("plugin/graphs/graph", run="train", tag="keras", conceptual="true").decode()
        assert 'name: "net/first"' in graph
        assert 'input: "net/first"' in graph


@LOADERS
def test_a_functional_model_is_a_graph_with_its_branches(tmp_path: Path, pair: Any, fast: bool) -> None:
    with pair.scope():
        inputs = keras.Input((4,), name="rows")
        left, right = keras.layers.Dense(3, name="left")(inputs), keras.layers.Dense(3, name="right")(inputs)
        model = keras.Model(inputs, keras.layers.Add(name="both")([left, right]), name="net")
        model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path)
    driver.begin(callback, model)
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    with board(tmp_path, fast=fast) as shown:
        shown.scalars("train", "epoch_loss", 1)
        graph = shown.get("plugin/graphs/graph", run="train", tag="keras", conceptual="true").decode()
    assert 'input: "net/left"\n  input: "net/right"' in graph


def test_the_projector_shows_embeddings(tmp_path: Path, pair: Any) -> None:
    with pair.scope():
        words = keras.layers.Embedding(5, 2, name="words")
        model = keras.Sequential([keras.Input((3,)), words, keras.layers.Flatten(), keras.layers.Dense(1)], name="net")
        model.compile("sgd", "mse")
    (tmp_path / "labels.tsv").write_text("a\nb\nc\nd\ne\n")
    callback = TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata="labels.tsv")
    driver.begin(callback, model)
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    with board(tmp_path, fast=False) as shown:
        shown.wait_for(lambda: shown.ask("plugin/projector/runs"), lambda runs: "." in runs)
        [embedding] = shown.ask("plugin/projector/info", run=".")["embeddings"]
        assert embedding["tensorName"] == "net/words/embeddings"
        table = np.frombuffer(shown.get("plugin/projector/tensor", run=".", name="net/words/embeddings"), "float32")
        np.testing.assert_allclose(table.reshape(5, 2), np.asarray(words.embeddings), rtol=1e-6)
        assert shown.get("plugin/projector/metadata", run=".", name="net/words/embeddings") == b"a\nb\nc\nd\ne\n"


LOGS = {"loss": 0.5, "val_loss": 0.6}


def _killed(folder: Path, model: Any) -> Any:
    """Saves after 4 of 8 steps of the second epoch, and is killed in the third. Returns what was saved."""
    killed = TensorBoard(folder, histogram_freq=1, update_freq=1)
    driver.begin(killed, model)
    driver.epoch(killed, 0, **LOGS)
    killed.on_epoch_begin(1)
    driver.run_calls(killed, (1,) * 4, 0, LOGS)
    state = killed.get_state()
    driver.run_calls(killed, (1,) * 4, 4, LOGS)
    driver.end_epoch(killed, 1, **LOGS)
    killed.on_epoch_begin(2)
    driver.run_calls(killed, (1,) * 3, 0, LOGS)
    return state


def _resume(folder: Path, model: Any, state: Any) -> None:
    """Until the end of the third epoch, with another loss."""
    logs = {"loss": 0.25, "val_loss": 0.6}
    resumed = TensorBoard(folder, histogram_freq=1, update_freq=1)
    resumed.set_model(model)
    resumed.prepare_for_resume(1, driver.STEPS + 4)
    resumed.on_train_begin()
    resumed.set_state(state)
    resumed.on_epoch_begin(1)
    driver.run_calls(resumed, (1,) * 4, 4, logs)
    driver.end_epoch(resumed, 1, **logs)
    driver.epoch(resumed, 2, **logs)
    resumed.on_train_end()


@LOADERS
def test_after_a_resume_every_step_is_shown_once(make_model: Make, tmp_path: Path, fast: bool) -> None:
    model = make_model()
    _resume(tmp_path, model, _killed(tmp_path, model))
    with board(tmp_path, fast=fast) as shown:
        points = shown.scalars("train", "batch_loss", 24)
        assert points == [(step, 0.5 if step <= 12 else 0.25) for step in range(1, 25)]
        assert shown.scalars("train", "epoch_loss", 3) == [(0, 0.5), (1, 0.25), (2, 0.25)]
        assert [step for step, _ in shown.scalars("validation", "epoch_loss", 3)] == [0, 1, 2]
        histograms = shown.ask("plugin/histograms/histograms", run="train", tag="net/first/kernel/histogram")
        assert [step for _, step, _ in histograms] == [0, 1, 2]


@LOADERS
def test_a_tensorboard_that_looked_on_shows_no_step_twice(make_model: Make, tmp_path: Path, fast: bool) -> None:
    model = make_model()
    state = _killed(tmp_path, model)
    with board(tmp_path, fast=fast) as shown:
        assert len(shown.scalars("train", "batch_loss", 19)) == 19  # it has read what was written in vain
        _resume(tmp_path, model, state)
        points = shown.wait_for(
            lambda: shown.scalars("train", "batch_loss", 1), lambda points: points[-1] == (24, 0.25)
        )
        assert points == [(step, 0.5 if step <= 12 else 0.25) for step in range(1, 25)]
        if fast:  # the other one forgets by one step for all curves, and epochs have smaller numbers than steps
            assert shown.scalars("train", "epoch_loss", 3) == [(0, 0.5), (1, 0.25), (2, 0.25)]


@LOADERS
def test_a_tensorboard_that_looked_on_shows_no_epoch_twice_if_only_epochs_are_written(
    make_model: Make, tmp_path: Path, fast: bool
) -> None:
    model = make_model()
    killed = TensorBoard(tmp_path)
    driver.begin(killed, model)
    driver.epoch(killed, 0, loss=0.5)
    state = killed.get_state()
    driver.epoch(killed, 1, loss=0.5)
    with board(tmp_path, fast=fast) as shown:
        assert shown.scalars("train", "epoch_loss", 2) == [(0, 0.5), (1, 0.5)]
        resumed = TensorBoard(tmp_path)
        driver.begin(resumed, model)
        resumed.set_state(state)
        driver.epoch(resumed, 1, loss=0.25)
        driver.epoch(resumed, 2, loss=0.25)
        resumed.on_train_end()
        points = shown.wait_for(lambda: shown.scalars("train", "epoch_loss", 1), lambda points: points[-1] == (2, 0.25))
        assert points == [(0, 0.5), (1, 0.25), (2, 0.25)]
