"""Variables, layers and optimizers that a compiled function makes on its first call, with traced initial values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unisono
import unisono.tf as tf


def xavier(shape: Any) -> Any:
    limit = tf.sqrt(6.0) / tf.sqrt(tf.cast(shape[0] + shape[1], tf.float32))
    return tf.random.uniform(shape, -limit, limit, seed=22)


class Dense(tf.Module):
    """Makes its variables when it is called first."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units, self.built = units, False

    def __call__(self, x: Any) -> Any:
        if not self.built:
            self.w = tf.Variable(xavier((x.shape[1], self.units)), name="w")
            self.b = tf.Variable(tf.zeros([self.units]) + 0.5, name="b")
            self.built = True
        return tf.matmul(x, self.w) + self.b


class Stack(tf.Module):
    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = layers

    @tf.function
    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = tf.nn.relu(layer(x))
        return x


@pytest.mark.slow
def test_modules_make_variables_inside_of_a_function_and_a_tape() -> None:
    tf.random.set_seed(3)
    x, stack, eager = tf.ones([4, 5]), Stack(Dense(6), Dense(3)), Dense(6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(stack(x) ** 2)
    gradients = tape.gradient(loss, stack.trainable_variables)
    assert [variable.name for variable in stack.variables] == ["b", "w", "b", "w"]
    assert all(np.any(gradient) for gradient in gradients)
    first = stack.layers[0].w.numpy()
    assert len(np.unique(first)) == first.size
    assert np.abs(first).max() <= (6 / 11) ** 0.5
    assert np.all(stack.layers[1].b.numpy() == 0.5)
    assert np.allclose(stack(x), stack(x))
    tf.random.set_seed(3)
    eager(x)  # draws the same numbers outside functions
    np.testing.assert_array_equal(first, eager.w.numpy())


@pytest.mark.slow
def test_a_compiled_step_makes_the_slots_of_a_hand_written_optimizer() -> None:
    model, state = Dense(2), {}  # type: ignore[var-annotated]

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        variables = model.trainable_variables
        if not state:
            state["momentum"] = [tf.Variable(tf.zeros_like(each), trainable=False) for each in variables]
            state["average"] = tf.Variable(loss)  # depends on the arguments
        for variable, gradient, slot in zip(variables, tape.gradient(loss, variables), state["momentum"], strict=True):
            slot.assign(0.9 * slot + gradient)
            variable.assign_sub(0.1 * slot)
        state["average"].assign(0.5 * state["average"] + 0.5 * loss)
        return loss

    x = tf.reshape(tf.range(12, dtype=tf.float32) / 12, [4, 3])
    losses = [float(step(x)) for _ in range(3)]
    assert losses[2] < losses[1] < losses[0]
    assert float(state["average"]) == pytest.approx(losses[0] / 4 + losses[1] / 4 + losses[2] / 2, rel=1e-5)


def test_numbers_of_initial_values_are_not_drawn_again() -> None:
    made: list[Any] = []

    @tf.function
    def draw() -> Any:
        if not made:
            made.append(tf.Variable(tf.random.normal([3])))
        return tf.random.normal([3])

    tf.random.set_seed(1)
    drawn = draw()
    tf.random.set_seed(1)
    eager = [tf.random.normal([3]) for _ in range(3)]
    np.testing.assert_allclose(made[0].numpy(), eager[0], rtol=1e-6)
    assert not np.allclose(made[0].numpy(), drawn)


@pytest.mark.parametrize("devices", [1, 2])
def test_replicas_make_variables_layers_and_optimizers_on_the_first_step(devices: int) -> None:
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])
    made: dict[str, Any] = {}
    tf.random.set_seed(5)

    def step(x: Any) -> Any:
        if not made:
            made["scale"] = tf.Variable(tf.random.normal([3]) * 2.0)
            made["layer"] = tf.keras.layers.Dense(2, kernel_initializer="ones")
            made["optimizer"] = tf.keras.optimizers.SGD(0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(made["layer"](x * made["scale"])) / 4
        variables = [*made["layer"].trainable_variables, made["scale"]]
        made["optimizer"].apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    @tf.function
    def train(x: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)

    with strategy.scope():
        dataset = tf.data.Dataset.from_tensor_slices(tf.ones([4, 3])).batch(4).repeat(2)
        losses = [float(train(x)) for x in strategy.experimental_distribute_dataset(dataset)]
    assert losses[1] < losses[0]
    assert len(made["scale"].values) == devices


class Lazy(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.shift = None
        self.bank: dict[str, Any] = {}

    @tf.function
    def __call__(self, x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            if self.shift is None:
                self.shift = tf.Variable(tf.fill([2], 3.0))
            y = x + self.shift
        else:
            y = x
        for _ in tf.range(2):
            if "w" not in self.bank:
                self.bank["w"] = tf.Variable(tf.ones([2]) * 2.0)
            y = y * self.bank["w"]
        return y


def test_variables_are_made_in_branches_and_loops() -> None:
    lazy = Lazy()
    np.testing.assert_array_equal(lazy(tf.ones([2])), [16.0, 16.0])
    np.testing.assert_array_equal(lazy(-tf.ones([2])), [-4.0, -4.0])
    assert len(lazy.variables) == 2


def test_an_initial_value_from_a_loops_state_is_refused_with_what_to_write() -> None:
    made: list[Any] = []

    @tf.function
    def total(x: Any) -> Any:
        for row in x:
            if not made:
                made.append(tf.Variable(row * 2.0, name="first"))
        return x

    with pytest.raises(ValueError, match=r"(?s)initial value of the variable 'first' is not known.*self.mean.assign"):
        total(tf.ones([3, 2]))


class Attention(tf.Module):
    """Stores what it computes in attributes, in a list and in a module of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.history = Dense(1), [None]

    @tf.function
    def __call__(self, x: Any) -> Any:
        self.weights = tf.nn.softmax(x)
        self.history[0] = self.inner.last = x * 2.0
        return x + 1.0


@pytest.mark.parametrize(
    "use",
    [
        lambda value: value + 1,
        lambda value: tf.ones([2]) * value,
        lambda value: tf.reduce_sum(value),
        lambda value: value.numpy(),
        lambda value: np.asarray(value),
        lambda value: value[0],
        lambda value: tf.function(lambda x: x + value)(1.0),
        lambda value: f"{value:.2f}",
    ],
)
def test_a_traced_value_that_was_stored_on_self_says_so_when_it_is_used(use: Any) -> None:
    attention = Attention()
    np.testing.assert_array_equal(attention(tf.ones([2])), attention(tf.ones([2])))
    assert attention.weights.shape == (2,)
    assert "traced value" in repr(attention.weights)
    stored = {"weights": attention.weights, "history[0]": attention.history[0], "inner.last": attention.inner.last}
    for path, value in stored.items():
        with pytest.raises(unisono.TracedValueError) as caught:
            use(value)
        assert f"self.{path} was assigned inside a compiled function, Attention.__call__" in str(caught.value)
        assert f"self.{path}.assign(...)" in str(caught.value)


class Holder:
    field: Any = None


kept: Any = None


def test_a_traced_value_that_was_stored_in_another_object_or_name_says_so() -> None:
    holder, local, values = Holder(), None, []

    @tf.function
    def leak(x: Any) -> Any:
        global kept
        nonlocal local
        kept = local = holder.field = x + 1.0
        values.append(x + 2.0)
        return x

    leak(tf.constant(1.0))
    stored = {"kept": kept, "local": local, "holder.field": holder.field, "values[0]": values[0]}
    for path, value in stored.items():
        with pytest.raises(unisono.TracedValueError) as caught:
            value.numpy()
        assert str(caught.value).startswith(f"{path} was assigned inside a compiled function")


class LazyStep(tf.keras.Model):
    """Makes a variable in its train_step."""

    def __init__(self) -> None:
        super().__init__()
        self.dense, self.bank = tf.keras.layers.Dense(1), {}

    def call(self, x: Any) -> Any:
        return self.dense(x)

    def train_step(self, data: Any) -> Any:
        if "average" not in self.bank:
            object.__setattr__(self, "bank", {"average": tf.Variable(tf.ones([]) * 7.0, trainable=False)})
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables, strict=True)
        )
        self.bank["average"].assign(0.5 * self.bank["average"] + 0.5 * loss)
        return {"loss": loss, "average": self.bank["average"]}


@pytest.mark.slow
def test_a_train_step_makes_variables_in_fit() -> None:
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = LazyStep()
        model.compile(tf.keras.optimizers.SGD(0.0))
    history = model.fit(np.ones([8, 2], "float32"), np.ones([8, 1], "float32"), batch_size=4, verbose=0)
    loss = history.history["loss"][-1]
    assert history.history["average"][-1] == pytest.approx(7 / 4 + 3 * loss / 4, rel=1e-5)
