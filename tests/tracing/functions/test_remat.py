"""Layers that are computed again for the gradient train as without: `keras.RematScope` and `unisono.remat`."""

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf
from tests.loops._replicas import mirrored
from unisono._src.keras_hooks import rematerialized_layers
from unisono._src.strategy import Strategy
from unisono._src.training import programs

_RANDOM = np.random.default_rng(0)
X = _RANDOM.normal(size=(16, 16)).astype("float32")
Y = _RANDOM.normal(size=(16, 1)).astype("float32")


class _Block(keras.layers.Layer):
    """Everything that a trace by itself loses: seeds, moving averages, losses, and arguments that are no arrays."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.first, self.second = keras.layers.Dense(8, "gelu", name="first"), keras.layers.Dense(16, name="second")
        self.normalize = keras.layers.BatchNormalization(momentum=0.5)
        self.drop = keras.layers.Dropout(0.5, seed=3)

    def call(self, x: Any, training: bool | None = None, *, power: int = 2) -> Any:
        rows = keras.ops.reshape(self.normalize(self.first(x), training=training), (-1, 2, 4))
        weights = keras.ops.softmax(keras.ops.einsum("bij,bkj->bik", rows, rows))
        x = keras.ops.reshape(keras.ops.einsum("bij,bjk->bik", weights, rows), (-1, 8))
        self.add_loss(1e-2 * keras.ops.mean(x**power))
        return self.drop(self.second(x), training=training) if training else self.second(x)


class _Subclassed(keras.Model):
    """A model whose `call` has the `with` block."""

    def __init__(self, around: Callable[[], Any]) -> None:
        super().__init__()
        self.block, self.last, self.around = _Block(name="block"), keras.layers.Dense(1), around

    def call(self, x: Any, training: bool | None = None) -> Any:
        with self.around():
            x = self.block(x, training=training)
        return self.last(x)


def _made_in(scope: Any) -> keras.Model:
    with scope:
        inputs = keras.Input((16,))
        x = _Block(name="block")(inputs)
        return keras.Model(inputs, keras.layers.Dense(1, kernel_regularizer="l2", name="last")(x))


def _called_in(scope: Any) -> keras.Model:
    inputs, block = keras.Input((16,)), _Block(name="block")
    with scope:
        x = block(inputs)
    return keras.Model(inputs, keras.layers.Dense(1, kernel_regularizer="l2", name="last")(x))


def _given_to(remat: Callable[[Any], Any]) -> keras.Model:
    inputs = keras.Input((16,))
    x = remat(_Block(name="block"))(inputs)
    return keras.Model(inputs, keras.layers.Dense(1, kernel_regularizer="l2", name="last")(x))


def _train(strategy: Strategy, make: Callable[[], keras.Model]) -> tuple[keras.Model, list[Any]]:
    """The model after four steps; its losses, its weights, and the states of its random generators."""
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = make()
        model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, Y, batch_size=8, epochs=2, verbose=0).history
    return model, [*history.values(), *map(np.asarray, model.variables)]


_expected: dict[Any, list[Any]] = {}


def _check_training(
    strategy: Strategy, make: Callable[[], keras.Model], plain: Callable[[], keras.Model]
) -> keras.Model:
    """Trains, compares with the training of ``plain``, and returns the model."""
    key = strategy.num_replicas_in_sync, plain.__name__
    if key not in _expected:
        _expected[key] = _train(strategy, plain)[1]
    model, found = _train(strategy, make)
    for one, other in zip(found, _expected[key], strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-7)
    return model


def _plain() -> keras.Model:
    return _made_in(contextlib.nullcontext())


def _plain_subclassed() -> keras.Model:
    return _Subclassed(contextlib.nullcontext)


def _sharded(number: int) -> Strategy:
    return unisono.FullyShardedStrategy([f"cpu:{index}" for index in range(number)], min_shard_size=8)


def _listed(model: keras.Model) -> list[tuple[str, str]]:
    return [(layer.path, policy) for layer, policy in rematerialized_layers(model)]


def _num_products(model: keras.Model) -> int:
    """Matrix products of a step as XLA compiled it: more than without, if some are computed again."""
    (program,) = programs(model)
    return program.text.count(" dot(")


@pytest.fixture(scope="module")
def plain_products() -> int:
    model, _expected[1, "_plain"] = _train(mirrored(1), _plain)
    return _num_products(model)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "listed", "recomputes"),
    [
        ({"mode": "full"}, "block", True),
        ({"mode": "larger_than", "output_size_threshold": 64}, "block", True),
        ({"mode": "list_of_layers", "layer_names": ["first"]}, "block/first", True),
        ({"mode": "activations"}, "block/first", False),
        ({"mode": None}, None, False),
    ],
    ids=lambda value: value["mode"] if isinstance(value, dict) else None,
)
def test_keras_scopes_train_as_without(arguments: Any, listed: Any, recomputes: bool, plain_products: int) -> None:
    model = _check_training(mirrored(1), lambda: _made_in(keras.RematScope(**arguments)), _plain)
    paths = [path for path, _ in _listed(model)]
    assert listed in paths if listed else not paths
    assert (_num_products(model) > plain_products) is recomputes


@pytest.mark.slow
def test_a_keras_scope_trains_replicas_as_without() -> None:
    _check_training(mirrored(2), lambda: _made_in(keras.RematScope("full")), _plain)


@pytest.mark.parametrize("strategy", [mirrored, _sharded])
@pytest.mark.full
def test_a_layer_that_is_made_in_remat_trains_as_without(strategy: Any, plain_products: int) -> None:
    model = _check_training(strategy(2), lambda: _made_in(unisono.remat()), _plain)
    assert _listed(model) == [("block", "nothing"), ("last", "nothing")]
    assert _num_products(model) > plain_products


@pytest.mark.full
def test_a_layer_that_is_called_in_remat_trains_as_without(plain_products: int) -> None:
    model = _check_training(mirrored(2), lambda: _called_in(unisono.remat(policy="dots_no_batch")), _plain)
    assert _listed(model) == [("block", "dots_no_batch")]
    assert _num_products(model) > plain_products  # those of the attention


@pytest.mark.full
def test_a_layer_that_is_given_to_remat_trains_as_without(plain_products: int) -> None:
    model = _check_training(mirrored(1), lambda: _given_to(unisono.remat(policy="dots")), _plain)
    assert _listed(model) == [("block", "dots")]
    assert _num_products(model) == plain_products  # nothing but cheap operations is computed again


@pytest.mark.slow
def test_remat_in_the_call_of_a_model_trains_as_without() -> None:
    model = _check_training(mirrored(2), lambda: _Subclassed(unisono.remat), _plain_subclassed)
    assert [policy for _, policy in _listed(model)] == ["nothing"]


@pytest.mark.slow
def test_a_block_keeps_only_its_inputs() -> None:
    def temporary_bytes(block: Callable[[Any], Any]) -> int:
        with mirrored(1).scope():
            blocks = [
                block(keras.Sequential([keras.layers.Dense(512, "relu"), keras.layers.Dense(64)])) for _ in range(4)
            ]
            model = keras.Sequential([keras.Input((64,)), *blocks, keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(np.zeros((512, 64), "float32"), np.zeros((512, 1), "float32"), batch_size=512, verbose=0)
        (program,) = programs(model)
        return int(program._call.memory_analysis().temp_size_in_bytes)  # type: ignore[attr-defined]

    assert temporary_bytes(unisono.remat) < 0.6 * temporary_bytes(lambda block: block)


def test_a_function_that_assigns_is_computed_once_for_the_state_and_again_for_the_gradient() -> None:
    weight, count = keras.Variable(2.0), keras.Variable(0.0, trainable=False)

    @unisono.remat(policy="nothing")
    def square(x: Any) -> Any:
        count.assign_add(1.0)
        return {"result": (weight * x) ** 2, "name": "square"}

    def gradient(x: Any) -> Any:
        with unisono.GradientTape() as tape:
            result = square(x)
        assert result["name"] == "square"
        return tape.gradient(result["result"], weight)

    assert float(gradient(jnp.asarray(3.0))) == 36.0
    assert float(count) == 1.0
    assert float(unisono.function(gradient)(jnp.asarray(3.0))) == 36.0
    assert float(count) == 2.0
    assert float(square(jnp.asarray(3.0))["result"]) == 36.0  # nothing records: it just runs
    assert float(count) == 3.0


@pytest.mark.full
def test_replicas_compute_a_block_again_in_custom_loops() -> None:
    def train(block: Callable[[Any], Any]) -> list[Any]:
        keras.utils.set_random_seed(1)
        with mirrored(2).scope():
            model = keras.Sequential([keras.Input((16,)), block(_Block(name="block")), keras.layers.Dense(1)])
            optimizer = keras.optimizers.SGD(1e-3)

        def step(x: Any, y: Any) -> None:
            with unisono.GradientTape() as tape:
                loss = keras.ops.sum((model(x, training=True) - y) ** 2) + sum(model.losses)
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))

        run = unisono.function(lambda x, y: mirrored(2).run(step, args=(x, y)))
        for _ in range(2):
            run(X[:8], Y[:8])
        return [np.asarray(variable) for variable in model.variables]

    for one, other in zip(train(unisono.remat), train(lambda block: block), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-7)


@pytest.mark.slow
def test_a_mask_leaves_a_block() -> None:
    embed = keras.Sequential([keras.layers.Embedding(4, 3, mask_zero=True), keras.layers.Dense(3)])
    tokens = np.array([[1, 2, 0]])
    mean = keras.layers.GlobalAveragePooling1D()
    expected = mean(embed(tokens))
    unisono.remat(embed)
    np.testing.assert_allclose(jax.jit(lambda x: mean(embed(x)))(tokens), expected, rtol=1e-6)


def test_named_values_and_functions_of_jax_are_policies() -> None:
    def saved(policy: Any) -> int:
        block = unisono.remat(
            lambda x: jnp.sin(jax.ad_checkpoint.checkpoint_name(jnp.sin(jnp.sin(x)), "inner")), policy=policy
        )
        text = str(jax.make_jaxpr(jax.grad(lambda x: block(x)))(1.0))
        return text.count("= sin") + text.count("= cos")

    counts = [saved(policy) for policy in ("nothing", ["inner"], jax.checkpoint_policies.everything_saveable)]
    assert counts[0] > counts[1] > counts[2]


def test_tensorflows_recompute_grad_keeps_what_layers_assign() -> None:
    layer = keras.layers.BatchNormalization(momentum=0.5)
    layer.build((None, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.recompute_grad(lambda x: layer(x, training=True))(tf.constant([[2.0, 4.0]])))
    assert tape.gradient(loss, layer.beta).numpy().tolist() == [1.0, 1.0]
    assert np.asarray(layer.moving_mean).tolist() == [1.0, 2.0]


def test_what_cannot_be_a_block_or_a_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="'dots_no_batch', a list of names"):
        unisono.remat(policy="dot")
    with pytest.raises(TypeError, match=r"class Dense.*\n?.*decorate"):
        unisono.remat(keras.layers.Dense)
    with pytest.raises(TypeError, match="not a layer or a function"):
        unisono.remat(3)
    with pytest.raises(TypeError, match="symbolic input"):
        unisono.remat(lambda x: x * 2)(keras.Input((2,)))
