"""Optimizers with the names of Keras 2."""

import keras
import numpy as np
import pytest

import unisono.tf as tf


def test_lr_is_the_learning_rate() -> None:
    optimizer = tf.keras.optimizers.Adam(lr=0.25)
    assert optimizer.lr.numpy() == pytest.approx(0.25)
    optimizer.lr = 0.5
    assert optimizer.learning_rate.numpy() == pytest.approx(0.5)
    optimizer.lr.assign(0.125)
    assert optimizer.get_config()["learning_rate"] == pytest.approx(0.125)


def test_stock_optimizers_have_lr_too() -> None:
    assert keras.optimizers.SGD(0.5).lr.numpy() == pytest.approx(0.5)


def test_lr_of_a_schedule_is_that_of_the_step() -> None:
    schedule = tf.keras.optimizers.schedules.ExponentialDecay(1.0, decay_steps=1, decay_rate=0.5)
    optimizer = tf.keras.optimizers.SGD(schedule)
    optimizer.iterations.assign(2)
    assert optimizer.lr.numpy() == pytest.approx(0.25)


def test_decay_is_inverse_in_time() -> None:
    optimizer = tf.keras.optimizers.SGD(lr=1.0, decay=0.5)
    variable, rates = tf.Variable(0.0), []
    for _ in range(3):
        before = float(variable)
        optimizer.apply_gradients([(tf.constant(1.0), variable)])
        rates.append(before - float(variable))
    assert rates == pytest.approx([1.0, 1 / 1.5, 1 / 2.0])
    assert float(optimizer.lr) == 1.0, "as in Keras 2, it is the rate that was set"
    assert float(optimizer._decayed_lr(tf.float32)) == pytest.approx(1 / 2.5)
    assert tf.keras.optimizers.SGD.from_config(optimizer.get_config()).decay == 0.5
    with pytest.raises(ValueError, match="Leave decay out"):
        tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.CosineDecay(1.0, 10), decay=0.5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Nadam", "Ftrl"])
def test_legacy_and_experimental_optimizers_are_the_same_ones(name: str) -> None:
    assert getattr(tf.keras.optimizers.legacy, name) is getattr(keras.optimizers, name)
    assert getattr(tf.keras.optimizers.experimental, name) is getattr(keras.optimizers, name)


def test_schedules_have_their_old_place_too() -> None:
    assert tf.keras.experimental.CosineDecay is tf.keras.optimizers.schedules.CosineDecay
    assert tf.keras.experimental.CosineDecayRestarts is tf.keras.optimizers.schedules.CosineDecayRestarts
    assert float(tf.keras.optimizers.Adam(0.25)._decayed_lr(tf.float32)) == 0.25


def test_minimize_takes_a_function_or_a_loss_and_its_tape() -> None:
    weight = tf.Variable(3.0)
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.minimize(lambda: weight * weight, [weight])
    assert weight.numpy() == pytest.approx(3.0 - 0.6)
    with tf.GradientTape() as tape:
        loss = weight * weight
    optimizer.minimize(loss, [weight], tape=tape)
    assert weight.numpy() == pytest.approx(2.4 - 0.48)
    with pytest.raises(ValueError, match="tape=tape"):
        optimizer.minimize(loss, [weight])


def test_weights_are_read_and_set_as_arrays() -> None:
    weight = tf.Variable([1.0, 2.0])
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), weight)], experimental_aggregate_gradients=False)
    saved = optimizer.get_weights()
    other = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    other.build([weight])
    other.set_weights(saved)
    for one, two in zip(optimizer.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert int(other.iterations.numpy()) == 1


def test_variables_may_be_called() -> None:
    optimizer = tf.keras.optimizers.SGD()
    assert [variable.name for variable in optimizer.variables()] == ["iteration", "learning_rate"]
    assert len(optimizer.weights) == 2


def test_losses_are_scaled_as_in_keras_2() -> None:
    weight = tf.Variable(3.0)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.5), dynamic=True)
    optimizer.build([weight])
    with tf.GradientTape() as tape:
        loss = optimizer.get_scaled_loss(weight * 1.0)
    gradients = optimizer.get_unscaled_gradients(tape.gradient(loss, [weight]))
    optimizer.apply_gradients(zip(gradients, [weight], strict=True))
    assert weight.numpy() == pytest.approx(2.5)
    assert optimizer.loss_scale.numpy() == 2.0**15
    with pytest.raises(ValueError, match="loss_scale_factor"):
        tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.SGD(0.5), dynamic=False)


def test_graphs_have_no_gradients() -> None:
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.keras.optimizers.SGD().get_gradients(None, [])


def test_a_rate_that_decays_can_be_set_beside_callbacks_that_change_it() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.legacy.Adam(learning_rate=1e-2, decay=1e-4), "mse")
    plateau = tf.keras.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=10.0)
    x = np.ones((8, 4), "float32")
    history = model.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[plateau]).history
    assert history["learning_rate"] == pytest.approx([0.01, 0.01, 0.005])
    assert float(model.optimizer.lr) == pytest.approx(0.0025)


def test_the_rate_of_a_schedule_cannot_be_set() -> None:
    optimizer = tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.CosineDecay(0.1, 10))
    with pytest.raises(TypeError, match=r"optimizer.lr = 0.5: this optimizer was made with a schedule"):
        optimizer.lr = 0.5
    plain = tf.keras.optimizers.SGD(lr=0.1)
    plain.lr = 0.5
    assert float(plain.lr) == 0.5
