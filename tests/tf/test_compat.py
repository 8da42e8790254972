"""`tf.compat`, and what older scripts use: graphs, sessions, versions, `tf.test`."""

import logging
import pathlib

import jax
import numpy as np
import pytest

import unisono.tf as tf


def test_text_is_converted_to_bytes_and_back() -> None:
    assert tf.compat.as_bytes("é") == tf.compat.as_bytes(b"\xc3\xa9") == b"\xc3\xa9"
    assert tf.compat.as_text(b"\xc3\xa9") == tf.compat.as_str("é") == "é"
    assert tf.compat.as_str_any(3) == "3"
    assert tf.compat.as_str_any(b"a") == "a"
    assert tf.compat.path_to_str(pathlib.PurePosixPath("a/b")) == "a/b"
    assert tf.compat.path_to_str(3) == 3
    for function in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected str or bytes, got 3"):
            function(3)


def test_number_types_and_dimensions() -> None:
    assert isinstance(np.int32(1), tf.compat.integral_types)
    assert isinstance(np.float32(1), tf.compat.real_types)
    assert isinstance(1j, tf.compat.complex_types)
    assert isinstance("a", tf.compat.bytes_or_text_types)
    assert tf.compat.dimension_value(3) == 3
    assert tf.compat.dimension_value(None) is None
    assert tf.compat.dimension_at_index(tf.TensorShape([4, None]), 0) == 4
    assert tf.compat.forward_compatible(2030, 1, 1)


def test_v2_has_the_names_of_the_namespace() -> None:
    assert tf.compat.v2.distribute is tf.distribute
    assert tf.compat.v2.constant is tf.constant
    with pytest.raises(AttributeError, match="is not available"):
        _ = tf.compat.v2.no_such_name


def test_v1_has_the_names_that_mean_the_same_in_v2() -> None:
    assert tf.compat.v1.distribute is tf.distribute
    assert tf.compat.v1.data.Dataset is tf.data.Dataset
    assert tf.compat.v1.keras.layers.Concatenate is tf.keras.layers.Concatenate
    assert tf.compat.v1.train.latest_checkpoint is tf.train.latest_checkpoint
    assert tf.compat.v1.train.Example is tf.train.Example
    assert tf.compat.v1.executing_eagerly()
    tf.compat.v1.enable_eager_execution()
    tf.compat.v1.enable_v2_behavior()
    tf.compat.v1.enable_v2_tensorshape()
    tf.compat.v1.enable_resource_variables()
    assert tf.compat.v1.executing_eagerly_outside_functions()
    tf.compat.v1.set_random_seed(3)
    first = np.random.random()
    tf.compat.v1.set_random_seed(3)
    assert np.random.random() == first


def test_gfile_has_its_v1_names(tmp_path: pathlib.Path) -> None:
    assert tf.compat.v1.gfile.Exists(str(tmp_path))
    tf.compat.v1.gfile.MakeDirs(str(tmp_path / "a" / "b"))
    assert [name.strip("/") for name in tf.compat.v1.gfile.ListDirectory(str(tmp_path))] == ["a"]
    assert tf.compat.v1.gfile.IsDirectory(str(tmp_path / "a"))


def test_graph_functions_raise_and_say_what_to_write_instead() -> None:
    for name, unsupported in (
        ("call functions", lambda: tf.Session()),
        ("call it with arrays", lambda: tf.compat.v1.Session()),
        ("@tf.function", lambda: tf.Graph()),
        ("@tf.function", lambda: tf.Operation()),
        (r"tf\.keras\.Input", lambda: tf.placeholder(tf.float32)),
        ("Leave out the call", lambda: tf.global_variables_initializer()),
    ):
        with pytest.raises(NotImplementedError, match=name):
            unsupported()
    for name, missing in (
        (r"tf\.keras\.optimizers\.SGD", lambda: tf.train.GradientDescentOptimizer),
        (r"optimizer\.iterations", lambda: tf.compat.v1.train.global_step),
        (r"tf\.train\.Checkpoint", lambda: tf.compat.v1.train.Saver),
        (r"tf\.keras\.layers", lambda: tf.compat.v1.layers),
        (r"tf\.keras\.metrics", lambda: tf.compat.v1.metrics),
        (r"tf\.summary", lambda: tf.compat.v1.summary.merge_all),
        (r"model\.fit", lambda: tf.compat.v1.estimator),
        (r"tf\.compat\.v1\.no_such_name is not available", lambda: tf.compat.v1.no_such_name),
        (r"tf\.compat\.v1\.data\.no_such_name is not available", lambda: tf.compat.v1.data.no_such_name),
    ):
        with pytest.raises(AttributeError, match=name):
            missing()


def test_importing_a_missing_v1_name_raises_the_same_message() -> None:
    with pytest.raises(ImportError, match=r"tf\.compat\.v1\.GraphKeys is not available"):
        from unisono.tf.compat.v1 import GraphKeys  # noqa: F401
    from unisono.tf.compat.v1 import keras as keras_of_first

    assert keras_of_first is tf.keras


def test_logging_uses_one_logger(caplog: pytest.LogCaptureFixture) -> None:
    before = tf.get_logger().level
    try:
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.WARN)
        assert tf.compat.v1.logging.get_verbosity() == logging.WARNING
        tf.compat.v1.logging.info("not shown")
        tf.compat.v1.logging.debug("not shown")
        tf.compat.v1.logging.warning("one %d", 1)
        tf.compat.v1.logging.warn("two")
        tf.compat.v1.logging.error("three")
        tf.compat.v1.logging.fatal("four")
        tf.compat.v1.logging.log(tf.compat.v1.logging.ERROR, "five")
    finally:
        tf.get_logger().setLevel(before)
    assert [record.getMessage() for record in caplog.records] == ["one 1", "two", "three", "four", "five"]
    assert tf.compat.v1.logging.DEBUG < tf.compat.v1.logging.INFO < tf.compat.v1.logging.FATAL


def test_executing_eagerly_is_false_while_tracing() -> None:
    seen = []

    def look(x: jax.Array) -> jax.Array:
        seen.append((tf.executing_eagerly(), tf.inside_function(), tf.get_static_value(x)))
        with tf.init_scope():
            seen.append(tf.executing_eagerly())
        return x

    assert tf.executing_eagerly()
    assert not tf.inside_function()
    jax.jit(look)(jax.numpy.float32(2.0))
    assert seen == [(False, True, None), True]
    assert tf.get_static_value(tf.constant(3)) == 3
    assert tf.get_static_value(tf.Variable(2.0)) == 2.0


def test_graph_construction_functions_have_no_effect() -> None:
    with tf.control_dependencies([tf.constant(1)]):
        assert tf.group(tf.constant(1), name="g") is None
    assert tf.no_op() is None
    with tf.name_scope("encoder") as scope:
        assert scope == "encoder/"
        variable = tf.Variable(1.0, name="w")
    assert variable.path == "encoder/w"


def test_versions_and_builds() -> None:
    assert tf.__version__ == tf.version.VERSION
    assert "unisono" in tf.version.GIT_VERSION
    assert tf.version.COMPILER_VERSION == "XLA"
    build = tf.sysconfig.get_build_info()
    assert build["is_cuda_build"] == tf.test.is_built_with_cuda()
    assert build["is_rocm_build"] == tf.test.is_built_with_rocm()
    for unsupported in (
        tf.sysconfig.get_include,
        tf.sysconfig.get_lib,
        tf.sysconfig.get_compile_flags,
        tf.sysconfig.get_link_flags,
    ):
        with pytest.raises(NotImplementedError, match=r"jax\.ffi"):
            unsupported()


def test_tf_test_reports_devices_and_builds() -> None:
    assert tf.test.is_gpu_available() == bool(tf.config.list_physical_devices("GPU"))
    assert tf.test.gpu_device_name() in ("", "/device:GPU:0")
    assert tf.test.is_built_with_gpu_support() == (tf.test.is_built_with_cuda() or tf.test.is_built_with_rocm())
    assert tf.test.is_built_with_xla()
    assert tf.test.is_cpu_target_available("x86_64")
    assert callable(tf.test.main)


def test_a_test_case_compares_arrays() -> None:
    case = tf.test.TestCase()
    case.assertAllEqual(tf.constant([1, 2]), [1, 2])
    case.assertAllClose({"a": tf.constant([1.0])}, {"a": [1.0 + 1e-7]})
    case.assertAllClose([tf.constant(1.0), tf.Variable(2.0)], [1, 2])
    case.assertNotAllEqual([1], [2])
    case.assertNotAllClose([1.0], [2.0])
    case.assertNear(1.0, 1.05, err=0.1)
    case.assertAllGreater([2, 3], 1)
    case.assertAllLess([2, 3], 4)
    case.assertAllGreaterEqual([2, 3], 2)
    case.assertAllLessEqual([2, 3], 3)
    case.assertAllInRange([2, 3], 2, 3)
    case.assertAllInSet([2, 3], {2, 3})
    case.assertShapeEqual(np.zeros(2), tf.constant([1, 2]))
    case.assertDTypeEqual(tf.constant([1.0]), tf.float32)
    case.assertLen([1], 1)
    case.assertEmpty([])
    with case.assertRaisesOpError("why"):
        raise tf.errors.InternalError(None, None, "why")
    assert case.evaluate({"a": tf.constant(3)}) == {"a": 3}
    assert pathlib.Path(case.get_temp_dir()).is_dir()
    case.doCleanups()
    for wrong in (
        lambda: case.assertAllEqual([1], [2]),
        lambda: case.assertAllClose([1.0], [1.1]),
        lambda: case.assertAllClose({"a": 1}, {"b": 1}),
        lambda: case.assertNotAllEqual([1], [1]),
        lambda: case.assertNotAllClose([1], [1]),
        lambda: case.assertAllInRange([2, 3], 2, 3, open_upper_bound=True),
        lambda: case.assertAllGreater([1], 1),
        lambda: case.assertDTypeEqual([1.0], tf.int32),
    ):
        with pytest.raises(AssertionError):
            wrong()
    for unsupported in (case.session, case.cached_session):
        with pytest.raises(NotImplementedError, match="no sessions"):
            unsupported()


def test_experimental_names() -> None:
    assert tf.experimental.numpy.arange(3).sum().numpy() == 3
    tf.experimental.numpy.experimental_enable_numpy_behavior()
    with pytest.raises(AttributeError, match="is not available"):
        _ = tf.experimental.numpy.no_such_name
    array = tf.experimental.dlpack.from_dlpack(np.arange(3.0, dtype=np.float32))
    assert array.numpy().tolist() == [0.0, 1.0, 2.0]
    assert "dltensor" in repr(tf.experimental.dlpack.to_dlpack(array))
    with pytest.raises(TypeError, match="not its capsule"):
        tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(array))
    with tf.experimental.async_scope(), tf.experimental.function_executor_type("SINGLE_THREADED_EXECUTOR"):
        tf.experimental.async_clear_error()
    tf.experimental.enable_strict_mode()


def test_types_for_annotations() -> None:
    double = tf.function(lambda x: 2 * x)
    assert isinstance(double, tf.types.experimental.GenericFunction)
    assert isinstance(double, tf.types.experimental.PolymorphicFunction)
    assert isinstance(double, tf.types.experimental.Callable)
    concrete = double.get_concrete_function(tf.TensorSpec([], tf.float32))
    assert isinstance(concrete, tf.types.experimental.ConcreteFunction)
    assert tf.types.experimental.TensorLike is not None


def test_device_assignments_and_tpu_embeddings_are_not_supported() -> None:
    assert tf.tpu.experimental.DeviceAssignment.build(None, computation_shape=[1, 1, 1, 1], num_replicas=8) is None
    with pytest.raises(NotImplementedError, match="computation_shape="):
        tf.tpu.experimental.DeviceAssignment.build(None, computation_shape=[1, 1, 1, 2])
    with pytest.raises(NotImplementedError, match=r"Leave the\sassignment"):
        tf.tpu.experimental.DeviceAssignment(None, None)
    assert tf.tpu.experimental.DeviceOrderMode.RING.name == "RING"
    assert tf.tpu.experimental.TPUSystemMetadata(8, 1, 8, None, ()).num_cores == 8
    for unsupported in (
        tf.tpu.experimental.embedding.TableConfig,
        tf.tpu.experimental.embedding.FeatureConfig,
        tf.tpu.experimental.embedding.TPUEmbedding,
        tf.tpu.experimental.embedding.SGD,
    ):
        with pytest.raises(NotImplementedError, match=r"tf\.keras\.layers\.Embedding"):
            unsupported()
    for unsupported in (tf.tpu.experimental.Topology, tf.tpu.experimental.HardwareFeature):
        with pytest.raises(NotImplementedError, match=r"jax\.devices"):
            unsupported()
