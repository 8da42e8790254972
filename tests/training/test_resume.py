"""A `fit` that was interrupted resumes as if nothing had happened: bit for bit.

Here the interruption is an exception and the second run a second model in this process; tests/faults kills processes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.processes import Consensus, Preempted
from unisono._src.training import Resume
from unisono._src.training import _resume as resume_module
from unisono.checkpoint import EveryEpoch, EverySteps, request_preemption
from unisono.data import Dataset

pytestmark = pytest.mark.slow

ROWS = 45
RNG = np.random.default_rng(0)
X = RNG.normal(size=(ROWS, 6)).astype("float32")
Y = RNG.integers(0, 3, ROWS)


class InterruptedHereError(Exception):
    pass


class Interrupt(keras.callbacks.Callback):
    """Raises after so many steps, counted over all epochs of this process; or in a hook that is named."""

    def __init__(self, steps: int | None = None, hook: str | None = None, epoch: int = 1) -> None:
        super().__init__()
        self._left, self._hook, self._epoch = steps, hook, epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                raise InterruptedHereError

    def on_test_begin(self, logs: Any = None) -> None:
        if self._hook == "validation":
            raise InterruptedHereError

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self._hook == "epoch_begin" and epoch == self._epoch:
            raise InterruptedHereError

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._hook == "epoch_end" and epoch == self._epoch:
            raise InterruptedHereError


def new_model(replicas: int = 2, **compiled: Any) -> Any:
    keras.utils.set_random_seed(7)
    with unisono.MirroredStrategy([f"cpu:{index}" for index in range(replicas)]).scope():
        model = keras.Sequential(
            [
                keras.layers.Dense(8, activation="relu"),
                keras.layers.BatchNormalization(),
                keras.layers.Dropout(0.3),
                keras.layers.Dense(3, activation="softmax"),
            ]
        )
        arguments: dict[str, Any] = {
            "optimizer": keras.optimizers.Adam(0.01),
            "loss": "sparse_categorical_crossentropy",
            "metrics": ["accuracy"],
        }
        model.compile(**arguments | compiled)
    return model


class FirstValues(keras.callbacks.Callback):
    """Those of all variables of a model when its training begins: to train it again without compiling it again."""

    def __init__(self) -> None:
        super().__init__()
        self.values: list[tuple[Any, Any]] = []

    def on_train_begin(self, logs: Any = None) -> None:
        variables = [*self.model.variables, *self.model.optimizer.variables]
        self.values = self.values or [(variable, np.array(variable.value)) for variable in variables]

    def assign(self, *, junk: bool = False) -> None:
        for variable, value in self.values:
            variable.assign(np.full_like(value, 3) if junk else value)


def seed() -> None:
    """For shuffles that have no seed of their own. A resumed run is not seeded here: it has those of the first."""
    keras.utils.set_random_seed(3)


def everything(model: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(variable.value) for variable in [*model.variables, *model.optimizer.variables]]


def assert_same(first: Any, second: Any) -> None:
    for variable, one, other in zip(first.variables, everything(first), everything(second), strict=False):
        np.testing.assert_array_equal(one, other, err_msg=variable.path)
    assert first.history.history == second.history.history
    assert first.history.epoch == second.history.epoch


@pytest.fixture(autouse=True)
def new_process() -> Iterator[Callable[[], None]]:
    """Forgets how many trainings this process has made, as another one would not know."""
    resume_module._finished.clear()
    yield resume_module._finished.clear
    resume_module._finished.clear()


# Of the interruptions between steps, those that are tried by default.
BETWEEN = [("validation", EverySteps(2)), ("epoch_begin", EverySteps(1)), ("epoch_end", EveryEpoch())]


def arrays() -> dict[str, Any]:
    return {"x": X, "y": Y, "batch_size": 8}


def within_batches() -> dict[str, Any]:
    return {"x": X, "y": Y, "batch_size": 8, "shuffle": "batch"}


def rows() -> dict[str, Any]:
    return {"x": Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).map(lambda x, y: (x * 2, y)).batch(8)}


def stream() -> dict[str, Any]:
    return {"x": Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -1).shuffle(16).batch(8).prefetch(2)}


def without_end() -> dict[str, Any]:
    return {"x": Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).repeat().batch(8), "steps_per_epoch": 7}


def stream_without_end() -> dict[str, Any]:
    plan = Dataset.from_tensor_slices((X, Y)).filter(lambda x, y: x[0] > -1).shuffle(16).repeat().batch(8)
    return {"x": plan, "steps_per_epoch": 7}


def augmented() -> dict[str, Any]:
    def add_noise(x: Any, y: Any) -> Any:
        return x + keras.random.normal(x.shape), y

    return {"x": Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).map(add_noise).batch(8)}


INPUTS = [arrays, stream_without_end, rows, stream, within_batches, without_end, augmented]


@pytest.mark.full  # test_resume_at_every_step.py does the same with a smaller model on one device
@pytest.mark.parametrize("data", INPUTS, ids=lambda make: make.__name__)
def test_every_input_resumes_at_the_next_step(
    data: Callable[[], dict[str, Any]], tmp_path: Path, new_process: Callable[[], None]
) -> None:
    arguments = {"epochs": 3, "verbose": 0, "validation_data": (X, Y), "validation_batch_size": 16}
    whole, model, first_values = new_model(), new_model(), FirstValues()
    seed()
    whole.fit(**data(), **arguments)
    for steps in (1, 4, 6, 9):
        resume = Resume(tmp_path / f"{steps}", policy=EverySteps(2))
        first_values.assign()
        new_process()
        seed()
        with pytest.raises(InterruptedHereError):
            model.fit(**data(), **arguments, resume=resume, callbacks=[first_values, Interrupt(steps)])
        first_values.assign(junk=True)
        new_process()
        model.fit(**data(), **arguments, resume=resume)
        assert_same(whole, model)


@pytest.mark.parametrize(
    ("hook", "policy"),
    [
        pytest.param(hook, policy, id=f"{hook}-{policy}", marks=[] if (hook, policy) in BETWEEN else pytest.mark.full)
        for hook in ("validation", "epoch_begin", "epoch_end")
        for policy in (EverySteps(2), EverySteps(1), EveryEpoch())
    ],
)
def test_it_resumes_after_an_interruption_between_steps(
    hook: str, policy: Any, tmp_path: Path, new_process: Callable[[], None]
) -> None:
    arguments = {"epochs": 3, "verbose": 0, "validation_data": (X, Y)}
    whole, broken, again = new_model(), new_model(), new_model()
    resume = Resume(tmp_path / "run", policy=policy)
    seed()
    whole.fit(**arrays(), **arguments)
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arrays(), **arguments, resume=resume, callbacks=[Interrupt(hook=hook)])
    new_process()
    again.fit(**arrays(), **arguments, resume=resume)
    assert_same(whole, again)


@pytest.mark.full
def test_a_signal_in_a_validation_leaves_before_its_end(tmp_path: Path, new_process: Callable[[], None]) -> None:
    class SendSigterm(keras.callbacks.Callback):
        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 1 and len(self.model.history.epoch) == 0:
                os.kill(os.getpid(), signal.SIGTERM)

    def arguments() -> dict[str, Any]:  # other rows in every pass
        some = Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).take(20).batch(8)
        return {**arrays(), "epochs": 3, "verbose": 0, "validation_data": some}

    whole, preempted, again = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arguments())
    seed()
    with pytest.raises(Preempted):
        preempted.fit(**arguments(), resume=tmp_path / "run", callbacks=[SendSigterm()])
    assert preempted.history.epoch == []
    again.fit(**arguments(), resume=tmp_path / "run")
    assert_same(whole, again)


@pytest.mark.full
def test_a_request_of_another_thread_ends_a_fit_outside_of_the_main_thread(
    tmp_path: Path, new_process: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    class Request(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 3:
                thread = threading.Thread(target=request_preemption, args=("the node drains",))
                thread.start()
                thread.join()

    def fit(model: Any, **arguments: Any) -> None:
        with contextlib.suppress(Preempted):
            model.fit(**rows(), epochs=3, verbose=0, **arguments)

    def fit_in_thread(model: Any, **arguments: Any) -> None:
        thread = threading.Thread(target=fit, args=(model,), kwargs=arguments)
        thread.start()
        thread.join()

    whole, preempted, again = new_model(), new_model(), new_model()
    seed()
    fit(whole)
    seed()
    fit_in_thread(preempted, resume=tmp_path / "run", callbacks=[Request()])
    assert preempted.optimizer.iterations == 4
    assert f"the node drains; everything is saved in {tmp_path / 'run'}" in capsys.readouterr().err
    fit_in_thread(again, resume=tmp_path / "run")
    assert_same(whole, again)


def test_no_step_before_the_last_checkpoint_runs_again(tmp_path: Path, new_process: Callable[[], None]) -> None:
    seen: list[tuple[int, int]] = []

    class Count(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            self._epoch = epoch

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append((self._epoch, batch))

    resume = Resume(tmp_path / "run", policy=EverySteps(4))
    seed()
    with pytest.raises(InterruptedHereError):
        new_model().fit(**arrays(), epochs=3, verbose=0, resume=resume, callbacks=[Count(), Interrupt(11)])
    new_process()
    before = len(seen)
    new_model().fit(**arrays(), epochs=3, verbose=0, resume=resume, callbacks=[Count()])
    assert seen[before] == (1, 2)  # 8 steps were saved, 6 of which are the first epoch's
    assert len(seen) == before + 18 - 8


@pytest.mark.full
def test_the_beginning_of_an_epoch_sees_the_restored_weights_and_changes_nothing_when_it_is_repeated(
    tmp_path: Path, new_process: Callable[[], None]
) -> None:
    kernels: list[np.ndarray[Any, Any]] = []

    class Decay(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            kernels.append(np.array(self.model.layers[0].kernel))
            self.model.optimizer.learning_rate.assign(self.model.optimizer.learning_rate * 0.5)

    class LastKernel(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.kernel = np.array(self.model.layers[0].kernel)

    resume, last = Resume(tmp_path / "run", policy=EverySteps(1)), LastKernel()
    whole, broken, again = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arrays(), epochs=2, verbose=0, callbacks=[Decay()])
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arrays(), epochs=2, verbose=0, resume=resume, callbacks=[Decay(), Interrupt(9), last])
    new_process()
    kernels.clear()
    again.fit(**arrays(), epochs=2, verbose=0, resume=resume, callbacks=[Decay()])
    assert len(kernels) == 1  # the second epoch, which had begun
    np.testing.assert_array_equal(kernels[0], last.kernel)
    assert_same(whole, again)


def test_a_metric_with_a_value_for_each_class_is_resumed_within_an_epoch(
    tmp_path: Path, new_process: Callable[[], None]
) -> None:
    """`F1Score` logs an array."""
    labels = keras.utils.to_categorical(Y, 3)
    compiled = {"loss": "categorical_crossentropy"}
    data: dict[str, Any] = {"x": X, "y": labels, "batch_size": 8, "epochs": 2, "verbose": 0, "shuffle": False}
    whole, broken, again = (new_model(**compiled, metrics=[keras.metrics.F1Score()]) for _ in range(3))
    resume = Resume(tmp_path / "run", policy=EverySteps(6))  # that of the last step of an epoch, which ends again
    whole.fit(**data)
    with pytest.raises(InterruptedHereError):
        broken.fit(**data, resume=resume, callbacks=[Interrupt(hook="epoch_end", epoch=0)])
    new_process()
    again.fit(**data, resume=resume)
    np.testing.assert_array_equal(whole.history.history["f1_score"], again.history.history["f1_score"])


def test_every_epoch_and_every_validation_begins_with_a_vote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls may take much longer than those from which the next vote was computed."""
    hooks: list[str] = []
    restart = Consensus.restart
    monkeypatch.setattr(Consensus, "restart", lambda self: (hooks.append("vote"), restart(self))[1])
    record = keras.callbacks.LambdaCallback(on_epoch_begin=lambda *_: hooks.append("epoch"))
    record.on_test_begin = lambda logs=None: hooks.append("validation")
    new_model().fit(X, Y, epochs=2, validation_data=(X, Y), verbose=0, resume=tmp_path / "run", callbacks=[record])
    assert hooks == ["vote", *["epoch", "vote", "vote", "validation"] * 2]


def test_training_that_has_finished_is_not_run_again(tmp_path: Path, new_process: Callable[[], None]) -> None:
    first, second = new_model(), new_model()
    seed()
    first.fit(**arrays(), epochs=2, verbose=0, resume=tmp_path / "run")
    new_process()
    history = second.fit(**arrays(), epochs=2, verbose=0, resume=tmp_path / "run")
    assert_same(first, second)
    assert history.epoch == [0, 1]


@pytest.mark.parametrize("data", [within_batches, rows], ids=["shuffle within batches", "dataset, stopped early"])
def test_a_second_fit_after_one_that_had_finished_gets_the_same_batches(
    data: Callable[[], dict[str, Any]], tmp_path: Path, new_process: Callable[[], None]
) -> None:
    class StopEarly(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.stop_training = epoch == 1 and data is rows

    def run_script() -> Any:
        new_process()
        model = new_model()
        seed()
        given = data()
        model.fit(**given, epochs=3, verbose=0, resume=tmp_path / "run", callbacks=[StopEarly()])
        model.fit(**given, epochs=1, verbose=0)
        return model

    assert_same(run_script(), run_script())


def test_a_second_fit_gets_the_same_batches_if_the_first_was_killed_after_a_callback_had_stopped_it(
    tmp_path: Path, new_process: Callable[[], None]
) -> None:
    class StopEarly(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.stop_training = epoch == 1

    class Fail(keras.callbacks.Callback):
        def on_train_end(self, logs: Any = None) -> None:
            raise InterruptedHereError

    def run_script(folder: str, *also: Any) -> Any:
        new_process()
        model = new_model()
        seed()
        given = rows()
        resume = Resume(tmp_path / folder, policy=EveryEpoch())
        model.fit(**given, epochs=4, verbose=0, resume=resume, callbacks=[StopEarly(), *also])
        model.fit(**given, epochs=1, verbose=0)
        return model

    whole = run_script("whole")
    with pytest.raises(InterruptedHereError):
        run_script("killed", Fail())
    assert_same(whole, run_script("killed"))
    assert_same(whole, run_script("killed"))


def test_more_epochs_than_before_continue_from_the_end(tmp_path: Path, new_process: Callable[[], None]) -> None:
    whole, first, second = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arrays(), epochs=4, verbose=0)
    seed()
    first.fit(**arrays(), epochs=2, verbose=0, resume=tmp_path / "run")
    new_process()
    second.fit(**arrays(), epochs=4, verbose=0, resume=tmp_path / "run")
    assert_same(whole, second)


@pytest.mark.full
def test_each_fit_of_a_script_resumes_by_itself(tmp_path: Path, new_process: Callable[[], None]) -> None:
    def script(model: Any, resume: Any = None, interrupt: list[Any] | None = None) -> Any:
        model.fit(**arrays(), epochs=2, verbose=0, resume=resume)
        model.optimizer.learning_rate = 0.001
        model.fit(**arrays(), epochs=3, verbose=0, resume=resume, callbacks=interrupt)
        return model

    seed()
    whole = script(new_model())
    resume = Resume(tmp_path / "run", policy=EverySteps(2))
    seed()
    with pytest.raises(InterruptedHereError):
        script(new_model(), resume, [Interrupt(5)])
    new_process()
    assert_same(whole, script(new_model(), resume))


def test_callbacks_resume_too(tmp_path: Path, new_process: Callable[[], None]) -> None:
    def callbacks(folder: Path) -> list[Any]:
        folder.mkdir(exist_ok=True)
        return [
            keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=1, min_delta=0.2),
            keras.callbacks.EarlyStopping(monitor="loss", patience=3, min_delta=0.5, restore_best_weights=True),
            keras.callbacks.CSVLogger(str(folder / "log.csv")),
            keras.callbacks.ModelCheckpoint(str(folder / "best.keras"), monitor="loss", save_best_only=True),
        ]

    whole, broken, again = new_model(), new_model(), new_model()
    arguments = {"epochs": 9, "verbose": 0}
    resume = Resume(tmp_path / "run", policy=EverySteps(4))
    seed()
    whole.fit(**arrays(), **arguments, callbacks=callbacks(tmp_path / "whole"))
    kept = callbacks(tmp_path / "kept")
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arrays(), **arguments, resume=resume, callbacks=[*kept, Interrupt(6 * 3 + 2)])
    kept[2].csv_file.close()
    new_process()
    again.fit(**arrays(), **arguments, resume=resume, callbacks=callbacks(tmp_path / "kept"))
    assert_same(whole, again)
    assert len(whole.history.epoch) < 9, "early stopping was to end it"
    assert (tmp_path / "kept" / "log.csv").read_text() == (tmp_path / "whole" / "log.csv").read_text()


def test_a_callback_of_the_user_with_a_state_gets_it_back(tmp_path: Path, new_process: Callable[[], None]) -> None:
    class Counts(keras.callbacks.Callback):
        epochs = 0

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.epochs += 1

        def get_state(self) -> int:
            return self.epochs

        def set_state(self, state: int) -> None:
            self.epochs = state

    resume = Resume(tmp_path / "run", policy=EveryEpoch())
    seed()
    with pytest.raises(InterruptedHereError):
        new_model().fit(**arrays(), epochs=4, verbose=0, resume=resume, callbacks=[Counts(), Interrupt(6 * 2 + 3)])
    new_process()
    counts = Counts()
    new_model().fit(**arrays(), epochs=4, verbose=0, resume=resume, callbacks=[counts])
    assert counts.epochs == 4


@pytest.mark.parametrize("replicas", [pytest.param(1, marks=pytest.mark.full), 4])
def test_another_number_of_devices_resumes_with_the_same_data(
    replicas: int, tmp_path: Path, new_process: Callable[[], None]
) -> None:
    resume = Resume(tmp_path / "run", policy=EverySteps(4))
    seed()
    with pytest.raises(InterruptedHereError):
        new_model(2).fit(**rows(), epochs=3, verbose=0, resume=resume, callbacks=[Interrupt(9)])
    results = {}
    for number in (2, replicas):
        new_process()
        model = new_model(number)

        class Losses(keras.callbacks.Callback):
            def __init__(self) -> None:
                super().__init__()
                self.losses: list[float] = []

            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                self.losses.append(logs["loss"])

        losses = Losses()
        with pytest.raises(InterruptedHereError):
            model.fit(**rows(), epochs=3, verbose=0, resume=resume, callbacks=[losses, Interrupt(1)])
        results[number] = (losses.losses, everything(model))
    np.testing.assert_allclose(results[2][0], results[replicas][0], rtol=1e-5)
    for one, other in zip(results[2][1], results[replicas][1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.full
def test_a_generator_resumes_with_a_caveat(tmp_path: Path, new_process: Callable[[], None]) -> None:
    def batches() -> Iterator[Any]:
        for number in range(100):
            rows = np.random.default_rng(number).integers(0, ROWS, 8)
            yield X[rows], Y[rows]

    arguments = {"steps_per_epoch": 5, "epochs": 3, "verbose": 0}
    whole, broken, again = new_model(), new_model(), new_model()
    resume = Resume(tmp_path / "run", policy=EverySteps(2))
    seed()
    whole.fit(batches(), **arguments)
    seed()
    with (
        pytest.warns(UserWarning, match="generator cannot be resumed at a position"),
        pytest.raises(InterruptedHereError),
    ):
        broken.fit(batches(), **arguments, resume=resume, callbacks=[Interrupt(7)])
    new_process()
    with pytest.warns(UserWarning, match="generator cannot be resumed at a position"):
        again.fit(batches(), **arguments, resume=resume)
    assert_same(whole, again)


def test_other_data_is_refused(tmp_path: Path, new_process: Callable[[], None]) -> None:
    new_model().fit(X, Y, batch_size=8, verbose=0, resume=tmp_path / "run")
    new_process()
    with pytest.raises(ValueError, match=r"(?s)differs from the data of the run.*batch\(8\).*batch\(9\)"):
        new_model().fit(X, Y, batch_size=9, epochs=2, verbose=0, resume=tmp_path / "run")


def test_another_model_is_refused_with_its_variables(tmp_path: Path, new_process: Callable[[], None]) -> None:
    new_model().fit(X, Y, batch_size=8, verbose=0, resume=tmp_path / "run")
    new_process()
    other = new_model(optimizer="sgd")
    with pytest.raises(ValueError, match=r"(?s)variables differ.*momentum was saved, and is not there now"):
        other.fit(X, Y, batch_size=8, epochs=2, verbose=0, resume=tmp_path / "run")


def test_a_bad_checkpoint_is_named_and_the_one_before_is_used(tmp_path: Path, new_process: Callable[[], None]) -> None:
    whole, broken, again = new_model(), new_model(), new_model()
    resume = Resume(tmp_path / "run", policy=EverySteps(2))
    seed()
    whole.fit(**arrays(), epochs=3, verbose=0)
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arrays(), epochs=3, verbose=0, resume=resume, callbacks=[Interrupt(9)])
    newest = max((tmp_path / "run" / "checkpoints" / "fit-1").iterdir(), key=lambda path: int(path.name[5:]))
    file = newest / "arrays.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    new_process()
    with pytest.warns(UserWarning, match=newest.name):
        again.fit(**arrays(), epochs=3, verbose=0, resume=resume)
    assert_same(whole, again)


def test_backup_and_restore_is_the_same_and_cleans_up(tmp_path: Path, new_process: Callable[[], None]) -> None:
    whole, broken, again = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arrays(), epochs=3, verbose=0)
    backup = str(tmp_path / "backup")
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(
            **arrays(),
            epochs=3,
            verbose=0,
            callbacks=[keras.callbacks.BackupAndRestore(backup, save_freq=2), Interrupt(9)],
        )
    new_process()
    again.fit(**arrays(), epochs=3, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(backup, save_freq=2)])
    assert_same(whole, again)
    assert not [path for path in Path(backup).rglob("*") if path.is_file()]


def test_a_model_of_no_strategy_says_what_to_do() -> None:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match=r"(?s)`resume` of `fit`.*OneDeviceStrategy"):
        model.fit(X, Y, resume="runs/x")


@pytest.mark.parametrize("resume", [True, Resume(policy=EverySteps(3))])
def test_without_a_folder_and_a_launcher_the_error_says_what_to_type(resume: bool | Resume) -> None:
    with pytest.raises(ValueError, match="unisono run --run-dir"):
        new_model().fit(X, Y, resume=resume)


def test_a_policy_without_a_folder_saves_in_that_of_the_launcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_RUN_DIR", str(tmp_path))
    new_model().fit(**arrays(), verbose=0, resume=Resume(policy=EverySteps(3)))
    assert list(tmp_path.glob("checkpoints/fit-1/*/manifest.json"))


def test_a_folder_that_cannot_be_written_fails_before_it_has_cost_much(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file")
    with pytest.raises(unisono.checkpoint.CheckpointError, match="run"):
        new_model().fit(**arrays(), epochs=50, verbose=0, resume=tmp_path / "run")


def test_a_training_that_a_callback_has_stopped_stays_stopped(tmp_path: Path, new_process: Callable[[], None]) -> None:
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            if batch == 3:
                self.model.stop_training = True

    resume = Resume(tmp_path / "run", policy=EverySteps(1))
    whole, broken, again = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arrays(), epochs=3, verbose=0, callbacks=[Stop()])
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(
            **arrays(), epochs=3, verbose=0, resume=resume, callbacks=[Stop(), Interrupt(hook="epoch_end", epoch=0)]
        )
    new_process()
    again.fit(**arrays(), epochs=3, verbose=0, resume=resume)
    assert_same(whole, again)


@pytest.mark.full
def test_validation_data_without_a_seed_is_the_same_after_a_resume(
    tmp_path: Path, new_process: Callable[[], None]
) -> None:
    def arguments() -> dict[str, Any]:
        some = Dataset.from_tensor_slices((X, Y)).shuffle(ROWS).take(10).batch(5)
        return {"epochs": 3, "verbose": 0, "validation_data": some}

    whole, broken, again = new_model(), new_model(), new_model()
    resume = Resume(tmp_path / "run", policy=EverySteps(2))
    seed()
    whole.fit(**arrays(), **arguments())
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arrays(), **arguments(), resume=resume, callbacks=[Interrupt(3)])
    new_process()
    again.fit(**arrays(), **arguments(), resume=resume)
    assert_same(whole, again)


@pytest.mark.parametrize("name", ["steps_per_epoch", "validation_steps"])
def test_another_number_of_steps_is_refused_at_once(name: str, tmp_path: Path, new_process: Callable[[], None]) -> None:
    arguments = {"epochs": 2, "verbose": 0, "validation_data": (X, Y), "validation_batch_size": 8}
    new_model().fit(**arrays(), **arguments, resume=tmp_path / "run")
    new_process()
    with pytest.raises(ValueError, match=f"{name} was None in the run that is resumed, and is 2 now"):
        new_model().fit(**arrays(), **arguments | {"epochs": 3, name: 2}, resume=tmp_path / "run")


def test_a_notice_at_the_end_keeps_the_checkpoints_of_a_backup(tmp_path: Path, new_process: Callable[[], None]) -> None:
    class SendSigterm(keras.callbacks.Callback):
        def on_train_end(self, logs: Any = None) -> None:
            os.kill(os.getpid(), signal.SIGTERM)

    backup = str(tmp_path / "backup")
    preempted, again = new_model(), new_model()
    with pytest.raises(Preempted):
        preempted.fit(
            **arrays(), epochs=2, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(backup), SendSigterm()]
        )
    new_process()
    again.fit(**arrays(), epochs=2, verbose=0, callbacks=[keras.callbacks.BackupAndRestore(backup)])
    assert_same(preempted, again)
    assert not [path for path in Path(backup).rglob("*") if path.is_file()]
