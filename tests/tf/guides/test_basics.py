"""guide/basics: TensorFlow basics."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


def test_tensors() -> None:
    """arithmetic, transpose, `@`, concat, softmax, reduce_sum, convert_to_tensor of lists, shape and dtype"""
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert x.shape == (2, 3)
    assert x.dtype == tf.float32
    np.testing.assert_array_equal(x + x, 5 * x - 3 * x)
    np.testing.assert_array_equal((x @ tf.transpose(x)).numpy(), x.numpy() @ x.numpy().T)
    assert tf.concat([x, x, x], axis=0).shape == (6, 3)
    np.testing.assert_allclose(tf.reduce_sum(tf.nn.softmax(x, axis=-1), axis=-1), [1, 1], rtol=1e-6)
    assert tf.reduce_sum(x).numpy() == 21
    assert tf.reduce_sum([1, 2, 3]).numpy() == tf.convert_to_tensor([1, 2, 3]).numpy().sum()


def test_devices() -> None:
    """list_physical_devices"""
    assert tf.config.list_physical_devices("CPU")
    assert isinstance(tf.config.list_physical_devices("GPU"), list)


def test_variables_and_gradients() -> None:
    """Variable with assign and assign_add, GradientTape of a polynomial"""
    var = tf.Variable([0.0, 0.0, 0.0])
    var.assign([1, 2, 3])
    var.assign_add([1, 1, 1])
    np.testing.assert_array_equal(var.numpy(), [2, 3, 4])
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x**2 + 2 * x - 5
    assert tape.gradient(y, x).numpy() == 4.0


def test_functions_are_traced_once_per_kind_of_argument() -> None:
    """a Python print in a function appears only while it is traced"""
    traced = []

    @tf.function
    def my_func(x: tf.Tensor) -> tf.Tensor:
        traced.append(x.shape)
        return tf.reduce_sum(x)

    assert my_func(tf.constant([1, 2, 3])) == 6
    assert my_func(tf.constant([10, 9, 8])) == 27
    assert len(traced) == 1
    my_func(tf.constant([10.0, 9.1, 8.2]))
    assert len(traced) == 2


def test_a_module_is_saved_and_loaded_without_its_class(tmp_path: Path) -> None:
    """tf.Module with a variable and a method, saved_model.save and load"""

    class MyModule(tf.Module):
        def __init__(self, value: float) -> None:
            self.weight = tf.Variable(value)

        @tf.function
        def multiply(self, x: tf.Tensor) -> tf.Tensor:
            return x * self.weight

    mod = MyModule(3.0)
    np.testing.assert_array_equal(mod.multiply(tf.constant([1.0, 2.0, 3.0])), [3, 6, 9])
    tf.saved_model.save(mod, str(tmp_path / "saved"))
    reloaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_array_equal(reloaded.multiply(tf.constant([1.0, 2.0, 3.0])), [3, 6, 9])


@pytest.mark.full
def test_a_training_loop_over_a_dataset_then_fit() -> None:
    """a model of variables, batches of a dataset, assign_sub of gradients; the same model in compile and fit"""
    x = tf.linspace(-2.0, 2.0, 41)
    y = x**2 + 2 * x - 5

    class Model(tf.Module):
        def __init__(self) -> None:
            rand_init = tf.random.uniform(shape=[3], minval=0.0, maxval=5.0, seed=22)
            self.w_q, self.w_l, self.b = tf.Variable(rand_init[0]), tf.Variable(rand_init[1]), tf.Variable(rand_init[2])

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return self.w_q * (x**2) + self.w_l * x + self.b

    quad = Model()
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(buffer_size=41).batch(16)
    losses = []
    for _ in range(12):
        for x_batch, y_batch in dataset:
            with tf.GradientTape() as tape:
                batch_loss = tf.reduce_mean((quad(x_batch) - y_batch) ** 2)
            for g, v in zip(tape.gradient(batch_loss, quad.trainable_variables), quad.trainable_variables, strict=True):
                v.assign_sub(0.05 * g)
        losses.append(float(tf.reduce_mean((quad(x) - y) ** 2)))
    assert losses[-1] < losses[0]
    model = tf.keras.Sequential(
        [tf.keras.layers.Lambda(lambda x: tf.stack([x, x**2], axis=1)), tf.keras.layers.Dense(1)]
    )
    model.compile(tf.keras.optimizers.SGD(learning_rate=0.05), loss=tf.keras.losses.MSE, metrics=["mae"])
    assert model.fit(x, y, epochs=2, batch_size=32, verbose=0).history["loss"]
    assert model(x).shape == (41, 1)
