"""`tf.saved_model`: what was saved does the same when it is loaded, without its code, and on other devices."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.ffi
import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono._src.state.store import BadCheckpoint, commit, load
from unisono.tf.saved_model._save import export_model

X = np.linspace(-1, 1, 8 * 6, dtype="float32").reshape(8, 6)


class Scaled(tf.Module):
    """A module with a function of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = tf.Variable(2.0, name="scale")
        self.inner = {"counter": tf.Variable(0, trainable=False), "more": [tf.Variable([1.0, 2.0])]}

    @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32)])
    def scaled(self, x: Any) -> Any:
        return x * self.scale

    @tf.function
    def power(self, x: Any, exponent: int = 2, *, negative: bool = False) -> Any:
        self.inner["counter"].assign_add(1)
        return {"value": -(x**exponent) if negative else x**exponent, "count": self.inner["counter"]}

    @tf.function
    def never_called(self, x: Any) -> Any:
        return x


@pytest.fixture(scope="module")
def model() -> Any:
    inputs = keras.Input((6,), name="features")
    hidden = keras.layers.BatchNormalization()(keras.layers.Dense(4, activation="relu")(inputs))
    return keras.Model(inputs, keras.layers.Dense(3, name="scores")(keras.layers.Dropout(0.5)(hidden)))


@pytest.fixture(scope="module")
def folder(model: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("saved") / "model")
    tf.saved_model.save(model, path)
    return path


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    module = Scaled()
    module.power(tf.constant([1.0, 2.0]))
    module.power(tf.constant([1.0, 2.0]), 3, negative=True)
    module.power.get_concrete_function(tf.TensorSpec([None, None], tf.float32))
    path = str(tmp_path_factory.mktemp("saved") / "module")
    tf.saved_model.save(module, path)
    return path


@pytest.mark.full
def test_a_model_predicts_the_same_for_every_size_of_batch(model: Any, folder: str) -> None:
    loaded = tf.saved_model.load(folder)
    for rows in (1, 3, 8):
        assert np.allclose(loaded(X[:rows]), model(X[:rows], training=False), atol=1e-6)
    assert np.array_equal(loaded(X, training=False), loaded(X))
    with pytest.raises(ValueError, match="'training': True"):
        loaded(X, training=True)


def test_a_model_has_its_signature(model: Any, folder: str) -> None:
    serve = tf.saved_model.load(folder).signatures[tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY]
    assert serve.structured_input_signature == ((), {"inputs": tf.TensorSpec([None, 6], tf.float32)})
    assert serve.structured_outputs == {"output_0": tf.TensorSpec([None, 3], tf.float32)}
    assert serve.inputs == [tf.TensorSpec([None, 6], tf.float32)]
    assert serve.outputs == [tf.TensorSpec([None, 3], tf.float32)]
    expected = model(X, training=False)
    assert np.allclose(serve(tf.constant(X))["output_0"], expected, atol=1e-6)
    assert np.allclose(serve(inputs=X)["output_0"], expected, atol=1e-6)
    assert np.allclose(serve(X.astype("float64"))["output_0"], expected, atol=1e-6)
    assert serve(np.ones((1, 6), "int32"))["output_0"].shape == (1, 3)


@pytest.mark.parametrize(
    ("args", "kwargs", "reason"),
    [
        ((X[:, :2],), {}, r"shape \(8, 2\)"),
        ((X.astype("complex64"),), {}, "dtype complex64"),
        ((), {"x": X}, r"takes \['inputs'\]; it was called with \['x'\]"),
        ((X, X), {}, "it was called with"),
        (("text",), {}, "'text'"),
    ],
)
def test_a_signature_says_what_it_takes(folder: str, args: Any, kwargs: Any, reason: str) -> None:
    with pytest.raises(TypeError, match=reason):
        tf.saved_model.load(folder).signatures["serving_default"](*args, **kwargs)


def test_variables_are_loaded_and_can_be_assigned(model: Any, folder: str) -> None:
    loaded = tf.saved_model.load(folder)
    assert [tuple(v.shape) for v in loaded.trainable_variables] == [tuple(v.shape) for v in model.trainable_variables]
    assert len(loaded.variables) == len(model.weights)
    for variable in loaded.trainable_variables:
        variable.assign(variable * 0)
    assert not np.any(np.asarray(loaded(X)))
    assert np.any(np.asarray(tf.saved_model.load(folder)(X)))


def test_a_loaded_model_can_be_trained(folder: str) -> None:
    loaded = tf.saved_model.load(folder)
    optimizer = keras.optimizers.SGD(0.1)
    losses = []

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = (loaded(x) ** 2).mean()
        gradients = tape.gradient(loss, loaded.trainable_variables)
        optimizer.apply_gradients(zip(gradients, loaded.trainable_variables, strict=True))
        return loss

    for _ in range(5):
        losses.append(float(step(X)))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_a_signature_runs_on_every_replica(model: Any, folder: str, replicas: int) -> None:
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])
    with strategy.scope():
        loaded = tf.saved_model.load(folder)
    inference = loaded.signatures["serving_default"]
    dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(X).batch(8))
    for batch in dataset:
        results = strategy.experimental_local_results(strategy.run(inference, args=(batch,))["output_0"])
        assert len(results) == replicas
        assert np.allclose(np.concatenate(results), model(X, training=False), atol=1e-6)
    assert np.allclose(loaded(X), model(X, training=False), atol=1e-6)


def test_a_model_of_a_strategy_is_loaded_without_one_and_with_another(tmp_path: Path) -> None:
    two = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with two.scope():
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        model.fit(X, X[:, :2], batch_size=8, verbose=0)
        tf.saved_model.save(model, tmp_path / "model")
    expected = model.predict(X, verbose=0)
    assert np.allclose(tf.saved_model.load(tmp_path / "model")(X), expected, atol=1e-6)
    with tf.distribute.MirroredStrategy(["cpu:2", "cpu:3", "cpu:4"]).scope():
        loaded = tf.saved_model.load(tmp_path / "model")
        assert np.allclose(loaded(X), expected, atol=1e-6)
        assert len(loaded.variables[0].values) == 3


@pytest.mark.slow
def test_another_process_loads_it_without_the_code(folder: str, model: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    script = f"""
import sys
import numpy as np
import unisono.tf.saved_model as saved_model
loaded = saved_model.load({folder!r})
np.save({str(tmp_path / "y.npy")!r}, loaded(np.load({str(tmp_path / "x.npy")!r})))
assert not [name for name in sys.modules if "test_saved_model" in name or name.split(".")[0] == "tensorflow"]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120, cwd=tmp_path)
    assert np.allclose(np.load(tmp_path / "y.npy"), model(X, training=False), atol=1e-6)


def test_functions_of_a_module_come_back(module_folder: str) -> None:
    loaded = tf.saved_model.load(module_folder)
    assert np.allclose(loaded.scaled(X), X * 2)
    assert loaded.scale.numpy() == 2.0
    assert [variable.numpy().tolist() for variable in loaded.inner["more"]] == [[1.0, 2.0]]
    assert [variable.trainable for variable in (loaded.scale, loaded.inner["counter"])] == [True, False]
    assert loaded.power(tf.constant([3.0, 4.0]))["value"].numpy().tolist() == [9.0, 16.0]
    assert loaded.power(tf.constant([3.0, 4.0]), exponent=2)["value"].numpy().tolist() == [9.0, 16.0]
    assert loaded.power(tf.constant([1.0, 2.0]), 3, negative=True)["value"].numpy().tolist() == [-1.0, -8.0]
    assert loaded.power(tf.constant(X))["value"].shape == (8, 6)
    assert np.allclose(loaded.signatures["serving_default"](x=X)["output_0"], X * 2)


def test_assignments_take_effect(module_folder: str) -> None:
    loaded = tf.saved_model.load(module_folder)
    before = int(loaded.inner["counter"])
    counts = [int(loaded.power(tf.constant([1.0, 2.0]))["count"]) for _ in range(3)]
    assert counts == [before + 1, before + 2, before + 3]
    assert int(loaded.inner["counter"]) == before + 3


def test_arguments_that_it_was_not_saved_for_are_named(module_folder: str) -> None:
    loaded = tf.saved_model.load(module_folder)
    with pytest.raises(ValueError, match=r"(?s)shape \(3,\).*It was saved for.*shape=\(2,\)"):
        loaded.power(tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="not saved for these arguments"):
        loaded.power(tf.constant([1.0, 2.0]), 7)
    with pytest.raises(ValueError, match="saved without a program"):
        loaded.never_called(X)
    with pytest.raises(TypeError, match="cannot be called: no function `__call__`"):
        loaded(X)


def test_a_module_is_saved_again_after_it_was_loaded(module_folder: str, tmp_path: Path) -> None:
    loaded = tf.saved_model.load(module_folder)
    loaded.scale.assign(5.0)
    tf.saved_model.save(loaded, tmp_path / "again", signatures=loaded.scaled.get_concrete_function(tf.constant(X)))
    again = tf.saved_model.load(tmp_path / "again")
    assert np.allclose(again.signatures["serving_default"](X)["output_0"], X * 5)


def test_signatures_are_functions_that_the_user_names(tmp_path: Path) -> None:
    module = Scaled()
    pair = tf.function(lambda a, b: (a + b, a - b))
    spec = tf.TensorSpec([None], tf.float32, name="left")
    tf.saved_model.save(
        module,
        tmp_path / "module",
        signatures={
            "scaled": module.scaled,
            "pair": pair.get_concrete_function(spec, tf.TensorSpec([None], tf.float32)),
            "power": module.power.get_concrete_function(tf.TensorSpec([2], tf.float32), exponent=3),
        },
        options=tf.saved_model.SaveOptions(experimental_io_device="/job:localhost"),
    )
    loaded = tf.saved_model.load(
        tmp_path / "module", tf.saved_model.SERVING, tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")
    )
    assert sorted(loaded.signatures) == ["pair", "power", "scaled"]
    assert list(loaded.signatures["pair"].structured_input_signature[1]) == ["left", "b"]
    both = loaded.signatures["pair"](left=tf.constant([3.0]), b=tf.constant([1.0]))
    assert [float(both[name][0]) for name in ("output_0", "output_1")] == [4.0, 2.0]
    assert sorted(loaded.signatures["power"].structured_outputs) == ["count", "value"]
    assert loaded.signatures["power"](tf.constant([1.0, 2.0]))["value"].numpy().tolist() == [1.0, 8.0]


def test_dicts_of_inputs_and_outputs_keep_their_names(tmp_path: Path) -> None:
    a, b = keras.Input((2,), name="a"), keras.Input((2,), dtype="int32", name="b")
    embedded = keras.layers.GlobalAveragePooling1D()(keras.layers.Embedding(5, 3)(b))
    model = keras.Model({"a": a, "b": b}, {"u": keras.layers.Dense(1)(a), "v": embedded})
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    given = {"a": np.ones((3, 2), "float32"), "b": np.array([[1, 2], [3, 4], [0, 0]], "int32")}
    expected = model(given)
    for result in (loaded(given), loaded.signatures["serving_default"](**given)):
        assert sorted(result) == ["u", "v"]
        assert all(np.allclose(result[name], expected[name], atol=1e-6) for name in "uv")


@pytest.mark.slow
def test_a_subclassed_model_is_saved_once_it_was_called(tmp_path: Path) -> None:
    class Net(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = keras.layers.LSTM(3)

        def call(self, x: Any, training: bool = False) -> Any:
            return self.recurrent(x)

    net = Net()
    with pytest.raises(ValueError, match="has not been built"):
        tf.saved_model.save(net, tmp_path / "net")
    x = np.linspace(0, 1, 2 * 4 * 2, dtype="float32").reshape(2, 4, 2)
    expected = net(x)
    tf.saved_model.save(net, tmp_path / "net")
    assert np.allclose(tf.saved_model.load(tmp_path / "net")(x[:1]), expected[:1], atol=1e-6)


def test_an_exported_model_has_the_endpoint_serve(model: Any, tmp_path: Path) -> None:
    export_model(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert sorted(loaded.signatures) == ["serve", "serving_default"]
    assert np.allclose(loaded.serve(X), model(X, training=False), atol=1e-6)


def test_a_model_of_mixed_precision_predicts_the_same(tmp_path: Path) -> None:
    hidden = keras.layers.Dense(4, activation="relu", dtype="mixed_bfloat16")
    model = keras.Sequential([keras.Input((6,)), hidden, keras.layers.Dense(1)])
    tf.saved_model.save(model, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    assert {str(variable.dtype) for variable in loaded.variables} == {"float32"}
    assert np.allclose(loaded(X), model(X), atol=1e-6)


def test_a_folder_that_keras_wrote_is_loaded_too(model: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    model.save(tmp_path / "folder" / "model.keras")
    assert tf.saved_model.contains_saved_model(tmp_path / "folder")
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        loaded = tf.saved_model.load(tmp_path / "folder")
    assert len(loaded.variables[0].values) == 2
    expected = model(X, training=False)
    assert np.allclose(loaded.signatures["serving_default"](X)["output_0"], expected, atol=1e-6)


def test_a_function_without_arguments_and_a_variable_that_no_attribute_holds(tmp_path: Path) -> None:
    hidden = tf.Variable(1.0)

    class Counting(tf.Module):
        @tf.function
        def __call__(self) -> Any:
            return hidden.assign_add(1.0)

    module = Counting()
    module()
    tf.saved_model.save(module, tmp_path / "module")
    loaded = tf.saved_model.load(tmp_path / "module")
    assert [float(loaded()) for _ in range(2)] == [3.0, 4.0]
    assert [float(variable) for variable in loaded.variables] == [4.0]
    assert float(hidden) == 2.0


def test_objects_that_hold_each_other_and_shared_variables_stay_so(tmp_path: Path) -> None:
    outer, inner = tf.Module(), tf.Module()
    outer.inner, outer.weight = inner, tf.Variable([1.0])
    inner.outer, inner.weight = outer, outer.weight
    outer.layer = keras.layers.Dense(1)
    outer.layer.build((None, 2))
    tf.saved_model.save(outer, tmp_path / "module")
    loaded = tf.saved_model.load(tmp_path / "module")
    assert loaded.inner.outer is loaded
    assert loaded.inner.weight is loaded.weight
    assert [tuple(weight.shape) for weight in loaded.layer.weights] == [(2, 1), (1,)]


def test_the_program_of_a_model_is_stored_once_for_all_platforms(folder: str) -> None:
    state = json.loads(Path(folder, "state.json").read_text())
    ((program,),) = [function["programs"] for function in state["functions"]]
    serialized = bytearray(load(folder).arrays[program["array"]].tobytes())
    assert jax.export.deserialize(serialized).platforms == ("cpu", "cuda", "tpu")


def test_a_function_that_was_called_but_cannot_be_saved_is_left_out_with_a_warning(tmp_path: Path) -> None:
    class Loud(tf.Module):
        @tf.function
        def loud(self, x: Any) -> Any:
            jax.debug.callback(lambda x: None, x)
            return x

    module = Loud()
    module.loud(tf.constant(1.0))
    with pytest.warns(UserWarning, match="leaves out the function 'loud'"):
        tf.saved_model.save(module, tmp_path / "module")
    with pytest.raises(ValueError, match="saved without a program"):
        tf.saved_model.load(tmp_path / "module").loud(tf.constant(1.0))


def test_an_address_that_is_not_local_is_named(model: Any) -> None:
    with pytest.raises(NotImplementedError, match="gs://"):
        tf.saved_model.save(model, "gs://bucket/model")
    with pytest.raises(NotImplementedError, match="gs://"):
        tf.saved_model.load("gs://bucket/model")


def test_what_cannot_be_saved_is_an_error(tmp_path: Path) -> None:
    class Printing(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def loud(self, x: Any) -> Any:
            jax.debug.print("{x}", x=x)
            return x

    class Calling(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
        def calling(self, x: Any) -> Any:
            return jax.pure_callback(np.sin, x, x)

    class Reading(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
        def text(self, x: Any) -> Any:
            return x

    class Sized(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def sized(self, x: Any) -> Any:
            return x.reshape(2, -1)

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])

    class Running(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def running(self, x: Any) -> Any:
            return strategy.reduce("SUM", strategy.run(lambda y: y, args=(x,)), axis=None)

    for thing, reason in (
        (Printing(), "calls back into Python"),
        (Calling(), "calls back into Python"),
        (Reading(), "takes text"),
        (Sized(), "inputs of unknown size"),
        (Running(), "calls `strategy.run`"),
        (object(), r"Expected a tf\.Module"),
    ):
        with pytest.raises(ValueError, match=reason):
            tf.saved_model.save(thing, tmp_path / "thing")
    with pytest.raises(ValueError, match="the signature 'serving_default' is"):
        tf.saved_model.save(Scaled(), tmp_path / "thing", signatures=lambda x: x)
    nested = tf.function(lambda x: {"a": {"b": x}}).get_concrete_function(tf.TensorSpec([], tf.float32))
    with pytest.raises(ValueError, match="Expected a tensor, a list of tensors"):
        tf.saved_model.save(tf.Module(), tmp_path / "thing", signatures=nested)
    assert not (tmp_path / "thing").exists()


def test_folders_that_are_not_saved_models_are_named(folder: str, tmp_path: Path) -> None:
    assert tf.saved_model.contains_saved_model(folder)
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(OSError, match="there is no such folder"):
        tf.saved_model.load(tmp_path / "nowhere")
    with pytest.raises(OSError, match="it has no manifest"):
        tf.saved_model.load(tmp_path)
    commit(tmp_path / "checkpoint", arrays={})
    with pytest.raises(OSError, match="it is a checkpoint"):
        tf.saved_model.load(tmp_path / "checkpoint")
    (tmp_path / "tensorflows").mkdir()
    (tmp_path / "tensorflows" / "saved_model.pb").write_bytes(b"")
    with pytest.raises(OSError, match="written by TensorFlow"):
        tf.saved_model.load(tmp_path / "tensorflows")
    with pytest.raises(ValueError, match="the only tag"):
        tf.saved_model.load(folder, tags=[tf.saved_model.TRAINING])


def test_a_damaged_or_forged_folder_is_an_error(module_folder: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    tf.saved_model.save(Scaled(), damaged)
    path = damaged / "arrays.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadCheckpoint, match="damaged"):
        tf.saved_model.load(damaged)
    assert not tf.saved_model.contains_saved_model(damaged)
    state = json.loads(Path(module_folder, "state.json").read_text())
    arrays = {entry["array"]: np.zeros(3, np.uint8) for f in state["functions"] for entry in f["programs"]}
    arrays |= {entry["array"]: np.zeros(1, np.float32) for entry in state["variables"]}
    commit(tmp_path / "forged", arrays=arrays, state=state)
    with pytest.raises(BadCheckpoint, match="not a SavedModel of Unisono"):
        tf.saved_model.load(tmp_path / "forged")
    exports = jax.export.export(
        jax.jit(lambda v, x: ([jax.ffi.ffi_call("xla_ffi_python_cpu_callback", v[0])(v[0])], [])),
        disabled_checks=[jax.export.DisabledSafetyCheck.custom_call("xla_ffi_python_cpu_callback")],
    )([jax.ShapeDtypeStruct((), "float32")], [])
    arrays = dict.fromkeys(arrays, np.frombuffer(exports.serialize(), np.uint8)) | {
        entry["array"]: np.zeros(1, np.float32) for entry in state["variables"]
    }
    commit(tmp_path / "hostile", arrays=arrays, state=state)
    with pytest.raises(BadCheckpoint, match="xla_ffi_python_cpu_callback"):
        tf.saved_model.load(tmp_path / "hostile")
    commit(tmp_path / "newer", arrays={}, state={**state, "version": 99})
    with pytest.raises(OSError, match="newer Unisono"):
        tf.saved_model.load(tmp_path / "newer")


def test_a_saved_model_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    module = Scaled()
    tf.saved_model.save(module, str(tmp_path / "module") + os.sep)
    module.scale.assign(7.0)
    tf.saved_model.save(module, tmp_path / "module")
    assert tf.saved_model.load(tmp_path / "module").scale.numpy() == 7.0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("")
    with pytest.raises(Exception, match="is not a checkpoint, but holds 'file'"):
        tf.saved_model.save(module, tmp_path / "mine")


def test_the_constants_are_those_of_tensorflow() -> None:
    assert (tf.saved_model.SERVING, tf.saved_model.TRAINING) == ("serve", "train")
    assert (tf.saved_model.GPU, tf.saved_model.TPU) == ("gpu", "tpu")
    assert (tf.saved_model.PREDICT_INPUTS, tf.saved_model.PREDICT_OUTPUTS) == ("inputs", "outputs")
    assert tf.saved_model.PREDICT_METHOD_NAME == "tensorflow/serving/predict"


def test_export_of_a_model_is_a_folder_to_load(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
    model.export(tmp_path / "exported")
    x = np.ones((4, 3), "float32")
    loaded = tf.saved_model.load(tmp_path / "exported")
    np.testing.assert_allclose(loaded.serve(x), model(x), rtol=1e-6)
    with pytest.raises(TypeError, match="unexpected"):
        model.export(tmp_path / "other", colour="red")


def test_unknown_sizes_that_a_model_depends_on_are_those_of_the_last_call(tmp_path: Path) -> None:
    class Export(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = None

        @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float32)])
        def __call__(self, x: Any) -> Any:
            if self.w is None:
                self.w = tf.Variable(tf.ones([3, 2]) * 2.0)
            return tf.matmul(x, self.w)

        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def double(self, x: Any) -> Any:
            return x * 2.0

    module = Export()
    expected = module(tf.ones([4, 3]))
    module.double(tf.ones([2]))
    tf.saved_model.save(module, str(tmp_path / "module"))
    loaded = tf.saved_model.load(str(tmp_path / "module"))
    np.testing.assert_allclose(loaded(tf.ones([4, 3])), expected)
    assert loaded(tf.ones([7, 3])).shape == (7, 2)
    assert loaded.double(tf.ones([2])).tolist() == [2.0, 2.0]


def test_a_function_that_needs_the_host_cannot_be_saved(tmp_path: Path) -> None:
    module = tf.Module()
    module.f = tf.function(lambda x: tf.unique(x)[0], input_signature=[tf.TensorSpec([3], tf.float32)])
    with pytest.raises(ValueError, match=r"tf.unique inside a compiled function"):
        tf.saved_model.save(module, str(tmp_path / "module"))


def test_a_size_that_follows_from_the_weights_may_be_unknown_in_the_signature(tmp_path: Path) -> None:
    module = tf.Module()
    module.mean, module.w = tf.Variable(tf.ones([3])), tf.Variable(tf.ones([3, 1]))
    signature = [tf.TensorSpec([None, None], tf.float32)]
    module.call = tf.function(lambda x: tf.matmul(x - module.mean, module.w), input_signature=signature)
    tf.saved_model.save(module, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    for rows in (1, 4):
        np.testing.assert_array_equal(loaded.call(tf.fill([rows, 3], 2.0)), np.full((rows, 1), 3.0))
    with pytest.raises((TypeError, ValueError)):
        loaded.call(tf.ones([4, 5]))


def test_a_model_inside_of_a_module_can_be_called(tmp_path: Path, model: Any) -> None:
    module = tf.Module()
    module.model = model
    tf.saved_model.save(module, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.model(X[:3]), model(X[:3]), rtol=1e-5, atol=1e-6)
    assert len(loaded.model.trainable_variables) == len(model.trainable_variables)


def test_a_function_that_returns_nothing_is_no_default_signature(tmp_path: Path) -> None:
    class Counter(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(1.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def set_to(self, value: tf.Tensor) -> None:
            self.v.assign(value)

    tf.saved_model.save(Counter(), str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    loaded.set_to(tf.constant(3.0))
    assert (len(loaded.signatures), float(loaded.v)) == (0, 3.0)


class OfAnyRank(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def __call__(self, x: Any) -> Any:
        return {"scaled": x * self.v}


def test_inputs_of_unknown_rank_have_a_program_for_each_rank(tmp_path: Path) -> None:
    module = OfAnyRank()
    tf.saved_model.save(module, str(tmp_path / "saved"), signatures={"scale": module.__call__})
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    signature = loaded.signatures["scale"]
    assert signature.structured_outputs["scaled"].shape.rank is None
    for shape in ((), (3,), (2, 3), (1, 2, 3, 4, 5)):
        x = tf.Variable(tf.ones(shape))
        for function in (loaded, signature):
            with tf.GradientTape() as tape:
                scaled = function(x)["scaled"]
            np.testing.assert_array_equal(scaled, np.full(shape, 2.0))
            np.testing.assert_array_equal(tape.gradient(scaled, x), np.full(shape, 2.0))
    with pytest.raises(
        TypeError, match=r"The input 'x' of the signature 'scale' is a tensor of shape \(1, 1, 1, 1, 1, 1\)"
    ):
        signature(tf.ones([1] * 6))


def test_a_function_that_has_no_program_for_any_rank_says_so(tmp_path: Path) -> None:
    class Transpose(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
        def __call__(self, x: Any) -> Any:
            return tf.transpose(x, [1, 0, 2, 3, 4, 5])

    with pytest.raises(ValueError, match=r"unknown rank.* 0 to 5 dims\. Call\nit once before"):
        tf.saved_model.save(Transpose(), str(tmp_path / "saved"))


def test_a_function_that_was_called_on_replicas_alone_is_saved(tmp_path: Path) -> None:
    class Draws(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.generator = tf.random.Generator.from_seed(0)

        @tf.function
        def __call__(self) -> Any:
            return self.generator.normal([])

        @tf.function
        def scale(self, x: Any) -> Any:
            return x * 2.0

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        module = Draws()
        strategy.run(module)
        strategy.run(lambda: module.scale(tf.ones([3])))
        tf.saved_model.save(module, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert float(loaded()) == float(module())
    assert float(loaded()) == float(module())
    np.testing.assert_array_equal(loaded.scale(tf.ones([3])), [2.0] * 3)


def test_a_function_that_needs_a_replica_is_left_out_with_a_warning(tmp_path: Path) -> None:
    class Sums(tf.Module):
        @tf.function
        def step(self, x: Any) -> Any:
            return tf.distribute.get_replica_context().all_reduce("SUM", x)

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        module = Sums()
        strategy.run(module.step, args=(tf.ones([3]),))
        with pytest.warns(UserWarning, match=r"step\b"):
            tf.saved_model.save(module, str(tmp_path / "saved"))


def test_calls_on_replicas_do_not_count_beside_others(tmp_path: Path) -> None:
    class Doubles(tf.Module):
        @tf.function
        def serve(self, x: Any) -> Any:
            return x * 2.0

    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        module = Doubles()
        module.serve(tf.ones([4]))
        strategy.run(module.serve, args=(tf.ones([2]),))
        tf.saved_model.save(module, str(tmp_path / "saved"), signatures=module.serve)
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert loaded.signatures["serving_default"].structured_input_signature[1]["x"].shape == (4,)
