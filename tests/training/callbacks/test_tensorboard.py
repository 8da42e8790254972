"""What the TensorBoard callback writes, read back from the files."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest

from tests.training.callbacks import _driver as driver
from tests.training.callbacks._events import events, steps_of
from unisono.callbacks import TensorBoard

pytestmark = pytest.mark.slow

Make = Callable[..., Any]
XY = tuple[np.ndarray, np.ndarray]

# Tags, steps, plugins and shapes that Keras 3.15.1 with TensorFlow 2.21 wrote for the arguments of the test below.
KERAS_TRAIN = {
    "keras": [(0, "graph_keras_model", [])],
    "batch_steps_per_second": [(step, "scalars", []) for step in range(4, 25, 4)],
    "batch_loss": [(step, "scalars", []) for step in range(4, 25, 4)],
    "epoch_loss": [(epoch, "scalars", []) for epoch in range(3)],
    "epoch_learning_rate": [(epoch, "scalars", []) for epoch in range(3)],
    "epoch_steps_per_second": [(epoch, "scalars", []) for epoch in range(3)],
    **{
        f"net/{weight}/histogram": [(epoch, "histograms", [30, 3]) for epoch in (0, 2)]
        for weight in ("first/kernel", "first/bias", "second/kernel", "second/bias")
    },
    **{
        f"net/{weight}/image": [(epoch, "images", [3]) for epoch in (0, 2)]
        for weight in ("first/kernel", "first/bias", "second/kernel")
    },
}
KERAS_VALIDATION = {
    "evaluation_loss_vs_iterations": [(step, "scalars", []) for step in (8, 16, 24)],
    "epoch_loss": [(epoch, "scalars", []) for epoch in range(3)],
}


@pytest.mark.parametrize("scoped", [True, False])
def test_tags_steps_and_shapes_are_those_of_keras_with_tensorflow(
    make_model: Make, xy: XY, tmp_path: Path, scoped: bool
) -> None:
    callback = TensorBoard(tmp_path, histogram_freq=2, write_images=True, update_freq=4, write_steps_per_second=True)
    make_model(scoped=scoped).fit(*xy, epochs=3, batch_size=8, validation_data=xy, callbacks=[callback], verbose=0)
    assert _written(tmp_path / "train") == KERAS_TRAIN
    assert _written(tmp_path / "validation") == KERAS_VALIDATION
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train", "validation"]


def test_scalars_are_the_values_of_the_logs(make_model: Make, tmp_path: Path) -> None:
    callback = TensorBoard(tmp_path)
    driver.begin(callback, make_model(optimizer=keras.optimizers.SGD(0.25)))
    driver.epoch(callback, 0, loss=0.5, val_loss=float("nan"))
    callback.on_train_end()
    assert _scalars(tmp_path / "train") == {"epoch_loss": 0.5, "epoch_learning_rate": 0.25}
    assert np.isnan(_scalars(tmp_path / "validation")["epoch_loss"])


def test_logs_that_are_not_single_numbers_are_left_out(make_model: Make, tmp_path: Path) -> None:
    callback = TensorBoard(tmp_path, write_graph=False)
    driver.begin(callback, make_model())
    callback.on_epoch_end(0, {"loss": 0.5, "confusion": np.zeros((2, 2))})
    callback.on_train_end()
    assert set(steps_of(tmp_path / "train")) == {"epoch_loss", "epoch_learning_rate"}


def test_each_optimizer_of_several_has_its_learning_rate(make_model: Make, tmp_path: Path) -> None:
    inner = keras.optimizers.SGD(0.25)
    callback = TensorBoard(tmp_path)
    driver.begin(callback, make_model(optimizer=keras.optimizers.LossScaleOptimizer(inner)))
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    assert _scalars(tmp_path / "train")["epoch_learning_rate"] == 0.25


def test_with_update_freq_epoch_there_are_no_batch_hooks(make_model: Make, tmp_path: Path) -> None:
    """So that the loop does not wait for the logs of each call."""
    quiet, busy = TensorBoard(tmp_path), TensorBoard(tmp_path, update_freq="batch")
    profiling = TensorBoard(tmp_path, profile_batch=2)
    for hook in ("on_train_batch_begin", "on_train_batch_end"):
        assert getattr(getattr(quiet, hook), "_is_default", False)
        assert not getattr(getattr(busy, hook), "_is_default", False)
        assert not getattr(getattr(profiling, hook), "_is_default", False)
    assert keras.callbacks.CallbackList([quiet], model=make_model())._async_train


def test_hooks_of_a_subclass_are_called(make_model: Make, xy: XY, tmp_path: Path) -> None:
    batches = []

    class Mine(TensorBoard):
        def on_batch_end(self, batch: int, logs: Any = None) -> None:
            batches.append(batch)

    model = make_model(scoped=False)
    model.fit(*xy, batch_size=32, callbacks=[Mine(tmp_path)], verbose=0)
    assert batches == [0, 1]


def test_a_point_is_written_where_a_call_passed_a_multiple(make_model: Make, tmp_path: Path) -> None:
    callback = TensorBoard(tmp_path, update_freq=3)
    driver.begin(callback, make_model())
    driver.epoch(callback, 0, calls=(2, 1, 4, 1), loss=0.5)  # calls end at 2, 3, 7, 8
    driver.epoch(callback, 1, calls=(1, 3, 4), loss=0.5)  # and at 9, 12, 16
    callback.on_train_end()
    assert steps_of(tmp_path / "train")["batch_loss"] == [3, 7, 9, 12, 16]


def test_an_evaluation_alone_is_written_and_closed(make_model: Make, xy: XY, tmp_path: Path) -> None:
    model = make_model(scoped=False)
    model.evaluate(*xy, callbacks=[TensorBoard(tmp_path)], verbose=0)
    assert steps_of(tmp_path / "validation") == {"evaluation_loss_vs_iterations": [0]}
    assert not (tmp_path / "train").exists()


def test_weights_that_are_not_finite_leave_the_rest_of_histogram_and_image(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    kernel, *rest = model.get_weights()
    kernel[0, 0] = np.inf
    model.set_weights([kernel, np.full(3, np.nan, "float32"), *rest[1:]])
    callback = TensorBoard(tmp_path, histogram_freq=1, write_images=True)
    driver.begin(callback, model)
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    counts = {tag: values[:, 2].sum() for tag, values in _histograms(tmp_path / "train").items()}
    assert counts["net/first/kernel/histogram"] == kernel.size - 1
    assert counts["net/first/bias/histogram"] == 0
    assert "net/first/bias/image" in steps_of(tmp_path / "train")


def test_a_model_that_has_no_configuration_has_no_graph(make_model: Make, tmp_path: Path, pair: Any) -> None:
    class Odd(keras.layers.Layer):
        def __init__(self, needed: int) -> None:
            super().__init__()

        def call(self, x: Any) -> Any:
            return x

        def get_config(self) -> Any:
            raise NotImplementedError("no configuration")

    with pair.scope():
        model = keras.Sequential([keras.Input((4,)), Odd(3), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path)
    driver.begin(callback, model)
    with pytest.warns(UserWarning, match=r"no graph of 'sequential.*no configuration"):
        driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    assert "keras" not in steps_of(tmp_path / "train")


@pytest.mark.parametrize(
    ("profile_batch", "traced"), [(2, True), ((2, 3), True), ("2,3", True), (0, False), (99, False)]
)
def test_the_steps_that_were_asked_for_are_profiled(
    make_model: Make, tmp_path: Path, profile_batch: Any, traced: bool
) -> None:
    callback = TensorBoard(tmp_path, profile_batch=profile_batch)
    driver.begin(callback, make_model())
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    assert bool(list((tmp_path / "train").glob("plugins/profile/*/*.xplane.pb"))) == traced


def test_calls_have_to_end_before_and_after_the_profiled_steps() -> None:
    assert TensorBoard(profile_batch=(10, 20))._call_ends == (9, 20)
    assert TensorBoard()._call_ends == ()


def test_a_profiler_that_is_already_running_is_left_alone(make_model: Make, tmp_path: Path) -> None:
    callback = TensorBoard(tmp_path / "logs", profile_batch=2)
    driver.begin(callback, make_model())
    with jax.profiler.trace(str(tmp_path / "mine")), pytest.warns(UserWarning, match="no profile of steps 2-2"):
        driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    assert list((tmp_path / "mine").rglob("*.xplane.pb"))


@pytest.mark.parametrize("profile_batch", [-1, (3, 2), (1, 2, 3), "a,b", (0, 4), None])
def test_a_profile_batch_without_meaning_is_refused(profile_batch: Any) -> None:
    with pytest.raises(ValueError, match=r"profile_batch=.*\(10, 20\)"):
        TensorBoard(profile_batch=profile_batch)


@pytest.mark.parametrize("update_freq", [0, -5, 2.5, "step"])
def test_an_update_freq_without_meaning_is_refused(make_model: Make, update_freq: Any) -> None:
    with pytest.raises(ValueError, match=r"update_freq=.*update_freq=100"):
        TensorBoard(update_freq=update_freq).set_model(make_model())


def test_a_url_as_log_dir_is_refused(make_model: Make) -> None:
    with pytest.raises(ValueError, match="'gs://bucket/logs' is a URL"):
        TensorBoard("gs://bucket/logs").set_model(make_model())


def test_embeddings_are_written_for_the_projector(tmp_path: Path, pair: Any) -> None:
    with pair.scope():
        words = keras.layers.Embedding(5, 2, name="words")
        model = keras.Sequential([keras.Input((3,)), words, keras.layers.Flatten(), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    callback = TensorBoard(tmp_path, embeddings_freq=2, embeddings_metadata={"words": "labels.tsv"})
    driver.begin(callback, model)
    driver.epoch(callback, 0, loss=0.5)
    callback.on_train_end()
    table = np.loadtxt(tmp_path / "embeddings" / "words.tsv", delimiter="\t")
    np.testing.assert_allclose(table, np.asarray(words.embeddings), rtol=1e-6)
    assert 'metadata_path: "labels.tsv"' in (tmp_path / "projector_config.pbtxt").read_text()


def test_labels_for_a_layer_that_is_not_there_are_refused(make_model: Make, tmp_path: Path) -> None:
    callback = TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"words": "labels.tsv"})
    with pytest.raises(ValueError, match=r"\['words'\], which are not Embedding layers of 'net'"):
        callback.set_model(make_model())


def test_a_folder_that_cannot_be_written_is_named(make_model: Make, tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    callback = TensorBoard(tmp_path / "logs")
    driver.begin(callback, make_model())
    with pytest.raises(OSError, match=r"events cannot be written to '.*logs/train'"):
        driver.epoch(callback, 0, loss=0.5)


def test_nothing_of_keras_that_would_import_tensorflow_is_left() -> None:
    """Checked against Keras 3.15.1: every hook that its class has is replaced."""
    hooks = [name for name in vars(keras.callbacks.TensorBoard) if name.startswith("on_") or name == "set_model"]
    assert hooks
    assert [name for name in hooks if name not in vars(TensorBoard)] == []


def test_tensorflow_is_not_imported(tmp_path: Path) -> None:
    script = f"""
import sys, unisono, keras, numpy as np
from unisono.callbacks import TensorBoard
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
callback = TensorBoard({str(tmp_path)!r}, histogram_freq=1, update_freq=1)
model.fit(np.zeros((4, 2)), np.zeros((4, 1)), callbacks=[callback], verbose=0)
assert not [name for name in sys.modules if name.split(".")[0] in ("tensorflow", "tensorboard")]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def _written(folder: Path) -> dict[str, list[tuple[int, str, list[int]]]]:
    found: dict[str, list[tuple[int, str, list[int]]]] = {}
    for event in events(folder):
        for value in event.summary.value:
            shape = [dim.size for dim in value.tensor.tensor_shape.dim]
            plugin = value.metadata.plugin_data.plugin_name or "scalars"
            found.setdefault(value.tag, []).append((event.step, plugin, shape))
    return found


def _scalars(folder: Path) -> dict[str, float]:
    values = [value for event in events(folder) for value in event.summary.value if value.HasField("simple_value")]
    return {value.tag: value.simple_value for value in values}


def _histograms(folder: Path) -> dict[str, np.ndarray]:
    values = [value for event in events(folder) for value in event.summary.value]
    return {
        value.tag: np.frombuffer(value.tensor.tensor_content, "<f8").reshape(-1, 3)
        for value in values
        if value.metadata.plugin_data.plugin_name == "histograms"
    }
