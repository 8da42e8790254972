"""`TensorBoard` without TensorFlow: Keras's arguments, tags and folders.

A call of the training loop may run many steps, and batch hooks are called at its end. With a number as `update_freq`
calls end at those steps. If nothing is written between epochs the callback has no batch hooks at all, so that the loop
does not wait for logs that are not read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import keras

from unisono._src.core import warn_user
from unisono._src.keras_hooks import run_on_chief_with_whole_values
from unisono._src.processes import processes
from unisono._src.training.callbacks import _summaries
from unisono._src.training.callbacks._batch_counter import BatchCounter
from unisono._src.training.callbacks._event_files import EventFiles, check_event_state, new_mark
from unisono._src.training.callbacks._learning_rates import learning_rates, to_number
from unisono._src.training.callbacks._profile import StepProfile, profiled_steps
from unisono._src.training.callbacks._projector import check_metadata, write_embeddings


class TensorBoard(keras.callbacks.TensorBoard):
    """Writes curves, histograms, images, the graph of layers, a profile and embeddings for TensorBoard.

    With several workers, only the chief writes. After resuming, the curves continue without duplicate steps.

    Args:
        log_dir: a folder. `train` and `validation` in it are TensorBoard's runs.
        histogram_freq: every how many epochs histograms of the weights are written; 0 for never.
        write_graph: whether the layers of a Sequential or functional model are shown as a graph.
        write_images: whether weights are shown as images, as often as histograms.
        write_steps_per_second: whether the speed is written as a curve too.
        update_freq: "epoch"; or a number n, for curves over steps (`batch_loss`) with a point every n steps; or
            "batch" for n = 1.
        profile_batch: the step to profile (the first is 1), or the first and the last one; 0 for none.
        embeddings_freq: every how many epochs the tables of Embedding layers are written; 0 for never.
        embeddings_metadata: a file of labels in ``log_dir`` for all of these layers, or one for each by its name.

    ```python
    model.fit(x, y, epochs=10, callbacks=[unisono.callbacks.TensorBoard("logs", update_freq=100)])
    ```
    """

    # What Keras's class does between steps of an evaluation is for TensorFlow's summaries.
    on_test_begin = keras.callbacks.Callback.on_test_begin
    on_test_batch_begin = keras.callbacks.Callback.on_test_batch_begin

    def __init__(
        self,
        log_dir: str | Path = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: Literal["batch", "epoch"] | int = "epoch",
        profile_batch: int | str | tuple[int, int] = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: str | Mapping[str, str] | None = None,
    ):
        super().__init__(
            log_dir=log_dir,
            histogram_freq=histogram_freq,
            write_graph=write_graph,
            write_images=write_images,
            write_steps_per_second=write_steps_per_second,
            update_freq=update_freq,
            profile_batch=0,  # with Python 3.11 Keras's profiler fails
            embeddings_freq=embeddings_freq,
            embeddings_metadata=embeddings_metadata,
        )
        self.profile_batch = profiled_steps(profile_batch)

    def set_model(self, model: Any) -> None:
        """A training or an evaluation begins. Nothing is written yet: it may be one that is resumed."""
        self._callback.set_model(model)
        _check(self.log_dir, self.update_freq)
        if self.embeddings_freq:
            check_metadata(model, self.embeddings_metadata)
        self._log = _RunLog(Path(self.log_dir), self.profile_batch)

    @property
    def _call_ends(self) -> tuple[int, ...]:
        """Steps, counted from 1, after which the training loop has to call the batch hooks."""
        first, last = self.profile_batch
        return (first - 1, last) if last else ()

    @property
    def on_train_batch_begin(self) -> Any:
        """The batch hook, if something is written between epochs."""
        return self._before_call if self._has_batch_hooks else self._callback.on_train_batch_begin

    @property
    def on_train_batch_end(self) -> Any:
        """The batch hook, if something is written between epochs."""
        return self._after_call if self._has_batch_hooks else self._callback.on_train_batch_end

    @property
    def _has_batch_hooks(self) -> bool:
        return self.update_freq != "epoch" or self.profile_batch[1] > 0

    @property
    def _callback(self) -> Any:
        """The base class of all callbacks, whose hooks are marked as doing nothing."""
        return super(keras.callbacks.TensorBoard, self)

    def on_train_begin(self, logs: Any = None) -> None:
        """Counts from the first step."""
        self._log.counter = BatchCounter()
        self._log.is_training = True

    def on_train_end(self, logs: Any = None) -> None:
        """Closes the files."""
        self._log.close()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Starts the clock of the epoch."""
        self._log.counter.begin_epoch(epoch)
        if self.write_steps_per_second:
            self._log.epoch_reset = time.perf_counter(), self._iterations()

    def _before_call(self, batch: int, logs: Any = None) -> None:
        if processes().is_chief:
            self._log.profile.before(self._log.counter.steps + 1)
        self._log.call_start = time.perf_counter()

    def _after_call(self, batch: int, logs: Any = None) -> None:
        before, seconds = self._log.counter.steps, time.perf_counter() - self._log.call_start
        steps = self._log.counter.end_batch(batch)
        self._log.profile.after(steps)
        if self.update_freq == "epoch" or steps // self.update_freq == before // self.update_freq:
            return
        values = {f"batch_{name}": value for name, value in logs.items()} if isinstance(logs, dict) else {}
        if self.write_steps_per_second:
            values["batch_steps_per_second"] = (steps - before) / seconds
        self._write_train(_summaries.scalars(values), steps)

    def on_test_end(self, logs: Any = None) -> None:
        """Curves of an evaluation, over the steps that the optimizer has done."""
        if logs and getattr(self.model.optimizer, "iterations", None) is not None:
            values = {f"evaluation_{name}_vs_iterations": value for name, value in logs.items()}
            self._write_validation(_summaries.scalars(values), self._iterations())
        if not self._log.is_training:
            self._log.close()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Curves over epochs; histograms, images and embeddings if they are due."""
        # Every worker computes what is computed on devices, even if the chief alone writes it.
        if logs:
            self._write_curves(epoch, {**logs, **learning_rates(self.model)})
        run_on_chief_with_whole_values(self.model, lambda: self._write_values(epoch))

    def _write_values(self, epoch: int) -> None:
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            write_embeddings(Path(self.log_dir), self.model, self.embeddings_metadata)

    def _write_curves(self, epoch: int, logs: Mapping[str, Any]) -> None:
        train = {f"epoch_{name}": value for name, value in logs.items() if not name.startswith("val_")}
        validation = {f"epoch_{name[4:]}": value for name, value in logs.items() if name.startswith("val_")}
        if self.write_steps_per_second:
            clock, iterations = self._log.epoch_reset
            train["epoch_steps_per_second"] = (self._iterations() - iterations) / (time.perf_counter() - clock)
        self._write_train(_summaries.scalars(train), epoch)
        if validation:
            self._write_validation(_summaries.scalars(validation), epoch)

    def _write_weights(self, epoch: int) -> None:
        for layer in self.model.layers:
            for weight in layer.weights:
                name, array = weight.path.replace(":", "_"), keras.ops.convert_to_numpy(weight)
                self._write_train(_summaries.histogram(f"{name}/histogram", array), epoch)
                weight_images = _summaries.weight_images(array) if self.write_images else None
                if weight_images is not None:
                    self._write_train(_summaries.images(f"{name}/image", weight_images), epoch)

    def _iterations(self) -> int:
        return int(to_number(self.model.optimizer.iterations))

    def _write_train(self, summary: Any, step: int) -> None:
        if not processes().is_chief:
            return
        if self.write_graph and not self._log.graph_is_written:
            self._log.graph_is_written = True
            config = _layers_of(self.model)
            if config is not None:
                self._log.train.add(_summaries.keras_model("keras", config), 0)
        self._log.train.add(summary, step)

    def _write_validation(self, summary: Any, step: int) -> None:
        if processes().is_chief:
            self._log.validation.add(summary, step)

    def prepare_for_resume(self, epoch: int, step: int) -> None:
        """`fit` calls it before `on_train_begin` of a run that resumes after ``step`` steps; 0: from no checkpoint."""
        for files in self._log.runs.values():
            files.forget_from(step + 1 if step else 0)

    def get_state(self) -> dict[str, Any]:
        """What a resume needs: the steps, and the sizes of the files."""
        return self._log.get_state()

    def set_state(self, state: dict[str, Any]) -> None:
        """Resumes from ``state``. Events that were written after it was taken are deleted."""
        self._log.set_state(state, on_disk=processes().is_chief)


class _RunLog:
    """The files and counts of one training or evaluation."""

    def __init__(self, folder: Path, profile_batch: tuple[int, int]):
        mark = new_mark()
        self.train, self.validation = (EventFiles(folder / run, mark) for run in ("train", "validation"))
        self.runs = {"train": self.train, "validation": self.validation}
        self.counter = BatchCounter()
        self.profile = StepProfile(str(folder / "train"), *profile_batch)
        self.is_training = self.graph_is_written = False
        self.epoch_reset, self.call_start = (0.0, 0), 0.0

    def get_state(self) -> dict[str, Any]:
        runs = {name: files.get_state() for name, files in self.runs.items()}
        return {"counter": self.counter.get_state(), "graph_is_written": self.graph_is_written, "runs": runs}

    def set_state(self, state: dict[str, Any], *, on_disk: bool) -> None:
        for name in self.runs:
            check_event_state(state["runs"].get(name))
        self.counter.set_state(state["counter"])
        self.graph_is_written = state["graph_is_written"]
        self.profile.after(self.counter.steps)
        if on_disk:
            for name, files in self.runs.items():
                files.set_state(state["runs"][name])

    def close(self) -> None:
        self.is_training = False
        self.profile.end()
        for files in self.runs.values():
            files.close()


def _check(log_dir: str, update_freq: Any) -> None:
    if "://" in log_dir:
        raise ValueError(
            f"TensorBoard: log_dir={log_dir!r} is a URL, and event files are written to folders. "
            "Give it a folder, and copy or mount that."
        )
    if update_freq != "epoch" and not (isinstance(update_freq, int) and update_freq > 0):
        raise ValueError(
            f'TensorBoard: update_freq={update_freq!r}. Expected "epoch", "batch", or every how many steps a point '
            "is written: update_freq=100."
        )


def _layers_of(model: Any) -> str | None:
    """The configuration of a model, if it is one that TensorBoard can draw."""
    if type(model).__name__ not in ("Functional", "Sequential"):
        return None
    try:
        config: str = model.to_json()
    except Exception as error:  # of a custom layer
        warn_user(f"TensorBoard: no graph of {model.name!r}, it has no configuration: {error}")
        return None
    return config
