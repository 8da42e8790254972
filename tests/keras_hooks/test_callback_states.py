"""Callbacks decide after a resume as they would have without it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.keras_hooks import (
    _callback_states,
    get_callback_state,
    prepare_for_resume,
    profiled_batches,
    restore_callback_state,
)
from unisono._src.state.store import commit, load

LOSSES = [1.0, 0.8, 0.9, 0.85, 0.95, 0.7, 0.75, 0.72, 0.9, 0.9, 0.9, 0.9]


@pytest.fixture
def model() -> Any:
    keras.utils.set_random_seed(0)
    with unisono.OneDeviceStrategy("cpu:0").scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(1.0, use_ema=True), "mse")
        model.optimizer.build(model.trainable_variables)
    return model


def _begin(callback: Any, model: Any) -> None:
    callback.set_params({"epochs": len(LOSSES)})
    callback.set_model(model)
    callback.on_train_begin()


def _through_a_checkpoint(callback: Any, folder: Path) -> tuple[Any, Any]:
    kept = get_callback_state(callback)
    assert kept is not None
    state, arrays = kept
    commit(folder, arrays=arrays, state=state)
    stored = load(folder)
    return stored.state, stored.arrays


def _epoch(callback: Any, model: Any, epoch: int) -> dict[str, Any]:
    """One epoch, which moves the weights; what it shows of the callback's decisions."""
    weights = [weight + epoch for weight in model.get_weights()]
    model.set_weights(weights)
    callback.on_epoch_begin(epoch)
    callback.on_epoch_end(epoch, {"loss": LOSSES[epoch]})
    return {
        "stop": model.stop_training,
        "learning rate": float(np.asarray(model.optimizer.learning_rate)),
        "best": getattr(callback, "best", None),
        "weights": [weight.tolist() for weight in model.get_weights()],
    }


KINDS: list[Callable[[], Any]] = [
    lambda: keras.callbacks.EarlyStopping("loss", patience=3, min_delta=0.01, restore_best_weights=True),
    lambda: keras.callbacks.EarlyStopping("loss", patience=2, baseline=0.85, start_from_epoch=1),
    lambda: keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=2, cooldown=1, min_delta=0.01),
    lambda: keras.callbacks.SwapEMAWeights(swap_on_epoch=True),
]


@pytest.mark.parametrize("make", KINDS, ids=["early stopping", "early stopping from a baseline", "plateau", "ema"])
@pytest.mark.parametrize("resumed_at", range(1, 9))
def test_decisions_are_the_same_with_and_without_a_resume(
    make: Callable[[], Any], resumed_at: int, model: Any, tmp_path: Path
) -> None:
    start = [np.array(variable) for variable in (*model.variables, *model.optimizer.variables)]
    expected = make()
    model.stop_training = False
    _begin(expected, model)
    decisions = [_epoch(expected, model, epoch) for epoch in range(len(LOSSES))]
    expected.on_train_end()
    end = model.get_weights()

    for variable, value in zip((*model.variables, *model.optimizer.variables), start, strict=True):
        variable.assign(value)
    model.stop_training = False
    killed = make()
    _begin(killed, model)
    seen = [_epoch(killed, model, epoch) for epoch in range(resumed_at)]
    stored = _through_a_checkpoint(killed, tmp_path / "checkpoint")
    resumed = make()
    prepare_for_resume(resumed, resumed_at, 10 * resumed_at)
    _begin(resumed, model)
    restore_callback_state(resumed, *stored)
    seen += [_epoch(resumed, model, epoch) for epoch in range(resumed_at, len(LOSSES))]
    resumed.on_train_end()
    assert seen == decisions
    for one, other in zip(model.get_weights(), end, strict=True):
        np.testing.assert_array_equal(one, other)


def test_model_checkpoint_saves_the_same_files_with_and_without_a_resume(model: Any, tmp_path: Path) -> None:
    def make(folder: str) -> Any:
        path = str(tmp_path / folder / "{epoch}-{batch}.weights.h5")
        return keras.callbacks.ModelCheckpoint(
            path, monitor="loss", save_best_only=True, save_weights_only=True, save_freq=3
        )

    def run(callback: Any, epoch: int, batches: range) -> None:
        for batch in batches:
            callback.on_train_batch_end(batch, {"loss": LOSSES[epoch] - 0.01 * batch})

    def whole(callback: Any, epoch: int, first: int = 0) -> None:
        callback.on_epoch_begin(epoch)
        run(callback, epoch, range(first, 5))
        callback.on_epoch_end(epoch, {"loss": LOSSES[epoch]})

    expected = make("expected")
    _begin(expected, model)
    expected._set_monitor_op()  # Keras does it at the end of the first epoch, and fails on a second batch before
    for epoch in range(4):
        whole(expected, epoch)

    killed = make("resumed")
    _begin(killed, model)
    killed._set_monitor_op()
    whole(killed, 0)
    killed.on_epoch_begin(1)
    run(killed, 1, range(2))
    stored = _through_a_checkpoint(killed, tmp_path / "checkpoint")
    resumed = make("resumed")
    _begin(resumed, model)
    restore_callback_state(resumed, *stored)
    whole(resumed, 1, first=2)
    for epoch in range(2, 4):
        whole(resumed, epoch)
    names = [sorted(path.name for path in (tmp_path / folder).iterdir()) for folder in ("expected", "resumed")]
    assert names[0] == names[1]
    assert len(names[0]) > 2


def test_history_holds_the_earlier_epochs(model: Any, tmp_path: Path) -> None:
    history = keras.callbacks.History()
    _begin(history, model)
    history.on_epoch_end(0, {"loss": 0.5, "per_class": np.float32([0.1, 0.2])})
    history.on_epoch_end(1, {"loss": np.float32(0.1), "per_class": np.float32([0.3, 0.4])})
    resumed = keras.callbacks.History()
    _begin(resumed, model)
    restore_callback_state(resumed, *_through_a_checkpoint(history, tmp_path / "checkpoint"))
    resumed.on_epoch_end(2, {"loss": 0.25})
    assert resumed.epoch == [0, 1, 2]
    assert resumed.history["loss"] == [0.5, np.float32(0.1), 0.25]
    np.testing.assert_array_equal(resumed.history["per_class"], np.float32([[0.1, 0.2], [0.3, 0.4]]))


VALUES = [None, True, 3, 0.1, float("nan"), float("-inf"), "text", np.float32(0.1), np.float16(0.1), np.float64(0.1)]
VALUES += [np.int64(2**62), np.bool_(True), (1, 2.5), [1, [2]], {"a": 1, "b": (2,)}, np.float32(["nan", 1])]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_keep_their_type_and_their_bits(value: Any, tmp_path: Path) -> None:
    before, after = keras.callbacks.History(), keras.callbacks.History()
    before.epoch, before.history = [0], {"value": [value]}
    restore_callback_state(after, *_through_a_checkpoint(before, tmp_path / "checkpoint"))
    [found] = after.history["value"]
    assert type(found) is type(value)
    assert np.array(found, object).tolist().__repr__() == np.array(value, object).tolist().__repr__()


def test_arrays_are_copies(model: Any) -> None:
    stopping = keras.callbacks.EarlyStopping()
    stopping.best_weights = [np.zeros(3)]
    state, arrays = get_callback_state(stopping)
    stopping.best_weights[0][:] = 1
    assert [array.sum() for array in arrays.values()] == [0]
    restore_callback_state(stopping, state, arrays)
    assert stopping.best_weights[0].sum() == 0


def test_a_user_defined_callback_has_a_state_of_its_own(tmp_path: Path) -> None:
    class Mine(keras.callbacks.Callback):
        count = 0

        def get_state(self) -> Any:
            return {"count": self.count}

        def set_state(self, state: Any) -> None:
            self.count = state["count"]

    before, after = Mine(), Mine()
    before.count = 7
    restore_callback_state(after, *_through_a_checkpoint(before, tmp_path / "checkpoint"))
    assert after.count == 7


def test_a_subclass_has_a_state_of_its_own_beside_that_of_keras(tmp_path: Path) -> None:
    class Mine(keras.callbacks.EarlyStopping):
        count = 0

        def get_state(self) -> Any:
            return self.count

        def set_state(self, state: Any) -> None:
            self.count = state

    before, after = Mine(), Mine()
    before.count, before.wait = 7, 5
    restore_callback_state(after, *_through_a_checkpoint(before, tmp_path / "checkpoint"))
    assert (after.count, after.wait) == (7, 5)


@pytest.mark.parametrize(
    "callback",
    [
        keras.callbacks.TerminateOnNaN(),
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.1),
        keras.callbacks.LambdaCallback(),
        keras.callbacks.ProgbarLogger(),
        keras.callbacks.Callback(),
    ],
    ids=lambda callback: type(callback).__name__,
)
def test_a_callback_that_remembers_nothing_has_no_state(callback: Any) -> None:
    assert get_callback_state(callback) is None


FOREIGN = ("filename", "filepath", "log_dir", "model", "on_epoch_end", "monitor_op", "__class__", "min_delta")
NOT_VALUES = (
    "/home/me/notes",
    {"list": [{"dict": [["a", "b"]]}]},
    {"scalar": ["O", 3]},
    {"array": "absent"},
    ["x"],
    {"x": 1},
)


@pytest.mark.parametrize("kind", _callback_states._DECLARED, ids=lambda kind: kind.__name__)
def test_only_declared_attributes_of_the_declared_kind_are_restored(kind: type, model: Any, tmp_path: Path) -> None:
    arguments = {keras.callbacks.ModelCheckpoint: ["model.keras"], keras.callbacks.CSVLogger: [tmp_path / "log.csv"]}
    callback: Any = kind(*arguments.get(kind, []))
    before = {name: repr(value) for name, value in vars(callback).items()}
    attacks = [(name, "/home/me/notes") for name in FOREIGN]
    attacks += [(name, value) for name in _callback_states._DECLARED[kind] for value in NOT_VALUES]
    for name, value in attacks:
        state = {"callback": kind.__name__, "attributes": {name: value}}
        with pytest.raises(ValueError, match=f"'{name}' of the callback {kind.__name__}"):
            restore_callback_state(callback, state, {})
    for part, value in {"own": {"x": 1}, "else": 3, "attributes": ["x"], "has_direction": "x"}.items():
        with pytest.raises(ValueError, match=f"'{part}' of the callback {kind.__name__}"):
            restore_callback_state(callback, {"callback": kind.__name__, part: value}, {})
    assert before == {name: repr(value) for name, value in vars(callback).items()}


@pytest.mark.parametrize("size", [-1, "0", True, 1.5])
def test_the_size_of_a_csv_file_is_a_number_of_bytes(size: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("epoch,loss")
    with pytest.raises(ValueError, match="'file_size' of the callback CSVLogger"):
        restore_callback_state(
            keras.callbacks.CSVLogger(path), {"callback": "CSVLogger", "attributes": {}, "file_size": size}, {}
        )
    assert path.read_text() == "epoch,loss"


class Naive(keras.callbacks.Callback):
    """A user-defined callback whose `set_state` stores every name that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.path, self.count, self.best, self.names = "log.txt", 0, None, ["a"]

    def get_state(self) -> dict[str, Any]:
        return {"count": self.count, "phase": "start", "last": None, **({"best": self.best} if self.best else {})}

    def set_state(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


@pytest.mark.parametrize("name", ["path", "_model", "params", "on_epoch_end", "set_state", "count", "best", "names"])
def test_a_user_defined_state_does_not_set_attributes_that_it_does_not_have(name: str) -> None:
    callback = Naive()
    before = dict(vars(callback))
    for value in ("/home/me/notes", *([7] if name not in ("count", "best") else [])):
        with pytest.raises(ValueError, match=f"'{name}' of the callback Naive"):
            restore_callback_state(callback, {"callback": "Naive", "own": {"count": 1, name: value}}, {})
    assert vars(callback) == before


def test_a_user_defined_state_may_hold_more_than_at_the_start() -> None:
    callback = Naive()
    own = {"count": 3, "phase": "end", "last": "a name", "best": 0.5, "names": ["b"], "new": {"x": [1]}}
    restore_callback_state(callback, {"callback": "Naive", "own": own}, {})
    assert {name: getattr(callback, name) for name in own} == own


def test_the_state_of_another_callback_is_refused() -> None:
    state, arrays = get_callback_state(keras.callbacks.EarlyStopping())
    with pytest.raises(ValueError, match="EarlyStopping where `fit` now has ReduceLROnPlateau"):
        restore_callback_state(keras.callbacks.ReduceLROnPlateau(), state, arrays)


def test_the_direction_is_found_once(model: Any, tmp_path: Path) -> None:
    """Finding it changes the sign of `min_delta`."""
    before = keras.callbacks.EarlyStopping("loss", min_delta=0.5)
    _begin(before, model)
    before.on_epoch_end(0, {"loss": 1.0})
    stored = _through_a_checkpoint(before, tmp_path / "checkpoint")
    after = keras.callbacks.EarlyStopping("loss", min_delta=0.5)
    _begin(after, model)
    for _ in range(2):
        restore_callback_state(after, *stored)
    assert after.min_delta == before.min_delta == -0.5


def _csv(path: Path, model: Any, **options: Any) -> Any:
    logger = keras.callbacks.CSVLogger(path, **options)
    logger.set_model(model)
    return logger


@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("resumed_at", [0, 1, 2])
def test_csv_logger_has_every_epoch_once(
    model: Any, tmp_path: Path, append: bool, separator: str, resumed_at: int
) -> None:
    def log(epoch: int) -> dict[str, float]:
        return {"loss": LOSSES[epoch], **({"val_loss": 1.5} if epoch % 2 else {})}

    def run(logger: Any, epochs: range) -> None:
        for epoch in epochs:
            logger.on_epoch_end(epoch, log(epoch))

    for name in ("expected", "resumed"):
        if append:  # there are epochs of an earlier training
            earlier = _csv(tmp_path / name, model, separator=separator)
            earlier.on_train_begin()
            run(earlier, range(4))
            earlier.on_train_end()
    expected = _csv(tmp_path / "expected", model, append=append, separator=separator)
    expected.on_train_begin()
    run(expected, range(4))
    expected.on_train_end()

    killed = _csv(tmp_path / "resumed", model, append=append, separator=separator)
    killed.on_train_begin()
    run(killed, range(resumed_at))
    stored = _through_a_checkpoint(killed, tmp_path / "checkpoint")
    run(killed, range(resumed_at, 3))
    killed.csv_file.close()
    resumed = _csv(tmp_path / "resumed", model, append=append, separator=separator)
    prepare_for_resume(resumed, resumed_at, 10 * resumed_at)
    resumed.on_train_begin()
    restore_callback_state(resumed, *stored)
    run(resumed, range(resumed_at, 4))
    resumed.on_train_end()
    assert (tmp_path / "resumed").read_bytes() == (tmp_path / "expected").read_bytes()


@pytest.mark.parametrize(
    ("found", "left"),
    [
        (b"epoch,loss\r\n0,1\r\n1,2\r\n2,3\r\n", b"epoch,loss\r\n0,1\r\n"),
        (b"epoch,loss\r\n0,1\r\n1,", b"epoch,loss\r\n0,1\r\n"),
        (b"epoch,loss\r\n0,1\r\n", b"epoch,loss\r\n0,1\r\n"),
        (b"epoch,loss\r\n10,1\r\n", b"epoch,loss\r\n"),
        (b"epoch,lo", b""),
        (b"", b""),
    ],
)
def test_rows_of_later_epochs_and_incomplete_ones_are_cut(tmp_path: Path, found: bytes, left: bytes) -> None:
    path = tmp_path / "logs" / "log.csv"
    path.parent.mkdir()
    path.write_bytes(found)
    prepare_for_resume(keras.callbacks.CSVLogger(path), 1, 10)
    assert path.read_bytes() == left
    assert [entry.name for entry in path.parent.iterdir()] == ["log.csv"]


def test_a_csv_file_that_was_deleted_is_written_again(model: Any, tmp_path: Path) -> None:
    logger = _csv(tmp_path / "log.csv", model)
    prepare_for_resume(logger, 1, 10)
    logger.on_train_begin()
    restore_callback_state(
        logger, {"callback": "CSVLogger", "attributes": {"keys": {"list": ["loss"]}}, "file_size": 40}, {}
    )
    logger.on_epoch_end(1, {"loss": 0.5})
    logger.on_train_end()
    assert (tmp_path / "log.csv").read_text().split() == ["epoch,loss", "1,0.5"]


def test_a_callback_with_prepare_for_resume_is_called() -> None:
    class Mine(keras.callbacks.Callback):
        def prepare_for_resume(self, epoch: int, step: int) -> None:
            self.prepared = epoch, step

    mine = Mine()
    prepare_for_resume(mine, 2, 25)
    assert mine.prepared == (2, 25)


def test_keras_still_has_every_attribute_that_is_kept(model: Any, tmp_path: Path) -> None:
    made = {
        keras.callbacks.EarlyStopping: keras.callbacks.EarlyStopping("loss"),
        keras.callbacks.ReduceLROnPlateau: keras.callbacks.ReduceLROnPlateau("loss"),
        keras.callbacks.ModelCheckpoint: keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", "loss"),
        keras.callbacks.CSVLogger: keras.callbacks.CSVLogger(tmp_path / "log.csv"),
        keras.callbacks.History: keras.callbacks.History(),
        keras.callbacks.SwapEMAWeights: keras.callbacks.SwapEMAWeights(),
    }
    assert made.keys() == _callback_states._DECLARED.keys()
    for kind, callback in made.items():
        _begin(callback, model)
        state, _ = get_callback_state(callback)
        assert list(state["attributes"]) == list(_callback_states._DECLARED[kind])
        callback.on_train_end()


def test_keras_callbacks_carry_nothing_else_from_epoch_to_epoch(model: Any, tmp_path: Path) -> None:
    """A new attribute of Keras's that changes while training shows up here."""
    ignored = {"_model", "params", "model", "monitor_op", "min_delta", "_current_epoch", "csv_file", "writer"}
    ignored |= {"append_header"}  # found in the file
    callbacks = [
        keras.callbacks.EarlyStopping("loss", restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau("loss", patience=1, cooldown=2),
        keras.callbacks.ModelCheckpoint(tmp_path / "model.keras", "loss", save_freq=2),
        keras.callbacks.CSVLogger(tmp_path / "log.csv"),
        keras.callbacks.History(),
        keras.callbacks.SwapEMAWeights(swap_on_epoch=True),
        keras.callbacks.TerminateOnNaN(),
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.1),
    ]
    for callback in callbacks:
        _begin(callback, model)
        before = {name: repr(value) for name, value in vars(callback).items()}
        for epoch in range(4):
            callback.on_epoch_begin(epoch)
            for batch in range(3):
                callback.on_train_batch_end(batch, {"loss": LOSSES[epoch]})
            callback.on_epoch_end(epoch, {"loss": LOSSES[epoch]})
        changed = {name for name, value in vars(callback).items() if repr(value) != before.get(name)}
        assert changed - ignored <= _callback_states._declared(callback).keys(), type(callback).__name__
        callback.on_train_end()


def test_the_profiled_steps_of_keras_tensorboard_are_known() -> None:
    assert profiled_batches(keras.callbacks.TensorBoard()) == (0, 0)
    stock = keras.callbacks.TensorBoard()
    stock._init_profile_batch("10,20")  # its constructor drops it on Python 3.11
    assert profiled_batches(stock) == (10, 20)


def test_states_are_json(model: Any) -> None:
    stopping = keras.callbacks.EarlyStopping("loss", restore_best_weights=True)
    _begin(stopping, model)
    stopping.on_epoch_end(0, {"loss": 0.5})
    state, arrays = get_callback_state(stopping)
    assert json.loads(json.dumps(state)) == state
    assert list(arrays) == ["best_weights/0", "best_weights/1"]
