"""Each hook that `import unisono.tf` installs, by what it is for."""

import operator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
from keras.src.models import functional
from keras.src.utils import module_utils

import unisono.tf as tf
from tests.loops._replicas import mirrored

from ._covers import covers

# Keras 3.16 does what the hook is for.
OPERATION_FN = ["functional.operation_fn"] if hasattr(functional, "operation_fn") else []


@covers("core.canonicalize_shape", "ArrayImpl.get_shape", "ArrayImpl.set_shape", "Tracer.get_shape", "Tracer.set_shape")
def test_shapes_of_arrays_and_tracers_are_tensor_shapes() -> None:
    def check(x: Any) -> Any:
        assert x.shape.as_list() == [2, 3] == x.get_shape().as_list()
        x.set_shape((None, 3))
        with pytest.raises(ValueError, match="it is \\(2, 3\\)"):
            x.set_shape((3, 3))
        return x[1:]

    assert check(jnp.ones((2, 3))).shape.as_list() == [1, 3]
    assert jax.jit(check)(np.ones((2, 3))).shape.rank == 2


DTYPE_ATTRIBUTES = [
    *("as_numpy_dtype", "base_dtype", "is_bool", "is_compatible_with", "is_complex", "is_floating", "is_integer"),
    *("is_numeric", "is_numpy_compatible", "is_unsigned", "limits", "max", "min", "real_dtype", "size"),
]


@covers(*(f"dtype.{name}" for name in DTYPE_ATTRIBUTES), "Variable.dtype", "KerasTensor.dtype")
def test_dtypes_of_tensors_have_the_attributes_of_tensorflows() -> None:
    def check(x: Any) -> Any:
        for name in DTYPE_ATTRIBUTES:
            found, expected = getattr(x.dtype, name), getattr(tf.float32, name)
            assert callable(found) if name == "is_compatible_with" else found == expected
        return x

    check(jax.jit(check)(check(jnp.ones(2))))
    check(np.ones(2, np.float32))
    check(keras.Variable(1.0))
    check(keras.Input((2,)))


@covers("ArrayImpl.ref", "Tracer.ref", "ArrayImpl.numpy", "Tracer.numpy", "ArrayImpl.__float__", "ArrayImpl.__int__")
def test_arrays_have_the_methods_of_tensors() -> None:
    x = jnp.ones((1,))
    assert x.ref() == x.ref()
    assert {x.ref(): 1}[x.ref()] == 1
    x.numpy()[0] = 5.0
    assert (float(x), int(x)) == (1.0, 1)
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.jit(lambda x: (x.ref().deref(), x.numpy()))(x)


LIST_OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"]
COMPARISONS = ["lt", "le", "gt", "ge", "ne"]


def names_of_operators(kind: str, *more: str) -> list[str]:
    names = [*LIST_OPERATORS, *(f"r{name}" for name in LIST_OPERATORS), *COMPARISONS, *more]
    return [f"{kind}.__{name}__" for name in names]


def apply_all_operators(x: Any, other: Any) -> list[Any]:
    """The results of all operators for a vector of two numbers and ``other``, on both sides."""
    bits = x > 0
    flags = [True, False] if isinstance(other, list) else np.array([True, False])
    results = [x + other, other + x, x - other, other - x, x * other, other * x, x / other, other / x]
    results += [x // other, other // x, x % other, other % x, x**other, other**x, x @ other, other @ x]
    results += [x < other, x <= other, x > other, x >= other, x != other]
    return [*results, bits & flags, flags & bits, bits | flags, flags | bits, bits ^ flags, flags ^ bits]


@pytest.mark.slow
@covers("ArrayImpl.__getitem__", "Tracer.__getitem__")
def test_a_tuple_of_bools_is_an_index_as_in_numpy() -> None:
    x = tf.constant([[1, 2, 3], [4, 5, 6]])
    for take in (lambda x: x[:, (True, False, True)], tf.function(lambda x: x[:, (True, False, True)])):
        assert take(x).numpy().tolist() == [[1, 3], [4, 6]]


@covers(*names_of_operators("ArrayImpl", "eq"), *names_of_operators("Tracer", "eq"))
def test_operators_take_lists() -> None:
    x, other = jnp.array([1.0, 2.0]), [2, 3]
    expected = apply_all_operators(x, np.array(other, "float32"))
    for results in (apply_all_operators(x, other), jax.jit(lambda x: apply_all_operators(x, other))(x)):
        for result, each in zip(results, expected, strict=True):
            assert result.dtype == each.dtype
            np.testing.assert_allclose(result, each)
    assert (x == [1, 3]).tolist() == jax.jit(lambda x: x == [1, 3])(x).tolist() == [True, False]
    assert (x - (1, 2)).tolist() == [0.0, 0.0]
    assert (jnp.array([1, 2]) * [0.5, 0.5]).tolist() == [0.5, 1.0]
    assert jax.jit(lambda x: x * [x[0], 3.0])(x).tolist() == [1.0, 6.0]


@pytest.mark.slow
@covers(*names_of_operators("KerasTensor"))
def test_operators_of_symbolic_tensors_take_lists() -> None:
    inputs, x = keras.Input(batch_shape=(2, 2)), np.array([[1, 2], [3, 4]], "float32")
    results = keras.Model(inputs, apply_all_operators(inputs, [2, 3]))(x)
    for result, each in zip(results, apply_all_operators(x, np.array([2, 3], "float32")), strict=True):
        np.testing.assert_allclose(result, each)
    # Keras itself takes lists of bools, as if they were scalars: the shape was that of the tensor.
    bits = keras.Input(batch_shape=(2, 1), dtype="bool")
    for operate in (operator.and_, operator.or_, operator.xor):
        assert operate(bits, [True, False]).shape == operate([True, False], bits).shape == (2, 2)


SIZED = {
    "Dense": lambda n: keras.layers.Dense(n(4)),
    "EinsumDense": lambda n: keras.layers.EinsumDense("ab,bc->ac", n(4)),
    "Embedding": lambda n: keras.layers.Embedding(n(4), n(2)),
    "MultiHeadAttention": lambda n: keras.layers.MultiHeadAttention(n(2), n(4)),
    "BaseConv": lambda n: keras.layers.Conv1D(n(4), n(2)),
    "BaseConvTranspose": lambda n: keras.layers.Conv2DTranspose(n(4), n(2), strides=n(2)),
    "BaseDepthwiseConv": lambda n: keras.layers.DepthwiseConv2D(n(2)),
    "BaseSeparableConv": lambda n: keras.layers.SeparableConv2D(n(4), n(2)),
    "BasePooling": lambda n: keras.layers.MaxPooling2D((n(2), n(2))),
    "ConvLSTM": lambda n: keras.layers.ConvLSTM2D(n(4), n(2)),
    "ConvLSTMCell": lambda n: keras.layers.ConvLSTM2D(n(4), n(2)).cell,
    "LSTMCell": lambda n: keras.layers.LSTMCell(n(4)),
    "GRUCell": lambda n: keras.layers.RNN(keras.layers.GRUCell(n(4))),
    "SimpleRNNCell": lambda n: keras.layers.RNN(keras.layers.SimpleRNNCell(n(4))),
    "LSTM": lambda n: keras.layers.LSTM(n(4)),
    "GRU": lambda n: keras.layers.GRU(n(4)),
    "SimpleRNN": lambda n: keras.layers.SimpleRNN(n(4)),
    "Reshape": lambda n: keras.layers.Reshape((n(4), n(1))),
    "RepeatVector": lambda n: keras.layers.RepeatVector(n(4)),
    "UpSampling1D": lambda n: keras.layers.UpSampling1D(n(2)),
    "UpSampling2D": lambda n: keras.layers.UpSampling2D(n(2)),
    "UpSampling3D": lambda n: keras.layers.UpSampling3D(n(2)),
    "ZeroPadding1D": lambda n: keras.layers.ZeroPadding1D(n(2)),
    "ZeroPadding2D": lambda n: keras.layers.ZeroPadding2D(n(2)),
    "ZeroPadding3D": lambda n: keras.layers.ZeroPadding3D(n(2)),
    "Cropping1D": lambda n: keras.layers.Cropping1D(n(2)),
    "Cropping2D": lambda n: keras.layers.Cropping2D(n(2)),
    "Cropping3D": lambda n: keras.layers.Cropping3D(n(2)),
    "LayerNormalization": lambda n: keras.layers.LayerNormalization(axis=n(1)),
    "GroupNormalization": lambda n: keras.layers.GroupNormalization(n(2)),
    "UnitNormalization": lambda n: keras.layers.UnitNormalization(axis=n(1)),
    "Normalization": lambda n: keras.layers.Normalization(axis=n(1)),
    "CategoryEncoding": lambda n: keras.layers.CategoryEncoding(n(4)),
    "Resizing": lambda n: keras.layers.Resizing(n(4), n(4)),
    "Dot": lambda n: keras.layers.Dot(n(1)),
    "Concatenate": lambda n: keras.layers.Concatenate(n(1)),
    "InputLayer": lambda n: keras.layers.InputLayer((n(4),)),
    "SeedGenerator": lambda n: keras.random.SeedGenerator(n(4)),
}


@pytest.mark.slow
@covers(*(f"{name}.__init__" for name in SIZED))
@pytest.mark.parametrize("number", [np.int64, np.int32, tf.constant])
def test_sizes_may_be_integers_of_numpy_and_tensors(number: Any) -> None:
    keras.utils.clear_session()
    for make in SIZED.values():
        found, expected = make(number), make(int)
        configs = [{**each.get_config(), "name": None} for each in (found, expected)]
        assert str(configs[0]).replace("_1'", "'") == str(configs[1]).replace("_1'", "'")


@covers("Model.get_layer", "name_scope.__init__")
def test_layers_take_old_names() -> None:
    class Block(keras.layers.Layer):
        def __init__(self, name: str) -> None:
            super().__init__(name)

    class Frozen(keras.layers.Layer):
        def __init__(self) -> None:
            super().__init__(False, "frozen")

    assert Block("first").name == "first"
    assert (Frozen().name, Frozen().trainable) == ("frozen", False)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, name="head/logits")])
    assert model.get_layer("head/logits") is model.layers[0]
    assert model.get_layer(index=0).name == "head_logits"
    assert keras.Variable(1.0, name="scale/x").name == "scale_x"
    assert Block("first").add_weight(name="scale/x", shape=()).name == "scale_x"
    with keras.name_scope("outer/inner"):
        assert keras.Variable(1.0, name="x").path == "outer_inner/x"


@covers("Metric.__init__")
def test_metrics_take_their_name_first() -> None:
    class Score(keras.metrics.Metric):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)

    assert [Score(*args).name for args in (("score",), ("score", "float32"), (None, "score"))] == ["score"] * 3
    assert [Score(*args).dtype for args in (("score", "float64"), ("float64", "score"))] == ["float64"] * 2


@covers(
    *(f"{kind}.{name}" for kind in ("ArrayImpl", "Tracer") for name in ("assign", "assign_add", "assign_sub")),
    "Variable.__getitem__",
)
def test_parts_of_variables_are_assigned() -> None:
    variable = tf.Variable([1.0, 2.0, 3.0])

    def change() -> None:
        variable[0].assign(5.0)
        variable[1:].assign_add([1.0, 1.0])
        variable[2].assign_sub(1.0)

    for call in (change, tf.function(change)):
        variable.assign([1.0, 2.0, 3.0])
        call()
        assert variable.numpy().tolist() == [5.0, 3.0, 3.0]
    assert not hasattr(jnp.ones(()), "assign")


@covers(
    *(f"Variable.{name}" for name in ("shape", "numpy", "get_shape", "read_value", "ref", "device", "__format__")),
)
def test_variables_have_the_methods_of_tensorflow() -> None:
    variable = tf.Variable([1.5])
    assert variable.shape.as_list() == variable.get_shape().as_list() == [1]
    assert variable.read_value().tolist() == [1.5]
    variable.numpy()[0] = 3.0
    assert f"{tf.Variable(1.5):.2f}" == "1.50"
    assert variable.ref() == variable.ref()
    assert variable.device == variable.value.device


@covers(*(f"Variable.__{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")))
def test_variables_are_combined_with_ragged_tensors() -> None:
    variable, ragged = tf.Variable(6.0), tf.ragged.constant([[4.0], []])
    assert (variable + ragged).to_list() == [[10.0], []]
    assert (variable - ragged).to_list() == [[2.0], []]
    assert (variable * ragged).to_list() == [[24.0], []]
    assert (variable / ragged).to_list() == [[1.5], []]
    assert (variable // ragged).to_list() == [[1.0], []]
    assert (variable % ragged).to_list() == [[2.0], []]
    assert (variable**ragged).to_list() == [[1296.0], []]


_ROWS = {"update": 2.0, "add": 3.0, "sub": -1.0, "mul": 2.0, "div": 0.5, "max": 2.0, "min": 1.0}
_ND = ("update", "add", "sub", "max", "min")


@covers(*(f"Variable.scatter_{name}" for name in _ROWS), *(f"Variable.scatter_nd_{name}" for name in _ND))
@pytest.mark.parametrize("name", list(_ROWS))
def test_variables_are_scattered_into(name: str) -> None:
    variable = tf.Variable([1.0, 1.0])
    getattr(variable, f"scatter_{name}")(tf.IndexedSlices(tf.constant([2.0]), tf.constant([1])))
    assert variable.numpy().tolist() == [1.0, _ROWS[name]]
    if name in _ND:
        variable = tf.Variable([1.0, 1.0])
        getattr(variable, f"scatter_nd_{name}")([[1]], [2.0])
        assert variable.numpy().tolist() == [1.0, _ROWS[name]]


@covers("Variable.assign", "Variable.assign_add", "Variable.assign_sub", "Variable.__iter__", "Variable.__bool__")
def test_assignments_return_the_variable_which_can_be_unpacked_and_tested() -> None:
    variable = tf.Variable([0.0, 2.0])
    assert variable.assign([1.0, 3.0]).assign_add([1.0, 1.0]).assign_sub([2.0, 0.0]) is variable
    assert variable.assign_add([0.0, 0.0], read_value=False) is None
    first, second = variable
    assert (float(first), float(second)) == (0.0, 4.0)
    assert tf.Variable(True)
    assert not tf.Variable(False)


@covers("Variable.batch_scatter_update", "Variable.sparse_read", "Variable.gather_nd")
def test_variables_are_gathered_from() -> None:
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert variable.sparse_read([1]).tolist() == [[3.0, 4.0]]
    assert variable.gather_nd([[1, 0]]).tolist() == [3.0]
    variable.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[0], [1]])))
    assert variable.numpy().tolist() == [[9.0, 2.0], [3.0, 8.0]]


@covers(
    *(f"layers.{name}" for name in ("HashedCrossing", "Hashing", "IntegerLookup", "StringLookup")),
    "layers.TextVectorization",
    *(
        f"{module}.{name}"
        for module in ("utils", "preprocessing")
        for name in (
            "image_dataset_from_directory",
            "text_dataset_from_directory",
            "timeseries_dataset_from_array",
        )
    ),
    "utils.audio_dataset_from_directory",
)
def test_stock_keras_has_what_would_need_tensorflow() -> None:
    assert keras.layers.StringLookup(vocabulary=["a", "b"])(np.array(["b"])).tolist() == [2]
    assert keras.layers.IntegerLookup(vocabulary=[5, 6])(np.array([6])).tolist() == [2]
    assert keras.layers.Hashing(1)(np.array(["x"])).tolist() == [0]
    assert keras.layers.HashedCrossing(1)((np.array(["x"]), np.array([2]))).tolist() == [0]
    assert keras.layers.TextVectorization(vocabulary=["a"])(np.array(["a a"])).tolist() == [[2, 2]]
    for module in (keras.utils, keras.preprocessing):
        (batch,) = module.timeseries_dataset_from_array(np.arange(3), None, 3)
        assert np.asarray(batch).tolist() == [[0, 1, 2]]
        for name in ("image_dataset_from_directory", "text_dataset_from_directory"):
            assert getattr(module, name) is getattr(tf.keras.utils, name)
    assert keras.utils.audio_dataset_from_directory is tf.keras.utils.audio_dataset_from_directory


@covers("Sequential.build", "Functional.call", "Functional._assert_input_compatibility")
def test_layers_for_text_run_on_the_host_and_the_model_continues_behind_them() -> None:
    with mirrored(2).scope():
        lookup = keras.layers.StringLookup(vocabulary=["a", "b"])
        model = keras.Sequential([lookup, keras.layers.Embedding(3, 1, embeddings_initializer="ones")])
        model.compile("sgd", "mse")
    assert model.predict(np.array([["a"], ["b"]], object), verbose=0).tolist() == [[[1.0]], [[1.0]]]


@covers(
    "LazyModule.available",
    "LazyModule.initialize",
    *(f"{name}.{each}" for name in ("tensorflow", "gfile") for each in ("data", "is_tensor", "executing_eagerly")),
)
def test_keras_finds_no_tensorflow() -> None:
    for module in (module_utils.tensorflow, module_utils.gfile):
        assert module.available is False
        with pytest.raises(ImportError):
            module.initialize()
        assert module.executing_eagerly()
        assert module.is_tensor(jnp.ones(()))
        assert issubclass(tf.data.Dataset, module.data.Dataset)
    assert module_utils.h5py.available is True


class _DrawsInTraining(keras.layers.Layer):
    def call(self, x: Any, training: Any = None) -> Any:
        return x + tf.random.uniform(()) if training else x


@covers("JAXTrainer._symbolic_build", "JAXTrainer.compute_loss_and_updates", "Layer.stateless_call")
def test_a_layer_that_draws_only_in_training_draws_other_numbers_at_every_step() -> None:
    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.noise, self.dense = _DrawsInTraining(), keras.layers.Dense(1, trainable=False)

        def call(self, x: Any) -> Any:  # does not pass `training`
            return self.dense(self.noise(x))

    model = Model()
    model.compile(keras.optimizers.SGD(0.0), "mse")
    x = np.ones((2, 1), "float32")
    assert len({model.train_on_batch(x, x) for _ in range(3)}) == 3


@covers(*OPERATION_FN)
def test_training_that_was_given_explicitly_stays() -> None:
    inputs = keras.Input((100,))
    model = keras.Model(inputs, keras.layers.Dropout(0.5)(inputs, training=True))
    assert 0.0 in model.predict(np.ones((1, 100)), verbose=0)


@covers("JAXTrainer._purge_model_variables")
def test_a_model_keeps_its_values_when_a_step_fails() -> None:
    class Fails(keras.layers.Dense):
        fails = False

        def call(self, x: Any) -> Any:
            if self.fails:
                raise ZeroDivisionError
            return super().call(x)

    model = keras.Sequential([keras.Input((1,)), Fails(1)])
    model.compile("sgd", "mse")
    model.layers[0].fails = True
    with pytest.raises(ZeroDivisionError):
        model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


@covers("KerasTensor.shape", "KerasTensor.get_shape", "KerasTensor.set_shape", "layer.get_shapes_dict")
def test_symbolic_shapes_are_tensor_shapes() -> None:
    class Layer(keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.found = input_shape.as_list()

        def call(self, x: Any) -> Any:
            return x

    tensor, layer = keras.Input((3,)), Layer()
    tensor.set_shape((None, 3))
    assert layer(tensor).get_shape().as_list() == tensor.shape.as_list() == layer.found == [None, 3]


@covers("Layer.build_from_config")
def test_a_layer_is_built_from_its_config_with_tensor_shapes() -> None:
    class Layer(keras.layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.rank = input_shape.rank

    layer = Layer()
    layer.build_from_config({"input_shape": [None, 3]})
    assert layer.rank == 2


@covers("Layer.__init__", "Sequential.add", "Sequential.input", "Sequential.output")
def test_the_first_layer_gives_the_shape_of_the_input() -> None:
    model = keras.Sequential([keras.layers.Dense(2, batch_input_shape=(4, 3))])
    assert (model.input.shape, model.output.shape) == ((4, 3), (4, 2))


@covers("loss.standardize_reduction", "core.cast", "CompileLoss.call", "Model.metrics_names")
def test_compile_and_losses_accept_what_keras_2_did(recwarn: Any) -> None:
    assert keras.losses.MeanSquaredError(reduction="auto").reduction == "sum_over_batch_size"
    assert keras.ops.cast(np.ones(1, "float32"), "int64").dtype == "int32"
    inputs = keras.Input((1,))
    outputs = [keras.layers.Dense(1, name=name)(inputs) for name in ("a", "b")]
    model = keras.Model(inputs, outputs)
    model.compile("sgd", "mse", ["mae", "mae"], sample_weight_mode=None)
    x = np.ones((2, 1), "float32")
    model.train_on_batch(x, {"a": x, "b": x}, sample_weight={"a": np.ones(2), "b": np.zeros(2)})
    assert "a_mae" in model.metrics_names
    assert not [each for each in recwarn if "64" in str(each.message)]


@covers("LearningRateScheduler.__init__", "History.history")
def test_callbacks_are_those_of_keras_2() -> None:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch: tf.constant([0.5]))
    history = model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0, callbacks=[schedule])
    assert history.history["lr"] == history.history["learning_rate"] == [0.5]


@pytest.mark.slow
@covers("RNN.variables", "Model.reset_states")
def test_the_state_of_a_recurrent_layer_continues() -> None:
    model = keras.Sequential([keras.Input(batch_shape=(1, 1, 1)), keras.layers.LSTM(1, stateful=True)])
    x = np.ones((1, 1, 1), "float32")
    first, second = model.predict(x, verbose=0), model.predict(x, verbose=0)
    assert first != second
    model.reset_states()
    assert model.predict(x, verbose=0) == first


@covers(
    *(f"Layer.{name}" for name in ("add_weight", "add_variable", "add_metric", "add_update")),
    *("Layer.input_shape", "Layer.output_shape", "Layer.submodules", "InputLayer.input", "InputLayer.__init__"),
)
def test_layers_have_the_names_of_keras_2() -> None:
    layer = keras.layers.Layer()
    assert layer.add_weight("kernel", shape=(2,), use_resource=True).name == "kernel"
    assert layer.add_variable("other", shape=(2,)).name == "other"
    layer.add_update(None)
    with pytest.raises(AttributeError, match="compile"):
        layer.add_metric(1.0)
    inputs = keras.layers.InputLayer(input_shape=(3,))
    assert inputs.input.shape == (None, 3)
    dense = keras.layers.Dense(2)
    dense(inputs.output)
    assert (dense.input_shape, dense.output_shape) == ((None, 3), (None, 2))
    assert tf.keras.Input((2,), sparse=True).shape == tf.keras.Input((2,), ragged=True).shape == (None, 2)
    assert tf.keras.Input(2).shape == tf.keras.Input(shape=2).shape == (None, 2)
    assert keras.Sequential([dense]).submodules == (dense,)


@covers("LeakyReLU.__init__", "Embedding.__init__", *(f"AveragePooling{number}D.__init__" for number in (1, 2, 3)))
def test_layers_accept_the_arguments_of_keras_2() -> None:
    assert keras.layers.LeakyReLU(alpha=0.5).negative_slope == 0.5
    assert keras.layers.Embedding(3, 2, input_length=4).input_dim == 3
    assert keras.layers.BatchNormalization(fused=True).axis == -1
    for kind, size in (
        (keras.layers.AveragePooling1D, (2,)),
        (keras.layers.AveragePooling2D, (2, 2)),
        (keras.layers.AveragePooling3D, (2, 2, 2)),
    ):
        assert kind().pool_size == size


@covers("Model.build")
def test_build_makes_the_variables_of_a_subclassed_model(tmp_path: Path) -> None:
    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.dense(x)

    model = Model()
    model.build((None, 3))
    assert [weight.shape for weight in model.weights] == [(3, 2), (2,)]
    model.save_weights(tmp_path / "w.weights.h5")
    with pytest.raises(ValueError, match="Build it first"):
        Model().load_weights(tmp_path / "w.weights.h5")


@covers(*(f"Metric.{name}" for name in ("reset_state", "reset_states", "add_weight", "add_variable")))
@covers("Metric.__init_subclass__")
def test_a_metric_of_keras_2() -> None:
    class Count(keras.metrics.Metric):
        def __init__(self) -> None:
            super().__init__(name="count")
            self.total = self.add_weight("total", initializer="zeros")
            self.other = self.add_variable((), "zeros", name="other")

        def update_state(self, *arguments: Any) -> None:
            self.total.assign_add(1.0)

        def result(self) -> Any:
            return self.total

        def reset_states(self) -> None:
            self.total.assign(-1.0)  # Keras's own reset_state would assign 0

    metric = Count()
    metric.update_state()
    assert isinstance(metric.result(), jax.Array)
    metric.reset_state()
    assert float(metric.result()) == -1.0
    mean = keras.metrics.Mean()
    mean.update_state(3.0)
    mean.reset_states()
    assert float(mean.result()) == 0.0


@covers("Functional.add_loss", "Model.compiled_loss", "Model.compiled_metrics", "Model.distribute_strategy")
@covers(*(f"Model.{name}" for name in ("fit_generator", "evaluate_generator", "predict_generator")))
@covers("Model.predict_classes", "Model.predict_proba", "Model.save_spec")
def test_models_have_the_names_of_keras_2() -> None:
    inputs = keras.Input((1,))
    model = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    with pytest.raises(NotImplementedError, match="Endpoint"):
        model.add_loss(1.0)
    model.compile("sgd", "mse", metrics=["mae"])
    x = np.ones((2, 1), "float32")
    model.fit_generator(((x, x) for _ in range(2)), 2, 1, 0)
    assert len(model.evaluate_generator(((x, x) for _ in range(1)), 1, verbose=0)) == 2
    assert model.predict_generator(((x,) for _ in range(1)), 1, verbose=0).shape == (2, 1)
    assert float(model.compiled_loss(x, x)) == 0.0
    model.compiled_metrics.update_state(x, x)
    assert model.distribute_strategy is tf.distribute.get_strategy()
    assert model.save_spec()[0][0].shape == (None, 1)
    for name in ("predict_classes", "predict_proba"):
        with pytest.raises(AttributeError, match=r"model\.predict"):
            getattr(model, name)


@pytest.mark.slow
@covers("Sequential.build")
def test_a_sequential_that_was_called_may_be_built_with_another_batch_size() -> None:
    model, x = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)]), np.ones((5, 4), "float32")
    model(x[:2])
    weights = model.get_weights()
    for shape in ((None, 4), [32, 4], tf.TensorShape([7, 4])):
        model.build(shape)
    assert model.input_shape == (None, 4)
    np.testing.assert_equal(model.get_weights(), weights)
    model.add(tf.keras.layers.Dense(2))
    assert model(x).shape == (5, 2)
    assert tf.keras.Model(model.inputs, model.layers[0].output).predict(x, verbose=0).shape == (5, 3)
    with pytest.raises(ValueError, match="already been configured"):
        model.build((None, 5))
    stateful = tf.keras.Sequential([tf.keras.layers.LSTM(2, stateful=True)])
    stateful.build((3, 6, 4))
    assert stateful.input_shape == (3, 6, 4)


@covers(*(f"Optimizer.{name}" for name in ("__init__", "variables", "lr", "weights", "get_weights", "minimize")))
@covers("BaseOptimizer._backend_update_step", "BaseOptimizer.get_config")
@covers("Optimizer.compute_gradients", "Optimizer.get_gradients", "Optimizer._decayed_lr")
@covers(*(f"LossScaleOptimizer.{name}" for name in ("get_scaled_loss", "get_unscaled_gradients", "loss_scale")))
def test_optimizers_have_the_names_of_keras_2() -> None:
    optimizer, variable = keras.optimizers.SGD(lr=0.5), tf.Variable(2.0)
    optimizer.minimize(lambda: variable * 1.0, [variable])
    assert float(variable.value) == 1.5
    ((gradient, _),) = optimizer.compute_gradients(lambda: variable * 3.0, [variable])
    assert float(gradient) == 3.0
    assert len(optimizer.variables()) == len(optimizer.weights) == len(optimizer.get_weights())
    assert float(optimizer.lr) == float(optimizer._decayed_lr()) == 0.5
    decaying, slow = keras.optimizers.SGD(lr=1.0, decay=1.0), tf.Variable(0.0)
    for _ in range(2):
        decaying.apply_gradients([(keras.ops.ones(()), slow)])
    assert float(slow.value) == -1.5
    assert decaying.get_config()["decay"] == 1.0
    with pytest.raises(RuntimeError, match="GradientTape"):
        optimizer.get_gradients(1.0, [variable])
    scaling = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=8.0)
    scaling.build([variable])
    assert float(scaling.loss_scale.value if hasattr(scaling.loss_scale, "value") else scaling.loss_scale) == 8.0
    assert float(scaling.get_scaled_loss(1.0)) == 8.0
    assert scaling.get_unscaled_gradients([1.0]) == [1.0]


@covers(*(f"{module}.{name}" for module in ("models", "saving") for name in ("load_model", "save_model")))
@covers("Model.export")
def test_models_are_saved_to_folders_and_exported(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    for module in (keras.models, keras.saving):
        module.save_model(model, tmp_path / module.__name__)
        assert module.load_model(tmp_path / module.__name__).predict(np.ones((1, 1)), verbose=0) == 1.0
    model.save_weights(tmp_path / "weights.h5")
    model.export(tmp_path / "exported")
    loaded = tf.saved_model.load(str(tmp_path / "exported"))
    assert loaded.serve(tf.ones((1, 1))).tolist() == [[1.0]]


@covers("mnist.load_data", "fashion_mnist.load_data")
def test_keras_datasets_read_local_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(tmp_path))
    for name in ("mnist", "fashion_mnist"):
        np.savez(tmp_path / f"{name}.npz", x_train=[0], y_train=[1], x_test=[2], y_test=[3])
        (_, labels), _ = getattr(keras.datasets, name).load_data()
        assert labels.tolist() == [1]


def test_flat_targets_are_compared_with_each_output() -> None:
    with mirrored(1).scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Identity()])
        model.compile(loss="mse")
    batches = tf.data.Dataset.from_tensors((np.float32([[1, 2, 3], [1, 2, 3]]), np.float32([1, 2])))
    assert model.evaluate(batches, verbose=0) == pytest.approx(7 / 6)
