"""Steps in TensorFlow's signature, `train_step(self, data)`, under `fit`, `evaluate` and `predict`."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(22, 3)).astype("float32"), RNG.normal(size=(22, 1)).astype("float32")


class Plain(keras.Model):
    """Couples rows and draws numbers, and has Keras's own steps."""

    def __init__(self) -> None:
        super().__init__()
        self.first = keras.layers.Dense(4, activation="tanh", kernel_regularizer="l2")
        self.norm = keras.layers.BatchNormalization()
        self.drop = keras.layers.Dropout(0.2, seed=3)
        self.last = keras.layers.Dense(1)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.last(self.drop(self.norm(self.first(x), training=training), training=training))


class WithTape(Plain):
    """Does the same by a tape."""

    def train_step(self, data: Any) -> Any:
        x, y = data
        with unisono.GradientTape() as tape:
            predicted = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=predicted)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return self._noted(x, y, predicted, loss)

    def test_step(self, data: Any) -> Any:
        x, y = data
        predicted = self(x, training=False)
        return self._noted(x, y, predicted, self.compute_loss(y=y, y_pred=predicted))

    def predict_step(self, data: Any) -> Any:
        return self(data, training=False)

    def _noted(self, x: Any, y: Any, predicted: Any, loss: Any) -> Any:
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss, sample_weight=x.shape[0])
            else:
                metric.update_state(y, predicted)
        return {metric.name: metric.result() for metric in self.metrics}


class Handing(Plain):
    """Passes the data to Keras's own steps."""

    def train_step(self, data: Any) -> Any:
        logs = super().train_step(data)
        return logs | {"twice": 2 * logs["loss"]}

    def test_step(self, data: Any) -> Any:
        return super().test_step(data)

    def predict_step(self, data: Any) -> Any:
        return 2 * super().predict_step(data)


class Pair(keras.Model):
    """Two networks with an optimizer each, random numbers, and a count of steps that is no part of the model."""

    def __init__(self, count: Any) -> None:
        super().__init__()
        self.maker, self.judge = keras.layers.Dense(3), keras.layers.Dense(1)
        self.seed = keras.random.SeedGenerator(7)
        self.judged, self.made = keras.metrics.Mean(name="judged"), keras.metrics.Mean(name="made")
        self.count = count

    @property
    def metrics(self) -> list[Any]:
        return [self.judged, self.made]

    def compile(self, judges: Any, makes: Any) -> None:
        super().compile()
        self.judges, self.makes = judges, makes
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real: Any) -> Any:
        rows = real.shape[0]
        fake = self.maker(keras.random.normal((rows, 2), seed=self.seed))
        truth = keras.ops.concatenate([keras.ops.ones((rows, 1)), keras.ops.zeros((rows, 1))])
        truth += 0.05 * keras.random.uniform(truth.shape)  # from the generator of the process
        with unisono.GradientTape() as tape:
            loss = self.loss_fn(truth, self.judge(keras.ops.concatenate([fake, real])))
        weights = self.judge.trainable_weights
        self.judges.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        with unisono.GradientTape() as tape:
            guessed = self.judge(self.maker(keras.random.normal((rows, 2), seed=self.seed)))
            other = self.loss_fn(keras.ops.zeros((rows, 1)), guessed)
        weights = self.maker.trainable_weights
        self.makes.apply_gradients(zip(tape.gradient(other, weights), weights, strict=True))
        self.judged.update_state(loss)
        self.made.update_state(other)
        self.count()
        return {"judged": self.judged.result(), "made": self.made.result()}


def strategy_of(replicas: int) -> unisono.Strategy:
    return unisono.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])


def trained(kind: type[Plain], replicas: int) -> tuple[dict[str, Any], Any, list[Any]]:
    keras.utils.set_random_seed(0)
    with strategy_of(replicas).scope():
        model = kind()
        model.compile(keras.optimizers.Adam(0.05), "mse", metrics=["mae"])
    history = model.fit(X, Y, batch_size=5, epochs=2, verbose=0, validation_data=(X[:7], Y[:7]))
    return history.history, model.predict(X, verbose=0), model.train_on_batch(X[:5], Y[:5])


@pytest.fixture(scope="module")
def expected() -> tuple[dict[str, Any], Any, list[Any]]:
    return trained(Plain, 1)


@pytest.mark.parametrize(
    "replicas",
    [pytest.param(number, marks=pytest.mark.slow if number == 2 else pytest.mark.full) for number in (1, 2, 4)],
)
def test_a_step_with_a_tape_does_what_keras_own_does_on_any_number_of_replicas(replicas: int, expected: Any) -> None:
    history, predicted, on_batch = trained(WithTape, replicas)
    assert history.keys() == expected[0].keys()
    for name, values in expected[0].items():
        np.testing.assert_allclose(history[name], values, rtol=1e-5)
    np.testing.assert_allclose(predicted, expected[1], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(on_batch, expected[2], rtol=1e-4)


@pytest.mark.full
def test_keras_own_steps_can_be_called_with_the_data_alone(expected: Any) -> None:
    history, predicted, _ = trained(Handing, 2)
    np.testing.assert_allclose(history["twice"], 2 * np.array(history["loss"]), rtol=1e-6)
    for name, values in expected[0].items():
        np.testing.assert_allclose(history[name], values, rtol=1e-5)
    np.testing.assert_allclose(predicted, 2 * expected[1], rtol=1e-4, atol=1e-5)


@pytest.mark.full
def test_two_optimizers_and_variables_from_outside_are_part_of_the_state() -> None:
    results = []
    for replicas in (1, 4):
        keras.utils.set_random_seed(0)
        counter = keras.Variable(0, dtype="int32", trainable=False)
        with strategy_of(replicas).scope():
            model = Pair(lambda counter=counter: counter.assign_add(1))
            model.compile(keras.optimizers.Adam(0.05), keras.optimizers.SGD(0.05, momentum=0.9))
        history = model.fit(unisono.data.Dataset.from_tensor_slices(X).batch(5), epochs=2, verbose=0).history
        assert int(counter.value) == 10
        assert int(model.judges.iterations.value) == int(model.makes.iterations.value) == 10
        results.append([history["judged"], history["made"], *(w.numpy() for w in model.weights)])
    for one, four in zip(*results, strict=True):
        np.testing.assert_allclose(one, four, rtol=1e-4, atol=1e-5)


class Tracking(keras.callbacks.Callback):
    """Keeps the weights after each step, and where they are stored. A step that is repeated counts the last time."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: dict[int, Any] = {}

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        values = [weight.value for weight in self.model.weights]
        step = int(self.model.judges.iterations.value)
        self.steps[step] = [(np.asarray(value), str(value.sharding)) for value in values]


class Interrupting(keras.callbacks.Callback):
    """Ends the training in its second epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if epoch == 1:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("line_by_line", [False, pytest.param(True, marks=pytest.mark.full)])
def test_a_training_resumes_with_all_variables_that_a_step_uses(line_by_line: bool, tmp_path: Path) -> None:
    runs, strategy = [], strategy_of(2)
    for interrupted in (False, True):
        keras.utils.set_random_seed(0)
        counter = keras.Variable(0, dtype="int32", trainable=False)

        def made(counter: Any = counter) -> Any:
            with strategy.scope():
                model = Pair(lambda: counter.assign_add(1))
                model.compile(keras.optimizers.Adam(0.05), keras.optimizers.SGD(0.05, momentum=0.9))
                model.run_eagerly = line_by_line
            return model

        data, tracking = unisono.data.Dataset.from_tensor_slices(X).batch(5), Tracking()
        model = made()
        if interrupted:
            with pytest.raises(KeyboardInterrupt):
                model.fit(data, epochs=3, verbose=0, resume=tmp_path, callbacks=[Interrupting(), tracking])
            counter.assign(-7)
            keras.utils.set_random_seed(9)
            model = made()
        model.fit(data, epochs=3, verbose=0, resume=tmp_path if interrupted else None, callbacks=[tracking])
        assert int(counter.value) == 15
        runs.append(tracking.steps)
    whole, resumed = runs
    assert whole.keys() == resumed.keys() == set(range(1, 16))
    for step in range(1, 16):
        for (expected, stored_before), (value, stored) in zip(whole[step], resumed[step], strict=True):
            np.testing.assert_array_equal(value, expected, f"after step {step}, {stored} against {stored_before}")


def test_a_step_runs_line_by_line_if_the_model_is_compiled_so() -> None:
    seen: list[float] = []

    class Looking(keras.Sequential):
        def train_step(self, data: Any) -> Any:
            seen.append(float(data[0].sum()))
            return super().train_step(data)

    with strategy_of(1).scope():
        model = Looking([keras.layers.Dense(1)])
        model.compile("sgd", "mse", run_eagerly=True)
    model.fit(X[:4], Y[:4], batch_size=2, epochs=1, shuffle=False, verbose=0)
    np.testing.assert_allclose(seen, [X[:2].sum(), X[2:4].sum()], rtol=1e-5)


def test_a_step_that_makes_variables_every_time_is_refused() -> None:
    class Wasteful(Plain):
        def train_step(self, data: Any) -> Any:
            keras.Variable(1.0, name="again")
            return super().train_step(data)

    with strategy_of(1).scope():
        model = Wasteful()
        model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"train_step makes the variable 'again' whenever"):
        model.fit(X, Y, verbose=0)


def test_keras_own_step_with_data_alone_belongs_into_fit() -> None:
    with strategy_of(1).scope():
        model = Handing()
        model.compile("sgd", "mse")
    with pytest.raises(RuntimeError, match="train_on_batch"):
        model.train_step((X, Y))


@pytest.mark.slow
def test_what_only_validations_use_is_saved_too(tmp_path: Path) -> None:
    class Noisy(Plain):
        def test_step(self, data: Any) -> Any:
            x, y = data
            noise = keras.random.normal((), seed=self.seed)
            return {"loss": keras.ops.mean((self(x) - y) ** 2) + noise}

    histories, strategy = [], strategy_of(1)
    for interrupted in (False, True):
        keras.utils.set_random_seed(0)

        def made() -> Any:
            with strategy.scope():
                model = Noisy()
                object.__setattr__(model, "seed", keras.random.SeedGenerator(5))  # the model does not know of it
                model.compile("sgd", "mse")
            return model

        model, arguments = made(), {"epochs": 3, "verbose": 0, "validation_data": (X[:7], Y[:7]), "shuffle": False}
        if interrupted:
            with pytest.raises(KeyboardInterrupt):
                model.fit(X, Y, **arguments, resume=tmp_path, callbacks=[Interrupting()])
            model = made()
        model.fit(X, Y, **arguments, resume=tmp_path if interrupted else None)
        histories.append(model.history.history["val_loss"])
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    ("logs", "what"), [(1.0, "float"), ((1.0, 2.0), "tuple"), ({"loss": "low"}, "text for 'loss'")]
)
def test_what_is_no_dict_of_numbers_is_no_result_of_a_step(logs: Any, what: str) -> None:
    class Careless(Plain):
        def train_step(self, data: Any) -> Any:
            super().train_step(data)
            return logs

    with strategy_of(1).scope():
        model = Careless()
        model.compile("sgd", "mse")
    with pytest.raises(TypeError, match=f"train_step returned {what}. Expected is a dict"):
        model.fit(X, Y, verbose=0)


def test_a_step_that_needs_values_cannot_be_resumed(tmp_path: Path) -> None:
    class Looking(Plain):
        def train_step(self, data: Any) -> Any:
            np.asarray(data[0])
            return super().train_step(data)

    with strategy_of(1).scope():
        model = Looking()
        model.compile("sgd", "mse", run_eagerly=True)
    with pytest.raises(ValueError, match=r"train_step runs eagerly .* and needs the values"):
        model.fit(X, Y, verbose=0, resume=tmp_path)
