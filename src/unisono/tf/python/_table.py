"""The private modules of `tensorflow.python`, with the public modules that have their names.

The operations of TensorFlow 1 are in many of them, so `tf.compat.v1` is asked last.
"""

from __future__ import annotations

from typing import Final

_OPERATIONS: Final = """array_ops bincount_ops bitwise_ops:tf.bitwise candidate_sampling_ops:tf.random,tf.nn
check_ops:tf.debugging clip_ops cond confusion_matrix:tf.math control_flow_assert control_flow_case control_flow_ops
control_flow_switch_case ctc_ops:tf.nn custom_gradient data_flow_ops embedding_ops:tf.nn functional_ops
gen_array_ops gen_audio_ops:tf.audio gen_image_ops:tf.image gen_io_ops:tf.io gen_linalg_ops:tf.linalg
gen_math_ops:tf.math gen_nn_ops:tf.nn gen_random_ops:tf.random gen_string_ops:tf.strings gradient_checker_v2:tf.test
gradients gradients_impl gradients_util histogram_ops image_ops:tf.image image_ops_impl:tf.image init_ops
init_ops_v2:tf.keras.initializers io_ops:tf.io linalg_ops:tf.linalg linalg_ops_impl:tf.linalg
linalg.linalg:tf.linalg linalg.linalg_impl:tf.linalg list_ops logging_ops lookup_ops:tf.lookup
losses.losses:tf.compat.v1.losses losses.losses_impl:tf.compat.v1.losses manip_ops map_fn math_ops:tf.math
math_ops_impl:tf.math nn:tf.nn nn_impl:tf.nn nn_ops:tf.nn numerics parallel_for.control_flow_ops parsing_ops:tf.io
partitioned_variables random_ops:tf.random random_ops_util:tf.random ref_variable rnn:tf.nn script_ops
signal.fft_ops:tf.signal signal.mel_ops:tf.signal signal.signal:tf.signal signal.spectral_ops:tf.signal
signal.window_ops:tf.signal sort_ops sparse_ops:tf.sparse special_math_ops:tf.math standard_ops state_ops
stateful_random_ops:tf.random stateless_random_ops:tf.random string_ops:tf.strings template tensor_array_ops
tensor_array_grad variable_scope variables while_loop"""
_RAGGED: Final = """ragged_array_ops ragged_concat_ops ragged_factory_ops ragged_functional_ops ragged_gather_ops
ragged_math_ops ragged_string_ops ragged_tensor ragged_tensor_shape ragged_util row_partition"""
_STRATEGIES: Final = """central_storage_strategy collective_all_reduce_strategy cross_device_ops device_util
distribute_config distribute_coordinator distribute_lib distribution_strategy_context input_lib mirrored_strategy
mirrored_variable multi_worker_util one_device_strategy parameter_server_strategy parameter_server_strategy_v2
packed_distributed_variable ps_values reduce_util strategy_combinations summary_op_util tpu_strategy tpu_values values
values_util"""
_RESOLVERS: Final = "cluster_resolver gce_cluster_resolver kubernetes_cluster_resolver slurm_cluster_resolver"
_TRAINERS: Final = """adadelta adagrad adam checkpoint_management checkpoint_utils coordinator ftrl gradient_descent
learning_rate_decay momentum optimizer py_checkpoint_reader rmsprop saver server_lib training training_util"""
_TRACKABLES: Final = "autotrackable base data_structures tracking util"
_TRACKABLE_NAMES: Final = (
    "tf.train AutoTrackable=tf.Module Trackable=tf.Module ListWrapper=builtins.list "
    "NoDependency=._private_functions.no_dependency"
)


def _operations() -> dict[str, str]:
    pairs = (word.partition(":") for word in _OPERATIONS.split())
    return {f"ops.{name}": f"{sources.replace(',', ' ')} tf tf.compat.v1" for name, _, sources in pairs}


MODULES: Final[dict[str, str]] = {
    "autograph": "tf.autograph",
    "autograph.core.config": "tf.autograph",
    "autograph.impl.api": "tf.autograph",
    "checkpoint.checkpoint": "tf.train",
    "checkpoint.checkpoint_management": "tf.train",
    "checkpoint.checkpoint_options": "tf.train",
    "client.device_lib": "._device_lib",
    "client.session": "tf.compat.v1",
    "compat": "tf.compat",
    "compat.v2_compat": "tf.compat.v1",
    "data": "tf.data",
    "data.experimental": "tf.data.experimental",
    "data.experimental.ops": "tf.data.experimental",
    "data.ops.dataset_ops": "tf.data tf.compat.v1.data DatasetV1=tf.data.Dataset DatasetV2=tf.data.Dataset",
    "data.ops.iterator_ops": "tf.data tf.compat.v1.data IteratorBase=tf.data.Iterator OwnedIterator=tf.data.Iterator",
    "data.ops.multi_device_iterator_ops": "tf.data",
    "data.ops.options": "tf.data",
    "data.ops.readers": "tf.data TFRecordDatasetV2=tf.data.TFRecordDataset TextLineDatasetV2=tf.data.TextLineDataset",
    "data.util.nest": "tf.nest",
    "data.util.structure": "tf TypeSpec=tf.TypeSpec",
    "distribute": "tf.distribute",
    **{f"distribute.{name}": "tf.distribute tf.distribute.experimental tf" for name in _STRATEGIES.split()},
    **{f"distribute.cluster_resolver.{name}": "tf.distribute.cluster_resolver" for name in _RESOLVERS.split()},
    "distribute.cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.tfconfig_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.cluster_resolver.tpu_cluster_resolver": "tf.distribute.cluster_resolver",
    "distribute.collective_util": "tf.distribute.experimental",
    "distribute.coordinator.cluster_coordinator": "tf.distribute.coordinator",
    "distribute.sharded_variable": "tf.distribute.experimental.partitioners",
    "eager.backprop": "tf",
    "eager.context": "tf ._private_functions",
    "eager.def_function": "tf",
    "eager.polymorphic_function.polymorphic_function": "tf",
    "eager.profiler": "tf.profiler.experimental",
    "framework.config": "tf.config tf.config.experimental",
    "framework.constant_op": "tf",
    "framework.device": "tf",
    "framework.dtypes": "tf.dtypes tf",
    "framework.errors": "tf.errors",
    "framework.errors_impl": "tf.errors",
    "framework.extension_type": "tf.experimental",
    "framework.function": "tf",
    "framework.indexed_slices": "tf",
    "framework.load_library": "tf",
    "framework.ops": "tf tf.compat.v1 EagerTensor=tf.Tensor",
    "framework.random_seed": "tf.compat.v1.random tf.random",
    "framework.smart_cond": "._private_functions",
    "framework.sparse_tensor": "tf",
    "framework.tensor": "tf",
    "framework.tensor_shape": "tf tf.compat.v1",
    "framework.tensor_spec": "tf",
    "framework.tensor_util": "tf ._private_functions constant_value=tf.get_static_value is_tensor=tf.is_tensor "
    "is_tf_type=tf.is_tensor MakeNdarray=tf.make_ndarray",
    "framework.test_util": "._decorators tf.test TensorFlowTestCase=tf.test.TestCase",
    "framework.type_spec": "tf",
    "framework.versions": "tf.version",
    "keras.engine.compile_utils": "tf.keras.metrics tf.keras.losses",
    "lib.io.file_io": "tf.io.gfile ._private_functions FileIO=tf.io.gfile.GFile create_dir=tf.io.gfile.mkdir "
    "delete_file=tf.io.gfile.remove delete_recursively=tf.io.gfile.rmtree file_exists=tf.io.gfile.exists "
    "get_matching_files=tf.io.gfile.glob is_directory=tf.io.gfile.isdir list_directory=tf.io.gfile.listdir "
    "recursive_create_dir=tf.io.gfile.makedirs",
    "lib.io.python_io": "tf.io tf.compat.v1.io",
    "lib.io.tf_record": "tf.io tf.compat.v1.io",
    "module.module": "tf",
    **_operations(),
    "ops.numpy_ops": "tf.experimental.numpy",
    "ops.numpy_ops.np_config": "tf.experimental.numpy "
    "enable_numpy_behavior=tf.experimental.numpy.experimental_enable_numpy_behavior",
    **{f"ops.ragged.{name}": "tf.ragged tf tf.strings" for name in _RAGGED.split()},
    "ops.resource_variable_ops": "tf tf.compat.v1 BaseResourceVariable=tf.Variable ResourceVariable=tf.Variable",
    "ops.summary_ops_v2": "tf.summary tf.summary.experimental",
    "ops.variables": "tf tf.compat.v1 RefVariable=tf.Variable VariableV1=tf.Variable VariableV2=tf.Variable",
    "platform.app": "tf.compat.v1.app",
    "platform.build_info": "._private_functions",
    "platform.flags": "tf.compat.v1.flags",
    "platform.gfile": "tf.compat.v1.gfile tf.io.gfile",
    "platform.googletest": "tf.test",
    "platform.sysconfig": "tf.sysconfig",
    "platform.test": "tf.test",
    "platform.tf_logging": "tf.compat.v1.logging",
    "profiler.profiler_v2": "tf.profiler.experimental",
    "profiler.trace": "tf.profiler.experimental",
    "saved_model.load": "tf.saved_model",
    "saved_model.save": "tf.saved_model",
    "saved_model.save_options": "tf.saved_model",
    "saved_model.signature_constants": "tf.compat.v1.saved_model.signature_constants",
    "saved_model.tag_constants": "tf.compat.v1.saved_model.tag_constants",
    "summary": "tf.summary",
    "summary.summary": "tf.compat.v1.summary",
    "summary.summary_iterator": "tf.compat.v1.train",
    "summary.writer.writer": "tf.compat.v1.summary",
    "tf2": "._private_functions",
    "tpu.device_assignment": "tf.tpu.experimental",
    "tpu.topology": "tf.tpu.experimental",
    "tpu.tpu_strategy_util": "tf.tpu.experimental",
    **{f"trackable.{name}": _TRACKABLE_NAMES for name in _TRACKABLES.split()},
    "training": "tf.train tf.compat.v1.train",
    **{f"training.{name}": "tf.train tf.compat.v1.train" for name in _TRAINERS.split()},
    "training.experimental.loss_scale": "tf.keras.mixed_precision",
    "training.moving_averages": "tf.train ._private_functions",
    **{f"training.tracking.{name}": _TRACKABLE_NAMES for name in _TRACKABLES.split()},
    "types.core": "tf.types.experimental",
    "util.compat": "tf.compat",
    "util.deprecation": "._decorators",
    "util.nest": "tf.nest",
    "util.tf_contextlib": "contextlib",
    "util.tf_export": "._decorators",
    "util.tf_inspect": "inspect",
}
