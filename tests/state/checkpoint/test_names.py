"""Names of variables: the same in every process that makes the same objects, whatever else it has made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

from unisono._src.keras_hooks import trained_variables
from unisono._src.state.checkpoint import named_variables
from unisono._src.state.checkpoint._names import canonical_names


@pytest.fixture(scope="module")
def trained() -> keras.Model:
    layers = [keras.layers.Dense(3), keras.layers.Dropout(0.1), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(keras.optimizers.Adam(), "mse", metrics=["mae"])
    model.train_on_batch(np.ones((2, 4)), np.ones((2, 1)))
    return model


def test_a_models_own_name_is_dropped_and_layers_are_numbered_from_the_first() -> None:
    keras.layers.Dense(1)  # Keras counts on from here
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(3), keras.layers.Dense(2, name="head")]
    )
    assert list(named_variables({"model": model})) == [
        "model/dense/kernel",
        "model/dense/bias",
        "model/dense_1/kernel",
        "model/dense_1/bias",
        "model/head/kernel",
        "model/head/bias",
    ]


def test_nested_models_keep_their_path() -> None:
    inner = keras.Sequential([keras.layers.Dense(2), keras.layers.Dense(2)])
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), inner])
    assert [name for name in named_variables({"net": model}) if name.endswith("kernel")] == [
        "net/dense/kernel",
        "net/sequential/dense_1/kernel",
        "net/sequential/dense_2/kernel",
    ]


def test_seeds_and_metrics_are_there(trained: keras.Model) -> None:
    model = trained
    names = named_variables({"model": model})
    assert names["model/seed_generator/seed_generator_state"] is model.layers[1].seed_generator.state
    assert {name for name in names if "/metrics/" in name} == {
        "model/metrics/loss/total",
        "model/metrics/loss/count",
        "model/metrics/mean_absolute_error/total",
        "model/metrics/mean_absolute_error/count",
    }


def test_every_variable_is_there_exactly_once(trained: keras.Model) -> None:
    model = trained
    named = named_variables({"model": model, "optimizer": model.optimizer, "head": model.layers[-1]})
    expected = [*model.variables, *model.metrics_variables, *model.optimizer.variables]
    assert sorted(map(id, named.values())) == sorted(map(id, expected))


def test_the_optimizer_of_a_compiled_model_belongs_to_it_unless_it_has_its_own_name(trained: keras.Model) -> None:
    model = trained
    assert "model/optimizer/iteration" in named_variables({"model": model})
    both = named_variables({"model": model, "optimizer": model.optimizer})
    assert "optimizer/iteration" in both
    assert not any(name.startswith("model/optimizer") for name in both)


def test_optimizers_that_are_attributes_of_a_model_belong_to_it() -> None:
    class Pair(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.one = keras.layers.Dense(1)
            self.one.build((None, 2))
            self.slow_optimizer = keras.optimizers.SGD(momentum=0.9)
            self.slow_optimizer.build(self.one.trainable_variables)

    assert "model/slow_optimizer/dense/kernel/momentum" in named_variables({"model": Pair()})


def test_what_an_optimizer_keeps_is_called_after_the_variable(trained: keras.Model) -> None:
    model = trained
    names = named_variables({"model": model, "optimizer": model.optimizer})
    assert names["optimizer/dense/kernel/momentum"].shape == (4, 3)
    assert names["optimizer/dense_1/bias/velocity"].shape == (1,)


def test_an_optimizer_alone_has_the_same_names(trained: keras.Model) -> None:
    model = trained
    alone = named_variables({"optimizer": model.optimizer})
    beside = named_variables({"model": model, "optimizer": model.optimizer})
    assert set(alone) == {name for name in beside if name.startswith("optimizer/")}
    assert all(alone[name] is beside[name] for name in alone)


def test_an_optimizer_of_two_models_tells_them_apart() -> None:
    one, other = _dense(2), _dense(2)
    optimizer = keras.optimizers.SGD(momentum=0.9)
    optimizer.build([*other.trainable_variables, *one.trainable_variables])
    names = named_variables({"one": one, "other": other, "optimizer": optimizer})
    assert names["optimizer/one/dense/kernel/momentum"] is optimizer.momentums[2]
    assert names["optimizer/other/dense/kernel/momentum"] is optimizer.momentums[0]


def test_a_loss_scale_optimizer_has_its_own_and_the_inner_ones() -> None:
    model = _dense(2)
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(momentum=0.9, use_ema=True))
    optimizer.build(model.trainable_variables)
    names = set(named_variables({"model": model, "optimizer": optimizer}))
    assert {
        "optimizer/dynamic_scale",
        "optimizer/step_counter",
        "optimizer/iteration",
        "optimizer/inner_optimizer/iteration",
        "optimizer/inner_optimizer/dense/kernel/momentum",
        "optimizer/inner_optimizer/dense/kernel/average",
    } <= names


def test_variables_of_one_name_get_different_names_and_so_do_their_slots() -> None:
    class Twins(keras.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.one = self.add_weight(name="w", shape=(1,))
            self.other = self.add_weight(name="w", shape=(2,))

    layer = Twins()
    optimizer = keras.optimizers.SGD(momentum=0.9)
    optimizer.build(layer.trainable_variables)
    names = named_variables({"layer": layer, "optimizer": optimizer})
    assert names["layer/w"] is layer.one
    assert names["layer/w~1"] is layer.other
    assert names["optimizer/w~1/momentum"].shape == (2,)


def test_a_name_that_begins_another_is_not_taken_for_it() -> None:
    one, other = keras.Variable(np.ones(1), name="w"), keras.Variable(np.ones(2), name="w_momentum")
    optimizer = keras.optimizers.SGD(momentum=0.9)
    optimizer.build([one, other])
    names = named_variables({"w": one, "x": other, "optimizer": optimizer})
    assert names["optimizer/w/momentum"].shape == (1,)
    assert names["optimizer/x/momentum"].shape == (2,)


@pytest.mark.parametrize(
    ("thing", "names"),
    [
        (lambda: keras.Variable(1.0), ["it"]),
        (lambda: keras.random.SeedGenerator(1), ["it/state"]),
        (lambda: keras.metrics.Mean(), ["it/total", "it/count"]),
        (lambda: keras.metrics.MeanIoU(2), ["it/total_confusion_matrix"]),
        (lambda: keras.optimizers.SGD(), ["it/iteration", "it/learning_rate"]),
        (lambda: {"a": [keras.Variable(1.0), keras.Variable(2.0)]}, ["it/a/0", "it/a/1"]),
        (lambda: 3, []),
    ],
)
def test_the_names_of(thing: Callable[[], Any], names: list[str]) -> None:
    assert list(named_variables({"it": thing()})) == names


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Adam", "Adafactor", "Ftrl", "Muon", "SGD"])
def test_names_do_not_depend_on_what_was_made_before(kind: str) -> None:
    def made() -> list[tuple[str, Any]]:
        inputs = keras.Input((5, 4))
        x = keras.layers.Bidirectional(keras.layers.GRU(2, return_sequences=True, dropout=0.1))(inputs)
        x = keras.layers.MultiHeadAttention(2, 3, dropout=0.1)(x, x)
        x = keras.layers.BatchNormalization()(keras.layers.Dense(3)(x))
        model = keras.Model(inputs, keras.layers.Dense(3)(x))
        optimizer = getattr(keras.optimizers, kind)(1e-3, gradient_accumulation_steps=2)
        optimizer.build(model.trainable_variables)
        named = named_variables({"model": model, "optimizer": optimizer, "loss": keras.metrics.Mean()})
        return [(name, tuple(variable.shape)) for name, variable in named.items()]

    first = made()
    keras.layers.Dense(1), keras.Sequential(), keras.layers.Dropout(0.5), keras.layers.GRU(2)
    assert made() == first
    assert len(first) > 30


def test_numbers_within_numbers_do_not_collide() -> None:
    names = canonical_names(["a_1_2/x", "a/x", "a_1/x", "_7/x", "7/x"], None)
    assert names == ["a/x", "a_1/x", "a_2/x", "_7/x", "7/x"]


def test_keras_still_says_what_an_optimizer_trains() -> None:
    model = _dense(2)
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    assert [id(each) for each in trained_variables(optimizer)] == [id(each) for each in model.trainable_variables]


def _dense(units: int) -> keras.Model:
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(units)])
