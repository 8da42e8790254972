"""`tensorflow.python` and `tensorflow.core`: what public scripts import from TensorFlow's private modules."""

import importlib
import sys

import jax
import keras
import numpy as np
import pytest

import unisono.tf as tf
from unisono._src.tf_check._verdicts import assess_name
from unisono.tf._private_modules import PrivateModule

# A private name, and the public object.
SAME = [
    ("python.keras.layers.Dense", keras.layers.Dense),
    ("python.keras.layers.core.Dense", keras.layers.Dense),
    ("python.keras.layers.convolutional.Conv2D", keras.layers.Conv2D),
    ("python.keras.models.Sequential", keras.Sequential),
    ("python.keras.models.load_model", tf.keras.models.load_model),
    ("python.keras.engine.training.Model", keras.Model),
    ("python.keras.engine.base_layer.Layer", keras.layers.Layer),
    ("python.keras.engine.functional.Functional", keras.Model),
    ("python.keras.optimizers.Adam", keras.optimizers.Adam),
    ("python.keras.optimizer_v2.adam.Adam", keras.optimizers.Adam),
    ("python.keras.optimizer_v2.optimizer_v2.OptimizerV2", keras.optimizers.Optimizer),
    ("python.keras.optimizer_v2.learning_rate_schedule.ExponentialDecay", keras.optimizers.schedules.ExponentialDecay),
    ("python.keras.backend.epsilon", keras.backend.epsilon),
    ("python.keras.backend.int_shape", tf.keras.backend.int_shape),
    ("python.keras.callbacks.EarlyStopping", keras.callbacks.EarlyStopping),
    ("python.keras.losses.mean_squared_error", keras.losses.mean_squared_error),
    ("python.keras.metrics.AUC", keras.metrics.AUC),
    ("python.keras.utils.to_categorical", keras.utils.to_categorical),
    ("python.keras.utils.np_utils.to_categorical", keras.utils.to_categorical),
    ("python.keras.utils.data_utils.Sequence", keras.utils.Sequence),
    ("python.keras.utils.losses_utils.ReductionV2", tf.keras.losses.Reduction),
    ("python.keras.datasets.mnist.load_data", tf.keras.datasets.mnist.load_data),
    ("python.keras.preprocessing.image.ImageDataGenerator", tf.keras.preprocessing.image.ImageDataGenerator),
    ("python.keras.preprocessing.sequence.pad_sequences", keras.preprocessing.sequence.pad_sequences),
    ("python.keras.preprocessing.text.Tokenizer", tf.keras.preprocessing.text.Tokenizer),
    ("python.keras.applications.resnet50.preprocess_input", keras.applications.resnet50.preprocess_input),
    ("python.keras.regularizers.l2", keras.regularizers.l2),
    ("python.keras.initializers.HeNormal", keras.initializers.HeNormal),
    ("python.framework.ops.convert_to_tensor", tf.convert_to_tensor),
    ("python.framework.ops.EagerTensor", tf.Tensor),
    ("python.framework.ops.disable_eager_execution", tf.compat.v1.disable_eager_execution),
    ("python.framework.dtypes.float32", tf.float32),
    ("python.framework.tensor_shape.TensorShape", tf.TensorShape),
    ("python.framework.tensor_spec.TensorSpec", tf.TensorSpec),
    ("python.framework.tensor_util.is_tensor", tf.is_tensor),
    ("python.framework.constant_op.constant", tf.constant),
    ("python.framework.errors.InvalidArgumentError", tf.errors.InvalidArgumentError),
    ("python.framework.errors_impl.OutOfRangeError", tf.errors.OutOfRangeError),
    ("python.framework.random_seed.set_random_seed", tf.compat.v1.set_random_seed),
    ("python.framework.test_util.TensorFlowTestCase", tf.test.TestCase),
    ("python.ops.math_ops.cumprod", tf.math.cumprod),
    ("python.ops.math_ops.matmul", tf.matmul),
    ("python.ops.array_ops.expand_dims", tf.expand_dims),
    ("python.ops.nn_ops.softmax", tf.nn.softmax),
    ("python.ops.nn.relu", tf.nn.relu),
    ("python.ops.gen_math_ops.add", tf.add),
    ("python.ops.variables.Variable", tf.Variable),
    ("python.ops.resource_variable_ops.ResourceVariable", tf.Variable),
    ("python.ops.variable_scope.get_variable", tf.compat.v1.get_variable),
    ("python.ops.control_flow_ops.group", tf.group),
    ("python.ops.random_ops.random_normal", tf.random.normal),
    ("python.ops.init_ops.truncated_normal_initializer", tf.compat.v1.truncated_normal_initializer),
    ("python.ops.init_ops_v2.Zeros", keras.initializers.Zeros),
    ("python.ops.numpy_ops.np_config.enable_numpy_behavior", tf.experimental.numpy.experimental_enable_numpy_behavior),
    ("python.eager.context.executing_eagerly", tf.executing_eagerly),
    ("python.eager.backprop.GradientTape", tf.GradientTape),
    ("python.eager.def_function.function", tf.function),
    ("python.data.ops.dataset_ops.DatasetV2", tf.data.Dataset),
    ("python.data.ops.readers.TFRecordDatasetV2", tf.data.TFRecordDataset),
    ("python.distribute.mirrored_strategy.MirroredStrategy", tf.distribute.MirroredStrategy),
    ("python.distribute.distribution_strategy_context.get_replica_context", tf.distribute.get_replica_context),
    ("python.platform.tf_logging.info", tf.compat.v1.logging.info),
    ("python.platform.gfile.GFile", tf.io.gfile.GFile),
    ("python.lib.io.file_io.FileIO", tf.io.gfile.GFile),
    ("python.lib.io.tf_record.TFRecordWriter", tf.io.TFRecordWriter),
    ("python.training.adam.AdamOptimizer", tf.compat.v1.train.AdamOptimizer),
    ("python.training.tracking.tracking.AutoTrackable", tf.Module),
    ("python.trackable.autotrackable.AutoTrackable", tf.Module),
    ("python.util.nest.flatten", tf.nest.flatten),
    ("python.util.compat.as_bytes", tf.compat.as_bytes),
    ("python.summary.summary_iterator.summary_iterator", tf.compat.v1.train.summary_iterator),
    ("python.module.module.Module", tf.Module),
    ("python.ops.gen_audio_ops.decode_wav", tf.audio.decode_wav),
    ("python.ops.ragged.ragged_tensor.RaggedTensor", tf.RaggedTensor),
    ("python.keras.api._v2.keras", tf.keras),
    ("_api.v2.image", tf.image),
    ("_api.v2.v2.constant", tf.constant),
    ("core.example.example_pb2.Example", tf.train.Example),
    ("core.example.feature_pb2.Int64List", tf.train.Int64List),
    ("core.protobuf.config_pb2.ConfigProto", tf.compat.v1.ConfigProto),
]


@pytest.mark.parametrize(("name", "public"), SAME, ids=[name for name, _ in SAME])
def test_a_private_name_is_the_public_object(name: str, public: object) -> None:
    module, _, last = f"unisono.tf.{name}".rpartition(".")
    assert getattr(importlib.import_module(module), last) is public
    assert assess_name(f"tf.{name}").status in ("supported", "differs")


def test_what_the_tables_refer_to_exists() -> None:
    modules = [module for module in sys.modules.values() if isinstance(module, PrivateModule)]
    assert len(modules) > 200
    for module in modules:
        for source in module._sources:
            importlib.import_module(source)
        for name in module._renamed:
            assert getattr(module, name) is not None


def test_the_forms_of_import() -> None:
    from unisono.tf.python.keras.layers import Conv2D
    from unisono.tf.python.ops import array_ops, math_ops

    names: dict[str, object] = {}
    exec("from unisono.tf.python.keras.layers import *", names)
    assert names["Conv2D"] is Conv2D is keras.layers.Conv2D
    assert tf.python.ops.math_ops is math_ops
    assert array_ops.reshape is tf.reshape


def test_devices_have_names_types_and_memory() -> None:
    from unisono.tf.python.client import device_lib

    found = device_lib.list_local_devices()
    cpus = [device for device in found if device.device_type == "CPU"]
    assert len(cpus) == len(jax.local_devices(backend="cpu"))
    assert cpus[0].name == "/device:CPU:0"
    assert cpus[0].memory_limit > 2**20
    assert cpus[0].physical_device_desc == ""
    gpus = [device.name for device in found if device.device_type == "GPU"]
    assert len(gpus) == len(tf.config.list_physical_devices("GPU"))


def test_names_without_a_public_one_say_that_they_are_private() -> None:
    with pytest.raises(AttributeError, match=r"tf\.python\.ops\.math_ops\.nothing is not available: .*private"):
        _ = tf.python.ops.math_ops.nothing
    with pytest.raises(ImportError, match=r"tf\.python\.nothing is not available: .*private"):
        from unisono.tf.python import nothing  # noqa: F401
    assert "tf.train.load_checkpoint" in assess_name("tf.python.pywrap_tensorflow").text
    assert "cost_analysis" in assess_name("tf.python.profiler.model_analyzer.profile").text
    assert "load_data" in assess_name("tf.examples.tutorials.mnist.input_data").text


def test_decorators_of_private_modules_leave_functions_as_they_are() -> None:
    from unisono.tf.python.util import deprecation
    from unisono.tf.python.util.tf_export import keras_export, tf_export

    def function() -> int:
        return 3

    deprecation._PRINT_DEPRECATION_WARNINGS = False
    assert deprecation.deprecated("2030-01-01", "Use another.")(function) is function
    assert deprecation.deprecated_args("2030-01-01", "Use another.", "x")(function) is function
    assert tf_export("tf.function")(function) is function
    assert keras_export("keras.function")(function) is function
    assert tf.python.framework.test_util.run_in_graph_and_eager_modes(function) is function
    assert tf.python.framework.test_util.run_v2_only()(function) is function
    assert tf.python.tf2.enabled()
    assert deprecation.deprecated_argument_lookup("axis", None, "dim", 2) == 2
    with pytest.raises(ValueError, match="Pass only 'axis'"):
        deprecation.deprecated_argument_lookup("axis", 1, "dim", 2)


def test_sizes_of_convolutions_are_those_that_keras_makes() -> None:
    from unisono.tf.python.keras.utils import conv_utils

    for padding in ("valid", "same"):
        for stride in (1, 2):
            shape = keras.layers.Conv1D(1, 3, stride, padding).compute_output_shape((1, 11, 1))
            assert conv_utils.conv_output_length(11, 3, padding, stride) == shape[1]
            shape = keras.layers.Conv1DTranspose(1, 3, stride, padding).compute_output_shape((1, 11, 1))
            assert conv_utils.deconv_output_length(11, 3, padding, stride=stride) == shape[1]
    assert conv_utils.normalize_tuple(3, 2, "kernel_size") == (3, 3)
    assert conv_utils.normalize_padding("SAME") == "same"
    assert conv_utils.normalize_data_format(None) == "channels_last"
    assert conv_utils.convert_data_format("channels_first", 4) == "NCHW"
    for wrong in (
        lambda: conv_utils.normalize_tuple((1, 2), 3, "strides"),
        lambda: conv_utils.normalize_padding("none"),
        lambda: conv_utils.normalize_data_format("NHWC"),
    ):
        with pytest.raises(ValueError, match="Expected"):
            wrong()


def test_functions_that_only_private_modules_have(tmp_path) -> None:
    from unisono.tf.python.framework.smart_cond import smart_cond
    from unisono.tf.python.lib.io import file_io
    from unisono.tf.python.training import moving_averages

    assert smart_cond(True, lambda: 1, lambda: 2) == 1
    assert int(tf.function(lambda x: smart_cond(x > 0, lambda: x, lambda: -x))(tf.constant(-3))) == 3
    variable = tf.Variable([1.0, 2.0])
    moving_averages.assign_moving_average(variable, tf.constant([3.0, 2.0]), 0.75)
    np.testing.assert_allclose(variable.numpy(), [1.5, 2.0])
    file_io.write_string_to_file(str(tmp_path / "a.txt"), "text")
    assert file_io.read_file_to_string(str(tmp_path / "a.txt")) == "text"
    assert file_io.file_exists(str(tmp_path / "a.txt"))
