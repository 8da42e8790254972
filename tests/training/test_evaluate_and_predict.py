from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from unisono._src.devices import ReleasableArrays
from unisono._src.strategy import Strategy

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


@pytest.mark.slow
def test_evaluate_returns_a_list_in_order_or_a_dict(make_model: Make, xy: XY) -> None:
    model = make_model(metrics=["accuracy"])
    values = model.evaluate(*xy, batch_size=7, verbose=0)
    logs = model.evaluate(*xy, batch_size=7, verbose=0, return_dict=True)
    assert values == [logs["loss"], logs["accuracy"]]
    assert make_model().evaluate(*xy, verbose=0) == pytest.approx(logs["loss"])


def test_the_memory_of_the_data_serves_the_next_call_unless_one_failed(
    make_model: Make, xy: XY, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[Any] = []
    monkeypatch.setattr(ReleasableArrays, "release", lambda self: given_back.append(self))

    class Failing(keras.callbacks.Callback):
        def on_test_end(self, logs: Any = None) -> None:
            raise RuntimeError("stop")

        def on_predict_end(self, logs: Any = None) -> None:
            raise RuntimeError("stop")

    model = make_model()
    for method, data in ((model.evaluate, xy), (model.predict, xy[:1])):
        with pytest.raises(RuntimeError, match="stop"):
            method(*data, callbacks=[Failing()], verbose=0)
        assert not given_back
        method(*data, verbose=0)
        assert len(given_back) == 1
        given_back.clear()


def test_evaluate_can_stop_after_some_steps(make_model: Make, xy: XY) -> None:
    model = make_model()
    first_rows = model.evaluate(xy[0][:8], xy[1][:8], batch_size=4, verbose=0)
    assert model.evaluate(*xy, batch_size=4, steps=2, verbose=0) == pytest.approx(first_rows, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 3, 21, 22])
@pytest.mark.parametrize("batch_size", [1, 4, 7, 32])
def test_predict_gives_every_row_once_and_in_order(make_model: Make, xy: XY, rows: int, batch_size: int) -> None:
    model = make_model()
    predicted = model.predict(xy[0][:rows], batch_size=batch_size, verbose=0)
    np.testing.assert_allclose(predicted, model(xy[0][:rows]), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("hook", ["on_predict_begin", "on_predict_batch_end"])
def test_predict_that_is_stopped_gives_the_first_batches_as_keras_does(make_model: Make, xy: XY, hook: str) -> None:
    class Stop(keras.callbacks.Callback):
        pass

    def stop(self: Any, *_: Any, **__: Any) -> None:
        self.model.stop_predicting = True

    setattr(Stop, hook, stop)
    stopped = make_model().predict(xy[0], batch_size=4, verbose=0, callbacks=[Stop()])
    assert stopped.shape == (4, 1)


@pytest.mark.slow
def test_predict_keeps_the_nest_of_the_outputs(pair: Strategy) -> None:
    with pair.scope():
        x = keras.Input((3,))
        outputs = {"double": x * 2, "sums": [keras.ops.sum(x, axis=1), keras.ops.sum(x, axis=1) * 2]}
        model = keras.Model(x, outputs)
    data = np.random.default_rng(0).normal(size=(11, 3)).astype("float32")
    predicted = model.predict(data, batch_size=4, verbose=0)
    np.testing.assert_allclose(predicted["double"], data * 2, rtol=1e-6)
    np.testing.assert_allclose(predicted["sums"][1], data.sum(1) * 2, rtol=1e-5)


def test_an_unbuilt_and_uncompiled_model_predicts(pair: Strategy) -> None:
    with pair.scope():
        model = keras.Sequential([keras.layers.Dense(3)])
    assert model.predict(np.ones((5, 2)), verbose=0).shape == (5, 3)
    assert len(model.layers[0].kernel.value.sharding.device_set) == 2


def test_a_predict_hook_gets_the_outputs_of_each_batch(make_model: Make, xy: XY) -> None:
    shapes = []

    class Hook(keras.callbacks.Callback):
        def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
            shapes.append((batch, logs["outputs"].shape))

    make_model().predict(xy[0], batch_size=8, callbacks=[Hook()], verbose=0)
    assert shapes == [(0, (8, 1)), (1, (8, 1)), (2, (6, 1))]


@pytest.mark.slow
def test_a_test_hook_sees_every_batch_of_validation(make_model: Make, xy: XY) -> None:
    seen = []

    class Hook(keras.callbacks.Callback):
        def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(batch)

    make_model().fit(*xy, validation_data=xy, validation_batch_size=8, callbacks=[Hook()], verbose=0)
    assert seen == [0, 1, 2]


@pytest.mark.slow
def test_the_batch_methods_agree_with_their_long_forms(make_model: Make, xy: XY) -> None:
    long, short = make_model(metrics=["mae"]), make_model(metrics=["mae"])
    history = long.fit(*xy, batch_size=22, shuffle=False, verbose=0).history
    loss, mae = short.train_on_batch(*xy)
    assert [loss, mae] == pytest.approx([history["loss"][0], history["mae"][0]], rel=1e-6)
    assert short.test_on_batch(*xy, return_dict=True) == pytest.approx(long.evaluate(*xy, return_dict=True, verbose=0))
    np.testing.assert_allclose(short.predict_on_batch(xy[0]), long.predict(xy[0], verbose=0), rtol=1e-5)


@pytest.mark.slow
def test_class_weight_counts_in_train_on_batch(make_model: Make, xy: XY) -> None:
    y = xy[1].astype(int).ravel()
    plain = make_model().train_on_batch(xy[0], y)
    assert make_model().train_on_batch(xy[0], y, class_weight={0: 2.0, 1: 2.0}) == pytest.approx(2 * plain, rel=1e-5)
    with pytest.raises(ValueError, match="not both"):
        make_model().train_on_batch(*xy, sample_weight=np.ones(22), class_weight={0: 1.0})


def test_a_model_calls_eagerly_on_all_its_devices(make_model: Make, xy: XY) -> None:
    output = make_model()(xy[0])
    assert len(output.sharding.device_set) == 2
    assert output.shape == (22, 1)


@pytest.mark.slow
def test_one_device_serves_as_well(xy: XY) -> None:
    strategy = unisono.OneDeviceStrategy(jax.devices("cpu")[6])
    with strategy.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    model.fit(*xy, batch_size=5, verbose=0)
    assert model.layers[0].kernel.value.sharding.device_set == {jax.devices("cpu")[6]}
    assert model.predict(xy[0], verbose=0).shape == (22, 1)
