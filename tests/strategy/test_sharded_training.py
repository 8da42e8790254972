"""With sharded state every optimizer, every kind of layer and every way to train gives the result of one device."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import jax
import keras
import numpy as np
import pytest
from keras import layers, optimizers

import unisono
import unisono._src.training
from unisono._src.strategy import Strategy

DEVICES = [f"cpu:{index}" for index in range(4)]
ROWS, BATCH = 27, 10  # batches of 10, 10 and 7 rows: none divides by 4

X = np.random.default_rng(0).normal(size=(ROWS, 12)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, ROWS)
SEQUENCES = np.random.default_rng(2).normal(size=(ROWS, 6, 8)).astype("float32")
IMAGES = np.random.default_rng(3).normal(size=(ROWS, 8, 8, 4)).astype("float32")
TOKENS = np.random.default_rng(4).integers(0, 32, (ROWS, 6))

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "zero1": lambda: unisono.FullyShardedStrategy(DEVICES, "optimizer", min_shard_size=0),
    "zero3": lambda: unisono.FullyShardedStrategy(DEVICES, min_shard_size=0),
    "hybrid": lambda: unisono.FullyShardedStrategy(DEVICES, shard_group=2, min_shard_size=0),
    "mesh": lambda: unisono.ModelParallelStrategy({"batch": 2, "model": 2}, devices=DEVICES),
}
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)

Train = Callable[[], dict[str, Any]]  # makes a model and trains it; returns what is compared


def compare(strategy: str, train: Train, tolerance: float = 1e-5) -> None:
    """Trains on one device and with the strategy from the same seeds."""
    found = []
    for scope in (contextlib.nullcontext(), STRATEGIES[strategy]().scope()):
        keras.backend.clear_session()
        keras.utils.set_random_seed(5)
        with scope:
            found.append(train())
    expected, ours = found
    assert ours.keys() == expected.keys()
    for name, value in expected.items():
        scale = max(float(np.abs(value).max(initial=0)), 1e-3)
        np.testing.assert_allclose(ours[name], value, rtol=0, atol=tolerance * scale, err_msg=name)


def history_of(fitted: keras.callbacks.History) -> dict[str, Any]:
    return {f"history/{name}": np.asarray(values) for name, values in fitted.history.items()}


def variables_of(model: keras.Model) -> dict[str, Any]:
    variables = [*model.variables, *model.optimizer.variables]
    return {f"{index} {each.path}": np.asarray(each.numpy(), "float64") for index, each in enumerate(variables)}


def results(model: keras.Model, x: Any) -> dict[str, Any]:
    return variables_of(model) | {"predict": model.predict(x, batch_size=BATCH, verbose=0).astype("float64")}


def fit_classifier(model: keras.Model, x: Any, optimizer: Any) -> dict[str, Any]:
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    found = history_of(model.fit(x, Y, batch_size=BATCH, epochs=2, shuffle=False, verbose=0))
    if not unisono.has_strategy():
        # Keras 3.15.1 ends `fit` by assigning the averages of use_ema to the weights, as the same arrays, and
        # `evaluate` donates the weights.
        for variable in model.trainable_variables:
            variable.assign(np.array(variable.value))
    found["evaluate"] = np.asarray(model.evaluate(x, Y, batch_size=BATCH, verbose=0))
    return results(model, x) | found


def head() -> layers.Layer:
    return layers.Dense(3, activation="softmax", dtype="float32")  # does not divide by 2 or 4


def mlp() -> keras.Model:
    return keras.Sequential([layers.Input((12,)), layers.Dense(16, "tanh"), layers.Dense(8, "tanh"), head()])


def everything() -> keras.Model:
    """Many kinds of layers in one model, so that the default tests compile one program for all."""
    norm = keras.constraints.UnitNorm()
    tokens, shared = layers.Input((6,), dtype="int32"), layers.Dense(8, "tanh", kernel_constraint=norm)
    hidden = shared(shared(layers.Embedding(32, 8)(tokens)))
    hidden = hidden + layers.MultiHeadAttention(2, 4, use_bias=False)(hidden, hidden)
    hidden = layers.LSTM(16, return_sequences=True, kernel_regularizer="l2")(hidden)
    hidden = layers.BatchNormalization(epsilon=0.5)(layers.Conv1D(8, 3, use_bias=False)(hidden))
    hidden = layers.Dense(7, "tanh", trainable=False)(layers.Dropout(0.2)(hidden))
    return keras.Model(tokens, head()(layers.Flatten()(hidden)))


@pytest.mark.full
def test_layers_of_many_kinds_train_as_on_one_device() -> None:
    def train() -> dict[str, Any]:
        model = everything()
        optimizer = optimizers.AdamW(0.01, clipnorm=0.1, use_ema=True, gradient_accumulation_steps=2)
        model.compile(optimizer, "sparse_categorical_crossentropy")
        history = model.fit(TOKENS[:20], Y[:20], batch_size=10, shuffle=False, verbose=0)
        return variables_of(model) | history_of(history)

    compare("zero3", train, 1e-4)


@pytest.mark.full
def test_weights_of_a_recurrent_layer_are_gathered_once_for_all_time_steps() -> None:
    with STRATEGIES["zero3"]().scope():
        model = sequential((6, 8), layers.LSTM(16))
        model.compile("sgd", "sparse_categorical_crossentropy")
    model.fit(SEQUENCES[:8], Y[:8], batch_size=4, verbose=0)
    (program,) = unisono._src.training.programs(model)
    depths = collective_depths(program.text, "all-gather")
    # The steps are a loop; the time steps are one inside it. Two kernels, in the forward and in the backward pass.
    assert set(depths) == {1}
    assert len(depths) <= 6


@pytest.mark.slow
def test_a_sharded_optimizer_sums_each_gradient_and_gathers_each_new_weight_once() -> None:
    """With few rows XLA would rather gather the activations, and compute the shards of gradients from all rows."""
    with STRATEGIES["zero1"]().scope():
        model = keras.Sequential([layers.Input((12,)), layers.Dense(64, use_bias=False), layers.Dense(12)])
        model.compile("adam", "mse")
    model.fit(X[:8], X[:8], batch_size=4, verbose=0)
    (program,) = unisono._src.training.programs(model)
    assert len(collective_depths(program.text, "all-gather")) == 3
    yields = re.findall(r"= (.*?) all-reduce(?:-start)?\(", program.text)
    assert sorted(re.findall(r"f32\[\d+,\d+\]", " ".join(yields))) == ["f32[12,64]", "f32[64,12]"]


def collective_depths(text: str, operation: str) -> list[int]:
    """For each such operation of a program, in how many loops it is."""
    computations: dict[str, list[str]] = {}
    for line in text.splitlines():
        if found := re.match(r"(ENTRY )?%?([\w.\-]+) .*\{$", line):
            lines = computations.setdefault("ENTRY" if found[1] else found[2], [])
        elif line.startswith(" "):
            lines.append(line)

    def walk(name: str, depth: int) -> Iterator[int]:
        for line in computations[name]:
            if f" {operation}(" in line:
                yield depth
            for kind, other in re.findall(r"(body|to_apply|calls|condition)=%?([\w.\-]+)", line):
                yield from walk(other, depth + (kind == "body"))

    return list(walk("ENTRY", 0))


# Optimizers.

EXACT_OPTIMIZERS: dict[str, Callable[[], optimizers.Optimizer]] = {
    "adadelta": lambda: optimizers.Adadelta(0.5),
    "adafactor": lambda: optimizers.Adafactor(0.01),
    "adagrad": lambda: optimizers.Adagrad(0.05),
    "adam, EMA": lambda: optimizers.Adam(0.01, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=2),
    "adam, accumulated": lambda: optimizers.Adam(0.01, gradient_accumulation_steps=2),
    "adam, amsgrad, clipped": lambda: optimizers.Adam(0.01, amsgrad=True, global_clipnorm=0.1),
    "adamax": lambda: optimizers.Adamax(0.01),
    "adamw": lambda: optimizers.AdamW(0.01, weight_decay=0.05),
    "ftrl": lambda: optimizers.Ftrl(0.05, l2_regularization_strength=0.01),
    "lamb": lambda: optimizers.Lamb(0.01),
    "lion": lambda: optimizers.Lion(0.001),
    "muon": lambda: optimizers.Muon(0.01, weight_decay=0.01),
    "nadam": lambda: optimizers.Nadam(0.01),
    "rmsprop, centered": lambda: optimizers.RMSprop(0.01, centered=True, momentum=0.5),
    "sgd, clipped": lambda: optimizers.SGD(0.1, momentum=0.9, nesterov=True, clipnorm=0.05),
    "sgd, clipped by value": lambda: optimizers.SGD(
        optimizers.schedules.CosineDecay(0.1, 10), momentum=0.9, clipvalue=0.02
    ),
}


@pytest.mark.full
@every_strategy
@pytest.mark.parametrize("optimizer", EXACT_OPTIMIZERS)
def test_an_optimizer_computes_the_updates_of_one_device(optimizer: str, strategy: str) -> None:
    # Lion takes signs: where a gradient is zero but for rounding, its update is not one device's.
    tolerance = 5e-3 if optimizer == "lion" else 1e-4
    compare(strategy, lambda: fit_classifier(mlp(), X, EXACT_OPTIMIZERS[optimizer]()), tolerance)


@pytest.mark.full
@every_strategy
@pytest.mark.parametrize("scale", [2.0**8, 2.0**30])
def test_a_scaled_loss_gives_the_updates_of_one_device(strategy: str, scale: float) -> None:
    def train() -> dict[str, Any]:
        with dtype_policy("mixed_float16"):
            inner = optimizers.Adam(0.01)
            return fit_classifier(mlp(), X, optimizers.LossScaleOptimizer(inner, scale, dynamic_growth_steps=3))

    compare(strategy, train, 2e-2)


@contextlib.contextmanager
def dtype_policy(name: str) -> Iterator[None]:
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


# Layers.


class TiedEmbedding(keras.Model):
    """The table of an embedding is also the kernel of the output."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = layers.Embedding(32, 8)

    def call(self, tokens: Any) -> Any:
        hidden = keras.ops.mean(self.embedding(tokens), axis=1)
        logits = keras.ops.matmul(hidden, keras.ops.transpose(self.embedding.embeddings))
        return keras.ops.softmax(logits[:, :3])


def shared_layer() -> keras.Model:
    inputs, shared = layers.Input((12,)), layers.Dense(12, "tanh")
    return keras.Model(inputs, head()(shared(shared(inputs))))


def constrained() -> keras.Model:
    constraint, penalty = keras.constraints, keras.regularizers
    return keras.Sequential(
        [
            layers.Input((12,)),
            layers.Dense(16, kernel_constraint=constraint.UnitNorm(axis=0), bias_constraint=constraint.NonNeg()),
            layers.Dense(16, kernel_constraint=constraint.MaxNorm(0.7), kernel_regularizer=penalty.L1L2(1e-3, 1e-2)),
            layers.Dense(8, kernel_regularizer=penalty.OrthogonalRegularizer(), activity_regularizer="l2"),
            head(),
        ]
    )


def frozen() -> keras.Model:
    model = mlp()
    model.layers[0].trainable = False
    return model


def nested() -> keras.Model:
    encoder = keras.Sequential([layers.Dense(16, "tanh"), layers.BatchNormalization(epsilon=0.5)])
    inputs = layers.Input((12,))
    return keras.Sequential([keras.Model(inputs, encoder(inputs)), keras.Sequential([layers.Dense(8), head()])])


def transformer() -> keras.Model:
    inputs = layers.Input((6, 8))
    attended = layers.MultiHeadAttention(2, 4, use_bias=False)(inputs, inputs, use_causal_mask=True)
    hidden = layers.LayerNormalization()(inputs + attended)
    hidden = layers.LayerNormalization()(hidden + layers.Dense(8)(layers.Dense(16, "gelu")(hidden)))
    return keras.Model(inputs, head()(layers.GlobalAveragePooling1D()(hidden)))


def sequential(shape: tuple[int, ...], *found: layers.Layer) -> keras.Model:
    return keras.Sequential([layers.Input(shape), *found, head()])


def lora() -> keras.Model:
    model = mlp()
    model.layers[0].enable_lora(4)
    return model


LAYERS: dict[str, tuple[Callable[[], keras.Model], np.ndarray]] = {
    "constraints and regularizers": (constrained, X),
    "lora": (lora, X),
    "models in models": (nested, X),
    "none that divides": (lambda: sequential((12,), layers.Dense(7, "tanh"), layers.Dense(5, "tanh")), X),
    "one layer twice": (shared_layer, X),
    "one layer frozen": (frozen, X),
    "tied embeddings": (TiedEmbedding, TOKENS),
    "transformer": (transformer, SEQUENCES),
    "embedding": (lambda: sequential((6,), layers.Embedding(32, 8), layers.Flatten()), TOKENS % 31),
    "lstm": (lambda: sequential((6, 8), layers.LSTM(8, return_sequences=True), layers.LSTM(16)), SEQUENCES),
    "gru": (lambda: sequential((6, 8), layers.Bidirectional(layers.GRU(8))), SEQUENCES),
    "rnn of cells": (lambda: sequential((6, 8), layers.RNN([layers.LSTMCell(8), layers.GRUCell(8)])), SEQUENCES),
    "time distributed": (
        lambda: sequential((6, 8), layers.TimeDistributed(layers.Dense(8)), layers.Flatten()),
        SEQUENCES,
    ),
    "conv2d": (
        lambda: sequential(
            (8, 8, 4), layers.Conv2D(8, 3, use_bias=False), layers.BatchNormalization(), layers.Flatten()
        ),
        IMAGES,
    ),
    "separable": (lambda: sequential((8, 8, 4), layers.SeparableConv2D(8, 3), layers.GlobalMaxPool2D()), IMAGES),
    "transposed": (
        lambda: sequential((8, 8, 4), layers.Conv2DTranspose(8, 3, 2), layers.GlobalAveragePooling2D()),
        IMAGES,
    ),
    "conv1d": (lambda: sequential((6, 8), layers.Conv1D(8, 2, padding="causal"), layers.Flatten()), SEQUENCES),
    "dropout": (lambda: sequential((12,), layers.Dense(16), layers.Dropout(0.4), layers.GaussianNoise(0.1)), X),
    "spectral norm": (lambda: sequential((12,), layers.SpectralNormalization(layers.Dense(16))), X),
}


@pytest.mark.full
@every_strategy
@pytest.mark.parametrize("layer", LAYERS)
def test_layers_train_as_on_one_device(layer: str, strategy: str) -> None:
    build, x = LAYERS[layer]
    compare(strategy, lambda: fit_classifier(build(), x, optimizers.SGD(0.1, momentum=0.9)), 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["tied embeddings", "separable"])
def test_gradients_that_xla_partitions_wrongly_are_those_of_one_device(layer: str) -> None:
    def train() -> dict[str, Any]:
        build, x = LAYERS[layer]
        model = build()
        model.compile(optimizers.SGD(1.0), "sparse_categorical_crossentropy")
        model.fit(x[:7], Y[:7], batch_size=7, shuffle=False, verbose=0)
        return variables_of(model)

    compare("mesh", train)


# Ways to train.


class JaxStyleStep(keras.Model):
    """A train step in Keras's signature for JAX."""

    def train_step(self, state: Any, data: Any) -> tuple[Any, Any]:
        trainable, non_trainable, optimizer, metrics = state
        x, y = data

        def loss_of(weights: Any) -> tuple[Any, Any]:
            predicted, updated = self.stateless_call(weights, non_trainable, x, training=True)
            return self.compute_loss(x, y, predicted), (predicted, updated)

        (loss, (_, non_trainable)), gradients = jax.value_and_grad(loss_of, has_aux=True)(trainable)
        trainable, optimizer = self.optimizer.stateless_apply(optimizer, gradients, trainable)
        return {"loss": loss}, (trainable, non_trainable, optimizer, metrics)


class TapeStep(keras.Model):
    """A train step as for TensorFlow."""

    def train_step(self, data: Any) -> dict[str, Any]:
        x, y = data
        with unisono.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


class StockStep(keras.Model):
    """Keras's own."""


def custom_step(kind: type[keras.Model]) -> dict[str, Any]:
    inputs = layers.Input((12,))
    hidden = layers.BatchNormalization(epsilon=0.5)(layers.Dense(16, "tanh")(inputs))
    model = kind(inputs, head()(hidden))
    model.compile(optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    for start in (0, 10, 20):  # even rows: the loss of the last batch alone is in the logs
        model.fit(X[start : start + 7], Y[start : start + 7], batch_size=7, shuffle=False, verbose=0)
    return {name: value for name, value in results(model, X).items() if "loss" not in name}


@pytest.mark.full
@every_strategy
@pytest.mark.parametrize("kind", [JaxStyleStep, TapeStep])
def test_a_train_step_of_the_users_own_trains_as_on_one_device(kind: type[keras.Model], strategy: str) -> None:
    train = iter([StockStep, kind])  # stock Keras on JAX runs no step with a tape
    compare(strategy, lambda: custom_step(next(train)))


@pytest.mark.full
@every_strategy
def test_eager_steps_train_as_on_one_device(strategy: str) -> None:
    def train() -> dict[str, Any]:
        model = mlp()
        model.compile(optimizers.Adam(0.01), "sparse_categorical_crossentropy", run_eagerly=True)
        history = history_of(model.fit(X[:8], Y[:8], batch_size=4, shuffle=False, verbose=0))
        return results(model, X) | history

    compare(strategy, train)


@pytest.mark.full
@every_strategy
def test_single_batches_and_weights_of_classes_train_as_on_one_device(strategy: str) -> None:
    def train() -> dict[str, Any]:
        model = mlp()
        model.compile(optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
        logs = [model.train_on_batch(X[:n], Y[:n], class_weight={0: 1.0, 1: 2.0, 2: 0.5}) for n in (10, 7, 1)]
        logs += [model.test_on_batch(X[:5], Y[:5], sample_weight=np.arange(5.0))]
        outputs = model.predict_on_batch(X[:3])
        return results(model, X) | {"logs": np.asarray(logs), "outputs": outputs}

    compare(strategy, train)


class Gan(keras.Model):
    """Two models with an optimizer each, trained by one step with tapes."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = keras.Sequential([layers.Input((4,)), layers.Dense(16, "tanh"), layers.Dense(12)])
        self.critic = keras.Sequential([layers.Input((12,)), layers.Dense(16, "tanh"), layers.Dense(1)])
        self.critic_optimizer, self.generator_optimizer = optimizers.Adam(0.01), optimizers.RMSprop(0.01)
        self.critic_optimizer.build(self.critic.trainable_variables)
        self.generator_optimizer.build(self.generator.trainable_variables)
        self.built = True

    def train_step(self, real: Any) -> dict[str, Any]:
        softplus, mean = keras.ops.softplus, keras.ops.mean
        with unisono.GradientTape() as tape:
            fake = self.generator(real[:, :4])
            critic_loss = mean(softplus(-self.critic(real))) + mean(softplus(self.critic(fake)))
        weights = self.critic.trainable_variables
        self.critic_optimizer.apply_gradients(zip(tape.gradient(critic_loss, weights), weights, strict=True))
        with unisono.GradientTape() as tape:
            loss = mean(softplus(-self.critic(self.generator(real[:, :4]))))
        weights = self.generator.trainable_variables
        self.generator_optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return {"critic": critic_loss, "generator": loss}


@pytest.mark.full
@every_strategy
def test_two_models_with_two_optimizers_train_as_mirrored(strategy: str) -> None:
    found = []
    for scope in (unisono.MirroredStrategy(DEVICES[:1]).scope(), STRATEGIES[strategy]().scope()):
        keras.utils.set_random_seed(5)
        with scope:
            gan = Gan()
            gan.compile()
        gan.fit(X[:24], batch_size=8, epochs=2, shuffle=False, verbose=0)
        variables = [*gan.variables, *gan.critic_optimizer.variables, *gan.generator_optimizer.variables]
        found.append([np.asarray(variable.numpy()) for variable in variables])
    assert len(found[0]) > 20
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
