"""Each hook that `import unisono` installs, by what it is for."""

import tracemalloc
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
from keras.src.losses import loss as loss_module

import unisono
from tests.loops._replicas import local, mirrored, replica_id
from tests.parameter_servers._cluster import cluster
from tests.quick_compilation import compiles_quickly
from unisono._src.data.plans import PaddedRagged
from unisono._src.keras_hooks import get_owner, use_lowerings
from unisono._src.parameter_servers import FixedShardsPartitioner

from ._covers import covers


def _model(**compile_arguments: Any) -> Any:
    with mirrored(2).scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse", **compile_arguments)
    return model


@covers("JaxVariable.__init__", "JaxVariable._direct_assign", "JaxVariable.values")
def test_a_variable_belongs_to_the_strategy_of_its_scope() -> None:
    with mirrored(2).scope():
        variable = keras.Variable([1.0, 2.0])
    assert get_owner(variable) is mirrored(2)
    assert len(variable.value.devices()) == 2
    assert [value.tolist() for value in variable.values] == [[1.0, 2.0]] * 2


def test_synchronization_is_found_by_position_too() -> None:
    with mirrored(2).scope():
        variable = keras.Variable("zeros", (), "float32", True, True, "sum", "on_read")
    mirrored(2).run(lambda: variable.assign(1.0))
    assert float(variable.value) == 2.0


@pytest.mark.slow
@covers("Embedding.compute_mask", "Model.compute_mask")
def test_lengths_of_rows_mask_the_layers_of_a_model_and_not_its_outputs() -> None:
    rows = PaddedRagged.make(np.array([[1, 2], [3, 1]]), np.array([2, 1]))
    embedding = keras.layers.Embedding(4, 2)
    outputs = keras.Sequential([embedding, keras.layers.GlobalAveragePooling1D()])(rows)
    table = np.asarray(embedding.embeddings)
    np.testing.assert_allclose(outputs, [table[1:3].mean(0), table[3]], rtol=1e-6)
    assert keras.src.backend.get_keras_mask(outputs) is None


@covers("JaxVariable.__array__")
def test_files_and_lists_of_sharded_weights_have_one_whole_value_in_memory_at_a_time(tmp_path: Path) -> None:
    with unisono.FullyShardedStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential([keras.Input((256,)), *[keras.layers.Dense(256) for _ in range(6)]])
    each = 256 * 256 * 4

    def peak_of(act: Any) -> int:
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        act()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak - before

    model.save_weights(tmp_path / "first.weights.h5")  # with what Keras imports and caches
    assert peak_of(lambda: model.save_weights(tmp_path / "again.weights.h5")) < 4 * each
    assert peak_of(lambda: [float(weight.numpy().sum()) for weight in model.weights]) < 3 * each
    # Without the hook each array would keep its whole value on the host.
    assert peak_of(model.get_weights) < 8 * each


@covers("JaxVariable.value")
def test_a_tape_sees_the_read_of_a_variable() -> None:
    variable = keras.Variable(2.0)
    with unisono.GradientTape() as tape:
        result = variable.value * 3.0
    assert float(tape.gradient(result, variable)) == 3.0


@covers("JaxVariable.assign_add", "JaxVariable.assign_sub")
def test_replicas_that_add_to_a_variable_agree_on_the_sum() -> None:
    with mirrored(2).scope():
        variable = keras.Variable(10.0, aggregation="sum")
    mirrored(2).run(lambda: variable.assign_add(1.0))
    assert float(variable.value) == 12.0
    mirrored(2).run(lambda: variable.assign_sub(replica_id() + 1.0))
    assert float(variable.value) == 9.0


@covers("core.remat", "Operation.rematerialized_call", "Layer.add_loss")
def test_a_layer_that_is_computed_again_keeps_its_state_its_losses_and_its_policy() -> None:
    class Block(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.count = self.add_weight(initializer="zeros", trainable=False)

        def call(self, x: Any, training: bool = False) -> Any:
            self.count.assign_add(1.0 if training else 0.0)
            self.add_loss(jnp.sum(x))
            return x @ x

    def step(layer: Any, x: Any) -> Any:
        with keras.StatelessScope([(layer.count, layer.count.value)], collect_losses=True) as scope:
            result = layer(x, training=True)
            return jnp.sum(result) + sum(layer.losses), scope.get_current_value(layer.count)

    policies = []
    for scope in (keras.RematScope("full"), unisono.remat(policy="dots")):
        with scope:
            layer = Block()
        (loss, count), _ = jax.value_and_grad(lambda x: step(layer, x), has_aux=True)(jnp.ones((2, 2)))  # noqa: B023
        assert (float(loss), float(count)) == (12.0, 1.0)
        text = str(jax.make_jaxpr(lambda x: step(layer, x))(jnp.ones((2, 2))))  # noqa: B023
        policies.append("policy=None" not in text)
    assert policies == [False, True]


@covers("Layer.rematerialized_call")
def test_the_bytes_that_a_layer_keeps_are_counted_with_and_without_computing_them_again() -> None:
    with (strategy := mirrored(2)).scope():
        inputs = keras.Input((8,))
        block = unisono.remat()(keras.Sequential([keras.layers.Dense(32, "relu"), keras.layers.Dense(8)]))
        model = keras.Model(inputs, block(inputs))
    [row] = strategy.explain(model, print_fn=lambda text: None).rematerialized
    assert (row.kept, row.kept_without) == (8 * 4, 8 * 4 + 32 * 4 + 32)


@covers("SeedGenerator.next")
def test_replicas_draw_numbers_of_their_own() -> None:
    with mirrored(2).scope():
        generator = keras.random.SeedGenerator(1)
    one, other = local(mirrored(2), mirrored(2).run(lambda: keras.random.uniform((), seed=generator)))
    assert one != other


@covers("seed_generator.global_seed_generator")
def test_a_compiled_function_draws_without_a_seed() -> None:
    draw = unisono.function(lambda: keras.random.uniform(()))
    assert float(draw()) != float(draw())


@covers("BaseOptimizer.apply", "LossScaleOptimizer.apply", "BaseOptimizer.apply_gradients")
def test_an_optimizer_applies_the_sum_of_all_gradients() -> None:
    with mirrored(2).scope():
        optimizer = keras.optimizers.SGD(1.0)
        scaled = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(1.0), initial_scale=4.0)
        variable, other = keras.Variable(0.0), keras.Variable(0.0)
    mirrored(2).run(lambda: optimizer.apply([replica_id() + 1.0], [variable]))
    assert float(variable.value) == -3.0
    mirrored(2).run(lambda: optimizer.apply_gradients([(jnp.ones(()), variable)], skip_gradients_aggregation=True))
    assert float(variable.value) == -4.0
    mirrored(2).run(lambda: scaled.apply([4.0 * (replica_id() + 1.0)], [other]))
    assert float(other.value) == -3.0


@covers("loss.scale_loss_for_distribution", "loss.unscale_loss_for_distribution")
def test_a_loss_that_averages_is_divided_by_the_number_of_replicas() -> None:
    def step() -> Any:
        loss = keras.losses.MeanSquaredError()(jnp.zeros((2, 1)), jnp.full((2, 1), 2.0))
        return loss, loss_module.unscale_loss_for_distribution(loss)

    scaled, unscaled = mirrored(2).run(step)
    assert local(mirrored(2), scaled) == [2.0, 2.0]
    assert local(mirrored(2), unscaled) == [4.0, 4.0]


@covers("BatchNormalization.__init__", "nn.moments")
def test_batch_normalization_is_synchronized() -> None:
    with mirrored(2).scope():
        layer = keras.layers.BatchNormalization(synchronized=True, epsilon=0.0)
        layer.build((None, 1))
    results = mirrored(2).run(lambda: layer(jnp.full((3, 1), replica_id()), training=True))
    np.testing.assert_allclose(local(mirrored(2), results), [[[-1.0]] * 3, [[1.0]] * 3], rtol=1e-5)


@covers("core.cond")
def test_a_branch_assigns_variables() -> None:
    variable = keras.Variable(0.0)

    @unisono.function
    def choose(positive: Any) -> None:
        keras.ops.cond(positive, lambda: variable.assign(1.0), lambda: variable.assign(-1.0))

    choose(jnp.array(False))
    assert float(variable.value) == -1.0


@covers("nn.max_pool")
def test_programs_for_cpu_devices_pool_in_another_way() -> None:
    x = jnp.ones((1, 4, 4, 1))

    def pool(x: Any) -> Any:
        return keras.ops.sum(keras.ops.max_pool(x, 2, 2))

    with use_lowerings("cpu"):
        assert "select_and_scatter" not in str(jax.make_jaxpr(jax.grad(pool))(x))
    assert "select_and_scatter" in str(jax.make_jaxpr(jax.grad(pool))(x))


class _Length(keras.layers.Layer):
    """A layer that takes text."""

    runs_on_host = True

    def call(self, text: Any) -> Any:
        return keras.ops.convert_to_tensor(np.vectorize(len)(np.asarray(text)).astype("float32"))

    def compute_output_spec(self, text: Any) -> Any:
        return keras.KerasTensor(text.shape, "float32")


@covers("Layer.__call__", "Functional._standardize_inputs", "Functional._convert_inputs_to_tensors")
def test_layers_and_models_accept_text() -> None:
    text = np.array([["ab"], ["abc"]], object)
    assert _Length()(text).tolist() == [[2.0], [3.0]]
    inputs = keras.Input((1,), dtype="string")
    model = keras.Model([inputs], _Length()(inputs))
    assert np.asarray(model(text)).tolist() == [[2.0], [3.0]]


@pytest.mark.slow
@covers("JAXTrainer.train_step", "JAXTrainer.test_step", "JAXTrainer.predict_step")
def test_a_custom_step_calls_that_of_keras_with_the_data_only() -> None:
    class Model(keras.Sequential):
        def train_step(self, data: Any) -> Any:
            return super().train_step(data)

        def test_step(self, data: Any) -> Any:
            return super().test_step(data)

        def predict_step(self, data: Any) -> Any:
            return super().predict_step(data) + 1.0

    with mirrored(2).scope():
        model = Model([keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="zeros")])
        model.compile(keras.optimizers.SGD(0.0), "mse")
    x = np.ones((4, 2), "float32")
    assert model.fit(x, x[:, :1], verbose=0).history["loss"] == [1.0]
    assert model.evaluate(x, x[:, :1], verbose=0) == 1.0
    assert model.predict(x, verbose=0).tolist() == [[1.0]] * 4


@pytest.mark.slow
@covers(
    "JAXTrainer.__init__",
    "JAXTrainer.fit",
    "JAXTrainer.evaluate",
    "JAXTrainer.predict",
    "JAXTrainer.train_on_batch",
    "JAXTrainer.test_on_batch",
    "JAXTrainer.predict_on_batch",
)
def test_models_of_a_strategy_run_our_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    from keras.src.backend.jax.trainer import JAXEpochIterator

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("this is Keras's own loop")

    model = _model()
    assert get_owner(model) is mirrored(2)
    monkeypatch.setattr(JAXEpochIterator, "__init__", refuse)
    x = np.ones((4, 2), "float32")
    assert model.evaluate(x, x[:, :1], verbose=0) == model.train_on_batch(x, x[:, :1]) == 1.0
    model.fit(x, x[:, :1], verbose=0)
    assert model.predict(x, verbose=0).shape == np.asarray(model.predict_on_batch(x)).shape == (4, 1)
    assert np.isfinite(model.test_on_batch(x, x[:, :1]))


@covers("Trainer.compile")
def test_a_model_of_no_scope_is_not_compiled_in_one() -> None:
    model = keras.Sequential([keras.layers.Dense(1)])
    with mirrored(2).scope(), pytest.raises(ValueError, match="was created outside the scope"):
        model.compile("sgd", "mse")


@covers("Model.save", "Model.save_weights", "Model.load_weights")
def test_files_are_written_completely_and_weights_as_folders(tmp_path: Path) -> None:
    model = _model()
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "model.keras"]
    before = model.get_weights()
    model.set_weights([weight * 0 for weight in before])
    model.load_weights(tmp_path / "folder")
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_a_handler_of_layer_calls_is_installed_once() -> None:
    from unisono._src.keras_hooks._layer_calls import CallHandler, handle_layer_calls

    with pytest.raises(ValueError, match="'text' is installed already"):
        handle_layer_calls(CallHandler(name="text"))


@pytest.mark.slow
@covers("Layer.save_own_variables", "Layer.load_own_variables", "Layer._check_load_own_variables")
def test_files_do_not_depend_on_how_weights_are_split(tmp_path: Path) -> None:
    def make() -> Any:
        return keras.Sequential([keras.Input((2, 4)), keras.layers.SimpleRNN(3), keras.layers.Dense(2)])

    plain = make()
    plain.save_weights(tmp_path / "plain.weights.h5")
    with cluster(1, 1, FixedShardsPartitioner(2)) as servers:
        with servers.strategy.scope():
            split = make()
        assert len(split.weights) == 2 * len(plain.weights)
        split.load_weights(tmp_path / "plain.weights.h5")
        x = np.ones((1, 2, 4), "float32")
        np.testing.assert_array_equal(split(x), plain(x))
        split.layers[0].cell.kernel.assign(np.ones((4, 3)))
        split.save_weights(tmp_path / "split.weights.h5")
        plain.load_weights(tmp_path / "split.weights.h5")
        np.testing.assert_array_equal(split(x), plain(x))


@covers("BaseOptimizer.add_variable_from_reference", "Layer.add_weight")
def test_parameter_servers_hold_the_parts_of_a_weight_with_their_slots() -> None:
    with cluster(1, 2, FixedShardsPartitioner(2)) as servers:
        with servers.strategy.scope():
            layer = keras.layers.Dense(3)
            layer.build((5, 4))
            optimizer = keras.optimizers.Adam()
            optimizer.build(layer.trainable_variables)
        kernel, parts = layer.kernel, layer.weights[:2]
        assert [part.shape for part in parts] == [(2, 3), (2, 3)]
        assert parts[0].device != parts[1].device
        np.testing.assert_array_equal(kernel, np.concatenate([part.numpy() for part in parts]))
        for part, *slots in zip(layer.weights, optimizer._momentums, optimizer._velocities, strict=True):
            assert {slot.device for slot in slots} == {part.device}
        kernel.assign(np.ones((4, 3)))
        assert parts[1].numpy().tolist() == np.ones((2, 3)).tolist()
        assert (kernel * 2).shape == kernel.shape == (4, 3)


@covers("BaseOptimizer.add_variable", "SeedGenerator.next")
def test_the_variables_of_an_optimizer_are_stored_like_their_weights() -> None:
    strategy = unisono.ModelParallelStrategy({"batch": 1, "model": 2}, {"kernel": (None, "model")}, ["cpu:0", "cpu:1"])
    with strategy.scope():
        layer = keras.layers.Dense(4)
        layer.build((2, 6))
        optimizers = [keras.optimizers.Adam(), keras.optimizers.Adafactor()]
        for optimizer in optimizers:
            optimizer.build(layer.trainable_variables)
    assert layer.kernel._value.sharding.shard_shape((6, 4)) == (6, 2)
    assert optimizers[0]._momentums[0]._value.sharding.shard_shape((6, 4)) == (6, 2)
    assert optimizers[1]._r[0]._value.is_fully_replicated  # by `add_variable` alone: it belongs to no weight


@pytest.mark.slow
@covers("JaxVariable._initialize_with_initializer")
@pytest.mark.parametrize("seed", [7, None])
def test_a_sharded_variable_is_initialised_in_its_shards_with_the_draws_of_one_device(seed: int | None) -> None:
    strategy = unisono.FullyShardedStrategy(["cpu:0", "cpu:1"], min_shard_size=0)
    initializers: list[Any] = [
        keras.initializers.GlorotUniform(seed),
        keras.initializers.TruncatedNormal(stddev=0.3, seed=seed),
        keras.initializers.VarianceScaling(2.0, "fan_out", "untruncated_normal", seed=seed),
        keras.initializers.Orthogonal(seed=seed),
        keras.initializers.Ones(),
        keras.initializers.RandomNormal(seed=keras.random.SeedGenerator(5)),
        lambda shape, dtype: keras.ops.arange(24.0).reshape(shape),
    ]
    for initializer in initializers:
        generator = getattr(initializer, "seed", None)
        if isinstance(generator, keras.random.SeedGenerator):
            start = np.asarray(generator.state.value)
        with strategy.scope():
            variable = keras.Variable(initializer, shape=(6, 4), dtype="float32")
        assert [shard.data.shape for shard in variable._value.addressable_shards] == [(3, 4), (3, 4)]
        if isinstance(generator, keras.random.SeedGenerator):
            assert generator.state.value.tolist() != start.tolist()  # it advances, as on one device
            generator.state.assign(start)
        expected = initializer((6, 4), dtype="float32")
        if isinstance(initializer, keras.initializers.Orthogonal) or compiles_quickly():
            np.testing.assert_allclose(variable, expected, atol=1e-6)
        else:
            np.testing.assert_array_equal(variable, expected)
