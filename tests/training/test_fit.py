"""What `fit` does besides arithmetic, which tests/parity compares with stock Keras."""

import gc
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


def test_a_model_made_outside_of_every_scope_keeps_keras_own_loop(xy: XY) -> None:
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(*xy, verbose=0)
    assert unisono._src.training.programs(model) == []
    assert len(model.layers[0].kernel.value.sharding.device_set) == 1


@pytest.mark.slow
def test_a_model_remembers_its_strategy_after_the_scope(make_model: Make, xy: XY) -> None:
    model = make_model()
    model.fit(*xy, batch_size=8, verbose=0)
    assert {program.kind for program in unisono._src.training.programs(model)} == {"train"}
    assert all("all-reduce" in program.text for program in unisono._src.training.programs(model))
    assert {len(v.value.sharding.device_set) for v in model.variables + model.optimizer.variables} == {2}


@pytest.mark.slow
def test_history_has_every_epoch_and_validation(make_model: Make, xy: XY) -> None:
    history = make_model(metrics=["accuracy"]).fit(*xy, batch_size=5, epochs=3, validation_data=xy, verbose=0)
    assert history.epoch == [0, 1, 2]
    assert set(history.history) == {"loss", "accuracy", "val_loss", "val_accuracy"}
    assert all(len(values) == 3 for values in history.history.values())
    assert history.history["loss"][2] < history.history["loss"][0]


@pytest.mark.slow
@pytest.mark.parametrize(("freq", "epochs_validated"), [(1, 4), (2, 2), ([1, 4], 2)])
def test_validation_runs_in_the_epochs_asked_for(make_model: Make, xy: XY, freq: Any, epochs_validated: int) -> None:
    history = (
        make_model().fit(*xy, epochs=4, validation_split=0.3, validation_freq=freq, batch_size=8, verbose=0).history
    )
    assert len(history["val_loss"]) == epochs_validated


def test_training_begins_at_the_initial_epoch(make_model: Make, xy: XY) -> None:
    assert make_model().fit(*xy, initial_epoch=2, epochs=4, verbose=0).epoch == [2, 3]


def test_a_callback_with_a_batch_hook_sees_every_step_in_order(make_model: Make, xy: XY) -> None:
    calls = []

    class Hooks(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
            calls.append(("begin", batch))

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            calls.append(("end", batch, int(self.model.optimizer.iterations.numpy())))

    make_model().fit(*xy, batch_size=8, epochs=1, callbacks=[Hooks()], verbose=0)
    assert calls == [("begin", 0), ("end", 0, 1), ("begin", 1), ("end", 1, 2), ("begin", 2), ("end", 2, 3)]


@pytest.mark.slow
def test_a_lambda_callback_sees_every_step(make_model: Make, xy: XY) -> None:
    seen = []
    callback = keras.callbacks.LambdaCallback(on_train_batch_end=lambda batch, logs: seen.append(batch))
    make_model().fit(*xy, batch_size=5, callbacks=[callback], verbose=0)
    assert seen == [0, 1, 2, 3, 4]


def test_steps_per_execution_sets_how_often_batch_hooks_are_called(make_model: Make, xy: XY, every_step: Any) -> None:
    make_model(steps_per_execution=3).fit(*xy, batch_size=4, callbacks=[every_step], verbose=0)
    assert [batch for _, batch, _ in every_step.steps] == [2, 4, 5]  # 5 whole batches and one of 2 rows


@pytest.mark.slow
def test_the_number_of_steps_in_a_call_changes_no_bit(make_model: Make, xy: XY, every_step: Any) -> None:
    x, y = np.tile(xy[0], (8, 1)), np.tile(xy[1], (8, 1))
    weights = []
    for arguments in ({}, {"steps_per_execution": 3}, {"steps_per_execution": 7}):
        model = make_model(optimizer="adam", **arguments)
        model.fit(x, y, batch_size=4, shuffle=False, verbose=0, callbacks=[] if arguments else [every_step])
        assert {program.form for program in unisono._src.training.programs(model)} == {"loop"}
        weights.append(model.get_weights())
    for rest in weights[1:]:
        for one, other in zip(weights[0], rest, strict=True):
            np.testing.assert_array_equal(one, other)


def test_stop_training_in_a_batch_hook_ends_training_after_that_step(make_model: Make, xy: XY) -> None:
    class Stop(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            self.model.stop_training = batch == 1

    model = make_model()
    history = model.fit(*xy, batch_size=4, epochs=3, callbacks=[Stop()], verbose=0)
    assert history.epoch == [0]
    assert int(model.optimizer.iterations.numpy()) == 2


@pytest.mark.slow
def test_a_second_fit_of_the_same_shapes_compiles_nothing(make_model: Make, xy: XY) -> None:
    model = make_model()
    model.fit(*xy, batch_size=8, epochs=2, validation_data=xy, verbose=0)
    programs = unisono._src.training.programs(model)
    # One per kind, form and shape of batch: two train and two test programs, for batches of 8 and of 6 rows.
    assert len(programs) == 4
    model.fit(*xy, batch_size=8, epochs=1, validation_data=xy, verbose=0)
    model.evaluate(*xy, batch_size=8, verbose=0)
    assert unisono._src.training.programs(model) == programs


def test_compiling_the_model_again_forgets_its_programs(make_model: Make, xy: XY) -> None:
    model = make_model()
    model.fit(*xy, verbose=0)
    model.compile("adam", "mae")
    assert unisono._src.training.programs(model) == []
    model.fit(*xy, verbose=0)


@pytest.mark.full
def test_memory_does_not_grow_over_fifty_epochs(make_model: Make, xy: XY) -> None:
    model = make_model()

    def live_after(epochs: int) -> int:
        model.fit(*xy, batch_size=4, epochs=epochs, validation_data=xy, verbose=0)
        gc.collect()
        return len(jax.live_arrays())

    live = live_after(1)
    assert live_after(50) == live


@pytest.mark.slow
def test_training_data_is_given_back_after_fit(make_model: Make) -> None:
    model = make_model()
    model.fit(np.zeros((1003, 4), "float32"), np.zeros((1003, 1), "float32"), batch_size=100, verbose=0)
    gc.collect()
    assert not any(array.shape[:1] == (1003,) for array in jax.live_arrays())


# A row of 22, in steps of 4. Compiled, the loss is read out of the metrics.
@pytest.mark.parametrize(("run_eagerly", "row", "step"), [(False, 9, 3), (False, 21, 6), (True, 21, 6)])
def test_a_bad_loss_is_reported_with_the_step_it_began_at(
    make_model: Make, xy: XY, run_eagerly: bool, row: int, step: int
) -> None:
    x, y = xy[0].copy(), xy[1]
    x[row] = np.inf
    with pytest.warns(RuntimeWarning, match=f"The loss has been nan since epoch 1, step {step}"):
        make_model(run_eagerly=run_eagerly).fit(x, y, batch_size=4, shuffle=False, verbose=0)


def test_terminate_on_nan_ends_training(make_model: Make, xy: XY) -> None:
    model = make_model()
    with pytest.warns(RuntimeWarning, match="since epoch 1, step 1"):
        history = model.fit(xy[0] * np.inf, xy[1], epochs=3, callbacks=[keras.callbacks.TerminateOnNaN()], verbose=0)
    assert len(history.epoch) == 1


@pytest.mark.parametrize("mode", [{"run_eagerly": True}, {"jit_compile": False}])
@pytest.mark.full
def test_uncompiled_training_gives_the_same_result(make_model: Make, xy: XY, mode: dict[str, bool]) -> None:
    histories = []
    for arguments in ({}, mode):
        model = make_model(**arguments)
        model.fit(*xy, batch_size=5, epochs=2, shuffle=False, verbose=0)
        histories.append([*model.history.history["loss"], *model.predict(xy[0], verbose=0).ravel()])
        forms = {program.form for program in unisono._src.training.programs(model)}
    assert forms == {"eager"}
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-5)


def test_shuffling_repeats_from_the_same_seed_and_differs_between_epochs(probe: Any, every_step: Any) -> None:
    x = np.arange(12.0).reshape(12, 1)
    orders = []
    for _ in range(2):
        keras.utils.set_random_seed(5)
        every_step.steps.clear()
        probe.fit(x, batch_size=1, epochs=2, callbacks=[every_step], verbose=0)
        orders.append(every_step.column("first"))
    assert orders[0] == orders[1]
    assert orders[0][:12] != orders[0][12:]
    assert sorted(orders[0][:12]) == sorted(orders[0][12:]) == list(range(12))


def test_shuffle_batch_keeps_the_rows_of_each_batch_together(probe: Any, every_step: Any) -> None:
    probe.fit(np.arange(40.0).reshape(40, 1), batch_size=20, shuffle="batch", callbacks=[every_step], verbose=0)
    assert every_step.column("sum") == [sum(range(20)), sum(range(20, 40))]
    assert every_step.column("first") != [0.0, 20.0]


def test_steps_per_epoch_continues_where_the_last_epoch_ended(probe: Any, every_step: Any) -> None:
    x = np.arange(12.0).reshape(12, 1)
    probe.fit(x, batch_size=2, steps_per_epoch=3, epochs=4, shuffle=False, callbacks=[every_step], verbose=0)
    assert every_step.column("first") == [0, 2, 4, 6, 8, 10, 0, 2, 4, 6, 8, 10]


def test_an_epoch_that_finds_the_data_used_up_ends_early_with_a_warning(probe: Any, every_step: Any) -> None:
    x = np.arange(10.0).reshape(10, 1)
    with pytest.warns(UserWarning, match="ran out of data after 2 of steps_per_epoch=3 steps"):
        probe.fit(x, batch_size=2, steps_per_epoch=3, epochs=2, shuffle=False, callbacks=[every_step], verbose=0)
    assert every_step.column("first") == [0, 2, 4, 6, 8]


@pytest.mark.slow
def test_class_weights_count_for_arrays_and_datasets_alike(make_model: Make, xy: XY) -> None:
    losses = []
    dataset = unisono.data.Dataset.from_tensor_slices(xy).batch(8)
    for data in ({"x": xy[0], "y": xy[1], "batch_size": 8, "shuffle": False}, {"x": dataset}):
        losses.append(make_model().fit(**data, class_weight={0: 1.0, 1: 5.0}, verbose=0).history["loss"][0])
    unweighted = make_model().fit(dataset, verbose=0).history["loss"][0]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert losses[0] > 1.5 * unweighted


@pytest.mark.full
def test_class_weights_count_for_truth_values(xy: XY) -> None:
    marks = xy[0][:, 0] > np.median(xy[0][:, 0])
    losses = []
    for labels in (marks, marks.astype("int32")):
        keras.utils.set_random_seed(1)
        with unisono.MirroredStrategy(["cpu:0"]).scope():
            model = keras.Sequential([keras.Input(xy[0].shape[1:]), keras.layers.Dense(1, activation="sigmoid")])
            model.compile("sgd", "binary_crossentropy")
        dataset = unisono.data.Dataset.from_tensor_slices((xy[0], labels)).batch(8)
        losses.append(model.fit(dataset, class_weight={0: 1.0, 1: 5.0}, verbose=0).history["loss"][0])
    assert losses[0] == losses[1]


def test_an_exception_in_a_callback_passes_and_leaves_the_model_usable(make_model: Make, xy: XY) -> None:
    class Fails(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            raise ZeroDivisionError("from the callback")

    model = make_model()
    with pytest.raises(ZeroDivisionError, match="from the callback"):
        model.fit(*xy, callbacks=[Fails()], verbose=0)
    assert not unisono.has_strategy()
    model.fit(*xy, verbose=0)


def test_the_progress_bar_ends_at_the_last_step(make_model: Make, xy: XY, capsys: pytest.CaptureFixture[str]) -> None:
    make_model().fit(*xy, batch_size=5, verbose=1)
    assert "5/5" in capsys.readouterr().out


class LoadsProgram(keras.callbacks.Callback):
    """Does what JAX does when it finds a compiled program in its cache."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        jax.monitoring.record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", 12.34)


def test_fit_prints_a_line_when_a_compiled_program_was_loaded(
    make_model: Make, xy: XY, capsys: pytest.CaptureFixture[str]
) -> None:
    model = make_model()
    model.fit(*xy, callbacks=[LoadsProgram()], verbose=2)
    assert "Loaded a compiled program from" in (printed := capsys.readouterr().out)
    assert "which saved 12.3 s." in printed
    model.fit(*xy, callbacks=[LoadsProgram()], verbose=0)
    assert "Loaded" not in capsys.readouterr().out


def test_an_optimizer_made_outside_of_the_scope_is_taken_in(pair: Strategy, xy: XY) -> None:
    optimizer = keras.optimizers.Adam()
    with pair.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer, "mse")
    model.fit(*xy, verbose=0)
    assert {len(v.value.sharding.device_set) for v in optimizer.variables} == {2}


@pytest.mark.slow
def test_the_memory_of_one_training_serves_the_next_with_other_data(make_model: Any) -> None:
    x = np.ones((2**17, 4), "float32")  # 2 MiB: large enough to be kept
    y = np.ones((2**17, 1), "float32")
    expected = []
    for scale in (1.0, 0.0):
        model = make_model(optimizer=keras.optimizers.SGD(0.0))
        model.fit(x * scale, y, batch_size=2**14, verbose=0)
        expected.append(float(np.mean((model.predict(x[:1] * scale, verbose=0) - 1) ** 2)))
        history = model.fit(x * scale, y, batch_size=2**14, verbose=0).history
        assert history["loss"] == pytest.approx([expected[-1]], rel=1e-5)
    assert expected[0] != pytest.approx(expected[1])


def test_a_training_that_failed_keeps_its_memory_to_itself(make_model: Any, monkeypatch: Any) -> None:
    from unisono._src.devices import ReleasableArrays

    given_back: list[Any] = []
    monkeypatch.setattr(ReleasableArrays, "release", lambda self: given_back.append(self))

    class Failing(keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            raise RuntimeError("stop")

    model = make_model()
    x = np.ones((8, 4), "float32")
    with pytest.raises(RuntimeError, match="stop"):
        model.fit(x, x[:, :1], callbacks=[Failing()], verbose=0)
    assert not given_back
    model.fit(x, x[:, :1], verbose=0)
    assert len(given_back) == 1


def test_a_layer_that_is_made_where_the_model_is_called_computes_as_in_keras() -> None:
    def add_recurrent(x: Any) -> Any:
        return x + keras.layers.SimpleRNN(4, kernel_initializer="ones", recurrent_initializer="ones")(x[:, None])

    def make() -> keras.Model:
        keras.utils.set_random_seed(0)
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4), keras.layers.Lambda(add_recurrent)])
        model.compile("sgd", "mse")
        return model

    x, y = np.ones((6, 4), "float32"), np.zeros((6, 4), "float32")
    alone = make()
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = make()
    for each in (alone, model):
        each.fit(x, y, batch_size=4, shuffle=False, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], alone.get_weights()[0], rtol=1e-5, atol=1e-6)
