"""Random numbers in the layers and steps of models: new ones in every step."""

import keras
import numpy as np
import pytest

import unisono.tf as tf


@keras.saving.register_keras_serializable(package="tests")
class Noise(tf.keras.layers.Layer):
    """Replaces its input by noise."""

    def call(self, x):
        return 0 * x + tf.random.normal(tf.shape(x)) + tf.nn.dropout(tf.zeros_like(x), 0.5)


class Subclassed(tf.keras.Model):
    """Creates its layers in `__init__`, and their variables in the first call."""

    def __init__(self):
        super().__init__()
        self.noise, self.dense = Noise(), tf.keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.dense(self.noise(x))


def make_functional():
    inputs = tf.keras.Input((2,))
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1, kernel_initializer="ones")(Noise()(inputs)))


def make_strategy(replicas):
    devices = [f"cpu:{number}" for number in range(replicas)]
    return tf.distribute.MirroredStrategy(devices) if replicas else tf.distribute.get_strategy()


X, Y = np.zeros((8, 2), "float32"), np.zeros((8, 1), "float32")


@pytest.mark.parametrize("make", [make_functional, Subclassed])
@pytest.mark.parametrize("replicas", [0, 2])
def test_a_layer_draws_new_numbers_in_every_step(make, replicas):
    with make_strategy(replicas).scope():
        model = make()
        model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    losses = model.fit(X, Y, batch_size=8, epochs=3, verbose=0).history["loss"]
    assert len(set(losses)) == 3
    assert not np.array_equal(model.predict(X, verbose=0), model.predict(X, verbose=0))


def test_two_layers_draw_different_numbers_and_a_seed_makes_them_the_same_again():
    def drawn():
        tf.random.set_seed(4)
        return np.asarray(Noise()(tf.ones([3]))), np.asarray(Noise()(tf.ones([3])))

    first, second = drawn()
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(drawn()[0], first)


def test_a_model_with_a_layer_that_draws_is_saved_and_loaded(tmp_path):
    model = make_functional()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert [each.shape for each in loaded.get_weights()] == [each.shape for each in model.get_weights()]
    assert loaded.predict(X, verbose=0).shape == (8, 1)


def test_a_custom_train_step_draws_new_numbers_every_time():
    class Generating(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, x):
            return self.dense(x)

        def train_step(self, data):
            latent = tf.random.normal(shape=(tf.shape(data)[0], 2))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(self(latent, training=True)))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            return {"loss": loss}

    with make_strategy(2).scope():
        model = Generating()
        model(tf.zeros([1, 2]))
        model.compile(optimizer=tf.keras.optimizers.SGD(0.0))
    losses = model.fit(X, batch_size=8, epochs=3, verbose=0).history["loss"]
    assert len(set(losses)) == 3


@pytest.mark.parametrize("draw", [tf.random.uniform, tf.random.Generator.from_seed(1).uniform])
def test_drawing_without_updating_the_state_raises(draw):
    def loss(y, predicted):
        return tf.reduce_mean(tf.square(predicted)) * draw([])

    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", loss)
    with pytest.raises(RuntimeError, match="draw the same ones every time"):
        model.fit(X, Y, verbose=0)
