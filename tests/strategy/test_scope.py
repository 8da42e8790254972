import threading

import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy


@pytest.fixture
def pair() -> Strategy:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


def test_inside_the_scope_the_strategy_is_current_and_outside_it_is_not(pair: Strategy) -> None:
    assert not unisono.has_strategy()
    assert not unisono.in_cross_replica_context()
    with pair.scope() as entered:
        assert entered is pair is unisono.get_strategy()
        assert unisono.has_strategy()
        assert unisono.in_cross_replica_context()
    assert unisono.get_strategy().num_replicas_in_sync == 1
    assert not unisono.has_strategy()


def test_the_scope_can_be_entered_again_inside_itself(pair: Strategy) -> None:
    with pair.scope(), pair.scope():
        assert unisono.get_strategy() is pair
    assert not unisono.has_strategy()


def test_the_scope_of_another_strategy_inside_is_an_error_that_names_both(pair: Strategy) -> None:
    other = unisono.OneDeviceStrategy("cpu:3")
    with pair.scope(), pytest.raises(RuntimeError, match=r"OneDeviceStrategy\('cpu:3'\) inside .*'cpu:0', 'cpu:1'"):
        other.scope().__enter__()
    assert not unisono.has_strategy()


def test_a_scope_is_left_when_an_exception_passes(pair: Strategy) -> None:
    with pytest.raises(ZeroDivisionError), pair.scope():
        raise ZeroDivisionError
    assert not unisono.has_strategy()


def test_a_scope_belongs_to_its_thread(pair: Strategy) -> None:
    seen = []
    with pair.scope():
        thread = threading.Thread(target=lambda: seen.append(unisono.has_strategy()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_the_default_strategy_has_one_replica_and_its_scope_changes_nothing() -> None:
    default = unisono.get_strategy()
    with default.scope():
        model = keras.Sequential([keras.layers.Dense(1)])
        assert not unisono.has_strategy()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    assert unisono._src.training.programs(model) == []


def test_a_strategy_can_be_set_for_the_whole_process(pair: Strategy) -> None:
    unisono.experimental_set_strategy(pair)
    try:
        assert unisono.get_strategy() is pair
        with pair.scope():
            pass
        with pytest.raises(RuntimeError, match="must not be called inside a scope"), pair.scope():
            unisono.experimental_set_strategy(None)
    finally:
        unisono.experimental_set_strategy(None)
    assert not unisono.has_strategy()


def test_a_strategy_knows_its_devices_and_says_them(pair: Strategy) -> None:
    assert pair.num_replicas_in_sync == 2
    assert pair.extended.worker_devices == pair.extended.parameter_devices == ("cpu:0", "cpu:1")
    assert pair.cluster_resolver is None
    assert repr(pair) == "MirroredStrategy('cpu:0', 'cpu:1')"


def test_what_is_made_in_the_scope_lives_on_all_devices_and_stays_there(pair: Strategy) -> None:
    with pair.scope():
        layer = keras.layers.Dense(3)
        layer.build((None, 2))
        metric = keras.metrics.Mean()
        optimizer = keras.optimizers.Adam()
    optimizer.build(layer.trainable_variables)
    for variable in (layer.kernel, metric.total, optimizer.iterations):
        assert len(variable.value.sharding.device_set) == 2
    layer.kernel.assign(np.ones((2, 3)))
    metric.update_state(4.0)
    assert len(layer.kernel.value.sharding.device_set) == 2
    assert len(metric.total.value.sharding.device_set) == 2
    assert float(metric.result()) == 4.0


def test_initial_values_in_a_scope_are_those_outside_of_it(pair: Strategy) -> None:
    def kernel() -> np.ndarray:
        keras.utils.set_random_seed(3)
        layer = keras.layers.Dense(7)
        layer.build((None, 5))
        return layer.kernel.numpy()

    outside = kernel()
    with pair.scope():
        inside = kernel()
    np.testing.assert_array_equal(inside, outside)


def test_an_array_given_to_a_variable_survives_training(pair: Strategy) -> None:
    value = keras.ops.ones((2, 1))
    with pair.scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, use_bias=False)])
        model.compile("sgd", "mse")
    model.layers[0].kernel.assign(value)
    model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
    assert float(value.sum()) == 2.0


@pytest.mark.slow
def test_models_loaded_and_cloned_in_the_scope_belong_to_it(pair: Strategy, tmp_path: object) -> None:
    source = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    source.compile("adam", "mse")
    with pytest.warns(UserWarning, match="(?s)outside the scope .* one device only"):
        source.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)
    source.save(f"{tmp_path}/model.keras")
    with pair.scope():
        loaded = keras.models.load_model(f"{tmp_path}/model.keras")
        clone = keras.models.clone_model(source)
        clone.compile("adam", "mse")
    for model in (loaded, clone):
        model.fit(np.ones((6, 2)), np.ones((6, 1)), batch_size=4, verbose=0)
        assert {len(v.value.sharding.device_set) for v in model.variables} == {2}
        assert unisono._src.training.programs(model)
