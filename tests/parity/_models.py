"""What the names in the table mean: models, their data, optimizers. Stock Keras: the oracle imports this."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import keras
import numpy as np
from keras import layers

Arrays = Any  # an array, or a list or dict of arrays
LEARNING_RATE = 0.05


@dataclass(frozen=True)
class Recipe:
    """A model, rows for it, and what it is compiled with."""

    build: Callable[[], keras.Model]
    data: Callable[[np.random.Generator, int], tuple[Arrays, Arrays]]
    compile: Callable[[], dict[str, Any]]


def _classes(*shape: int, classes: int = 4) -> Callable[[np.random.Generator, int], tuple[Arrays, Arrays]]:
    def data(rng: np.random.Generator, rows: int) -> tuple[Arrays, Arrays]:
        x = rng.normal(size=(rows, *shape)).astype("float32")
        return x, rng.integers(0, classes, size=rows).astype("int32")

    return data


def _targets(features: int, outputs: int) -> Callable[[np.random.Generator, int], tuple[Arrays, Arrays]]:
    def data(rng: np.random.Generator, rows: int) -> tuple[Arrays, Arrays]:
        x = rng.normal(size=(rows, features)).astype("float32")
        return x, rng.normal(size=(rows, outputs)).astype("float32")

    return data


def _classifier() -> dict[str, Any]:
    return {"loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]}


def _regressor() -> dict[str, Any]:
    return {"loss": "mse", "metrics": ["mae"]}


def _mlp() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((12,)),
            layers.Dense(16, activation="relu"),
            layers.Dense(4, dtype="float32", activation="softmax"),
        ]
    )


def _lazy() -> keras.Model:
    """Without an Input: the variables are created inside fit."""
    return keras.Sequential([layers.Dense(16, activation="relu"), layers.Dense(4, activation="softmax")])


# The epsilon is large so that a few rows that lie close together do not multiply their rounding.
def _batchnorm() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((12,)),
            layers.Dense(16, use_bias=False),
            layers.BatchNormalization(epsilon=0.5),
            layers.Activation("relu"),
            layers.Dense(8, use_bias=False),
            layers.BatchNormalization(momentum=0.8, epsilon=0.5),
            layers.Activation("tanh"),
            layers.Dense(4, activation="softmax"),
        ]
    )


def _batchnorm_bias() -> keras.Model:
    """As most people write it. The mean follows fast, or predict would show where Adam drove the bias."""
    return keras.Sequential(
        [
            layers.Input((12,)),
            layers.Dense(16, name="before_norm"),
            layers.BatchNormalization(momentum=0.5, epsilon=0.5, name="norm"),
            layers.Activation("relu"),
            layers.Dense(4, activation="softmax"),
        ]
    )


def _dropout() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((12,)),
            layers.GaussianNoise(0.1),
            layers.Dense(16, activation="relu"),
            layers.Dropout(0.3, seed=5),
            layers.Dense(16, activation="tanh"),
            layers.Dropout(0.3),
            layers.Dense(4, activation="softmax"),
        ]
    )


def _cnn() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((8, 8, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(4, dtype="float32", activation="softmax"),
        ]
    )


def _recurrent(layer: type[layers.Layer]) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        return keras.Sequential(
            [layers.Input((6, 5)), layer(24), layers.Dense(4, dtype="float32", activation="softmax")]
        )

    return build


def _masked() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((7,), dtype="int32"),
            layers.Embedding(20, 6, mask_zero=True),
            layers.LSTM(8),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def _tokens(rng: np.random.Generator, rows: int) -> tuple[Arrays, Arrays]:
    tokens = rng.integers(1, 20, size=(rows, 7)).astype("int32")
    lengths = rng.integers(1, 8, size=rows)
    tokens[np.arange(7)[None, :] >= lengths[:, None]] = 0
    return tokens, rng.integers(0, 2, size=(rows, 1)).astype("float32")


def _attention() -> keras.Model:
    inputs = layers.Input((6, 24))
    attended = layers.MultiHeadAttention(num_heads=2, key_dim=4)(inputs, inputs)
    hidden = layers.LayerNormalization()(layers.Add()([inputs, attended]))
    forward = layers.Dense(24)(layers.Dense(48, activation="gelu")(hidden))
    hidden = layers.LayerNormalization()(layers.Add()([hidden, forward]))
    pooled = layers.GlobalAveragePooling1D()(hidden)
    return keras.Model(inputs, layers.Dense(4, dtype="float32", activation="softmax")(pooled))


def _two_heads(form: type) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        left, right = layers.Input((5,), name="left"), layers.Input((3,), name="right")
        hidden = layers.Dense(12, activation="tanh")(layers.Concatenate()([left, right]))
        kind = layers.Dense(4, activation="softmax", name="kind")(hidden)
        price = layers.Dense(1, name="price")(hidden)
        if form is dict:
            return keras.Model({"left": left, "right": right}, {"kind": kind, "price": price})
        return keras.Model([left, right], [kind, price])

    return build


def _two_heads_data(form: type) -> Callable[[np.random.Generator, int], tuple[Arrays, Arrays]]:
    def data(rng: np.random.Generator, rows: int) -> tuple[Arrays, Arrays]:
        left, right = (
            rng.normal(size=(rows, 5)).astype("float32"),
            rng.normal(size=(rows, 3)).astype("float32"),
        )
        kind, price = (
            rng.integers(0, 4, size=rows).astype("int32"),
            rng.normal(size=(rows, 1)).astype("float32"),
        )
        if form is dict:
            return {"left": left, "right": right}, {"kind": kind, "price": price}
        return [left, right], [kind, price]

    return data


def _two_heads_compile(form: type) -> Callable[[], dict[str, Any]]:
    def settings() -> dict[str, Any]:
        if form is dict:
            return {
                "loss": {"kind": "sparse_categorical_crossentropy", "price": "mse"},
                "loss_weights": {"kind": 1.0, "price": 0.3},
                "metrics": {"kind": ["accuracy"], "price": ["mae"]},
            }
        return {
            "loss": ["sparse_categorical_crossentropy", "mse"],
            "loss_weights": [1.0, 0.3],
            "metrics": [["accuracy"], ["mae"]],
        }

    return settings


class _AddLoss(keras.Model):
    """Three losses beside the compiled one: of the weights, of the activations, and of the model's own."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(
            16, activation="tanh", kernel_regularizer=keras.regularizers.L2(1e-2), activity_regularizer="l1"
        )
        self.out = layers.Dense(4, activation="softmax", kernel_regularizer=keras.regularizers.L1(1e-3))

    def call(self, inputs: Any) -> Any:
        hidden = self.hidden(inputs)
        self.add_loss(0.1 * keras.ops.mean(keras.ops.square(hidden)))
        return self.out(hidden)


class _OwnTrainStep(keras.Model):
    """Both steps by hand, in Keras's signature for JAX. A trainer that ran its own instead is far off."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(16, activation="tanh")
        self.out = layers.Dense(3)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.error = keras.metrics.MeanAbsoluteError(name="error")

    @property
    def metrics(self) -> list[keras.Metric]:
        return [self.loss_tracker, self.error]

    def call(self, inputs: Any) -> Any:
        return self.out(self.hidden(inputs))

    def _loss(self, trainable: Any, non_trainable: Any, x: Any, y: Any) -> tuple[Any, Any]:
        y_pred, non_trainable = self.stateless_call(trainable, non_trainable, x)
        worst = keras.ops.max(keras.ops.square(y - y_pred), axis=-1)
        return keras.ops.mean(worst), (y_pred, non_trainable)

    def _measure(self, metrics: Any, loss: Any, y: Any, y_pred: Any) -> tuple[dict[str, Any], list[Any]]:
        cut = len(self.loss_tracker.variables)
        tracked = self.loss_tracker.stateless_update_state(metrics[:cut], loss)
        error = self.error.stateless_update_state(metrics[cut:], y, y_pred)
        logs = {
            "loss": self.loss_tracker.stateless_result(tracked),
            "error": self.error.stateless_result(error),
        }
        return logs, [*tracked, *error]

    def train_step(self, state: Any, data: Any) -> tuple[dict[str, Any], Any]:
        trainable, non_trainable, optimizer, metrics = state
        x, y = data[0], data[1]
        gradient = jax.value_and_grad(self._loss, has_aux=True)
        (loss, (y_pred, non_trainable)), gradients = gradient(trainable, non_trainable, x, y)
        trainable, optimizer = self.optimizer.stateless_apply(optimizer, gradients, trainable)
        logs, metrics = self._measure(metrics, loss, y, y_pred)
        return logs, (trainable, non_trainable, optimizer, metrics)

    def test_step(self, state: Any, data: Any) -> tuple[dict[str, Any], Any]:
        trainable, non_trainable, metrics = state
        x, y = data[0], data[1]
        loss, (y_pred, non_trainable) = self._loss(trainable, non_trainable, x, y)
        logs, metrics = self._measure(metrics, loss, y, y_pred)
        return logs, (trainable, non_trainable, metrics)


class _OwnComputeLoss(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(16, activation="tanh")
        self.out = layers.Dense(3)

    def call(self, inputs: Any) -> Any:
        return self.out(self.hidden(inputs))

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        del x, sample_weight, training
        return keras.ops.mean(keras.ops.abs(y - y_pred)) + 0.1 * keras.ops.mean(keras.ops.square(y_pred))


def _many_metrics() -> keras.Model:
    return keras.Sequential(
        [layers.Input((12,)), layers.Dense(16, activation="tanh"), layers.Dense(4, activation="sigmoid")]
    )


def _one_hot(rng: np.random.Generator, rows: int) -> tuple[Arrays, Arrays]:
    x = rng.normal(size=(rows, 12)).astype("float32")
    return x, np.eye(4, dtype="float32")[rng.integers(0, 4, size=rows)]


def _many_metrics_compile() -> dict[str, Any]:
    return {
        "loss": "binary_crossentropy",
        "metrics": [
            keras.metrics.AUC(num_thresholds=50, name="auc"),
            keras.metrics.Precision(name="precision"),
            keras.metrics.Recall(name="recall", thresholds=[0.3, 0.6]),
            keras.metrics.TopKCategoricalAccuracy(k=2, name="top2"),
            keras.metrics.F1Score(name="f1"),
        ],
        "weighted_metrics": ["mse"],
    }


RECIPES = {
    "mlp": Recipe(_mlp, _classes(12), _classifier),
    "lazy": Recipe(_lazy, _classes(12), _classifier),
    "batchnorm": Recipe(_batchnorm, _classes(12), _classifier),
    "batchnorm_bias": Recipe(_batchnorm_bias, _classes(12), _classifier),
    "dropout": Recipe(_dropout, _classes(12), _classifier),
    "cnn": Recipe(_cnn, _classes(8, 8, 1), _classifier),
    "lstm": Recipe(_recurrent(layers.LSTM), _classes(6, 5), _classifier),
    "gru": Recipe(_recurrent(layers.GRU), _classes(6, 5), _classifier),
    "masked": Recipe(_masked, _tokens, lambda: {"loss": "binary_crossentropy", "metrics": ["accuracy"]}),
    "attention": Recipe(_attention, _classes(6, 24), _classifier),
    "two_heads_list": Recipe(_two_heads(list), _two_heads_data(list), _two_heads_compile(list)),
    "two_heads_dict": Recipe(_two_heads(dict), _two_heads_data(dict), _two_heads_compile(dict)),
    "add_loss": Recipe(_AddLoss, _classes(12), _classifier),
    "own_train_step": Recipe(_OwnTrainStep, _targets(6, 3), dict),
    "own_compute_loss": Recipe(_OwnComputeLoss, _targets(6, 3), _regressor),
    "many_metrics": Recipe(_many_metrics, _one_hot, _many_metrics_compile),
}


def _loss_scale(initial: float) -> Callable[[], keras.optimizers.Optimizer]:
    """Scales far from where these gradients overflow float16 (2**18 to 2**19). Near that border the answer
    depends on the order of the sums: a device's part of a sum can overflow where the whole does not."""

    def build() -> keras.optimizers.Optimizer:
        inner = keras.optimizers.SGD(LEARNING_RATE, momentum=0.9)
        return keras.optimizers.LossScaleOptimizer(inner, initial_scale=initial, dynamic_growth_steps=2)

    return build


def _schedule() -> keras.optimizers.Optimizer:
    return keras.optimizers.SGD(keras.optimizers.schedules.ExponentialDecay(LEARNING_RATE, 2, 0.7), momentum=0.9)


def _sgd(**options: Any) -> Callable[[], keras.optimizers.Optimizer]:
    """With momentum, because after one step the slot holds the gradient itself."""
    return lambda: keras.optimizers.SGD(LEARNING_RATE, momentum=0.9, **options)


def _adam(**options: Any) -> Callable[[], keras.optimizers.Optimizer]:
    return lambda: keras.optimizers.Adam(0.003, **options)


OPTIMIZERS: dict[str, Callable[[], keras.optimizers.Optimizer]] = {
    # Rate 1 for the first step: the old weight minus the new one is the gradient. Then LEARNING_RATE.
    "sgd": lambda: keras.optimizers.SGD(1.0),
    "sgd_momentum": _sgd(nesterov=True),
    "sgd_clipnorm": _sgd(clipnorm=0.05),
    "sgd_global_clipnorm": _sgd(global_clipnorm=0.1),
    "sgd_clipvalue": _sgd(clipvalue=0.2),
    "sgd_weight_decay": _sgd(weight_decay=0.01),
    "sgd_schedule": _schedule,
    "sgd_loss_scale": _loss_scale(2.0**11),  # doubles every second step
    "sgd_loss_overflow": _loss_scale(2.0**30),  # every step overflows, is left out, and halves the scale
    "adam": _adam(),
    "adam_ema": _adam(use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=3),
    "adam_accumulate": _adam(gradient_accumulation_steps=3),
    "adamw": lambda: keras.optimizers.AdamW(0.003, weight_decay=0.02),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.003),
}
