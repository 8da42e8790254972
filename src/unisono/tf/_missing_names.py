"""Names of TensorFlow that the namespace lacks, with what to use instead.

A key is a name, or a module for everything in it. Names of `tf.compat.v1` are listed without `compat.v1`. The advice
follows "tf.name is not available: ".
"""

from __future__ import annotations

from typing import Final

_PENALTIES: Final = "use tf.keras.optimizers.Ftrl, which has L1 and L2 penalties and a learning rate per weight, too."
_GRAPHS: Final = "there are no graphs and sessions; put `@tf.function` on a Python function, and call it with arrays."
_VARIABLES: Final = "create variables with tf.Variable or in a layer; they have a value as soon as they exist."
_GLOBAL_STEP: Final = "count steps in a tf.Variable, or read `optimizer.iterations`."
_COLLECTIONS: Final = (
    "there are no collections; models have their variables: `model.trainable_variables`, `model.losses`."
)
_OLD_LAYERS: Final = "use the layers of tf.keras.layers: tf.keras.layers.Dense(10)(x)."
_OLD_INPUT: Final = (
    "queues and readers belong to TensorFlow 1; read files with tf.data.Dataset and tf.data.TFRecordDataset."
)
_HOOKS: Final = "hooks belong to sessions; use tf.keras.callbacks.Callback with model.fit, or call from your loop."
_RNN: Final = "use tf.keras.layers.RNN with a cell of tf.keras.layers, or tf.keras.layers.LSTM."
PRIVATE: Final = "it is private to TensorFlow; use the public name of what you import from there."
PRIVATE_MODULES: Final = ("tf.python", "tf.core", "tf.compiler", "tf.tsl", "tf.tools", "tf.include")
_PREMADE: Final = "write the model with tf.keras.Sequential or tf.keras.Model."
_LOCAL: Final = "Keras 3 dropped it; use tf.keras.layers.Conv2D, or a custom layer with tf.image.extract_patches."
_SIDECAR: Final = (
    "evaluate during training, model.fit(validation_data=...), or in a separate process over "
    "tf.train.checkpoints_iterator."
)
_PARAMETER_SERVERS: Final = (
    "belongs to TensorFlow 1's parameter servers; use tf.distribute.ParameterServerStrategy "
    "(docs/parameter-servers.md), or tf.distribute.MultiWorkerMirroredStrategy() in every process, started by "
    "`unisono run -n 4 script.py`."
)
_ALL_REDUCE: Final = "XLA chooses the all-reduce between devices; a custom implementation is never called."
_TPU_TOPOLOGY: Final = "JAX finds the TPUs of the machine; jax.devices() lists them with their coordinates."
_DTENSOR: Final = (
    "strategies such as tf.distribute.MirroredStrategy() decide how arrays are laid out; for custom layouts use "
    "jax.sharding and keras.distribution."
)
_QUANTIZED: Final = "there is no quantized arithmetic here; Keras has model.quantize('int8')."
_COMPILER: Final = (
    "everything is compiled by XLA already, through JAX; jax.jit(f).lower(x).as_text() shows the program."
)
_ESTIMATOR: Final = (
    "TensorFlow 2.16 removed estimators, too; write a Keras model and use model.fit under "
    "tf.distribute.MirroredStrategy() or tf.distribute.MultiWorkerMirroredStrategy()."
)
_FEATURE_COLUMNS: Final = (
    "use the preprocessing layers of Keras: tf.keras.layers.Normalization, tf.keras.layers.StringLookup, "
    "tf.keras.layers.CategoryEncoding, tf.keras.layers.Embedding."
)
_DISTRIBUTIONS: Final = "use tensorflow_probability.substrates.jax, or tf.random."
_FLOPS: Final = "graphs are not analyzed; jax.jit(f).lower(x).compile().cost_analysis()['flops'] counts the operations."
_FILES: Final = "read the files with tf.data.Dataset.list_files, tf.data.Dataset.map and tf.io.read_file."
_FLAGS: Final = "TensorFlow 2 removed it; use argparse, or the package absl (`from absl import app, flags`)."
_LOGGING: Final = "use tf.get_logger(), or Python's logging."
_LITE: Final = "only TensorFlow creates models for phones; save with model.save('model.keras') and convert it there."
_COLLECTIVE_V1: Final = (
    "use tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, value) inside strategy.run."
)
_V2_SWITCH: Final = "only TensorFlow 2's behaviour is implemented; remove the line and write the script for it."
_CONTROL_FLOW_SWITCH: Final = "there is only one control flow; remove the line."
_EMBEDDING: Final = "tables are ordinary variables; use tf.keras.layers.Embedding, which works under every strategy."
_PROTOS: Final = "there are no graphs and no protocol buffers of graphs; use tf.saved_model.save."
_SEQUENCES: Final = "use tf.train.SequenceExample.FromString in tf.numpy_function, or store Examples."
_PILLOW: Final = "convert the files to JPEG or PNG, or read them with Pillow in tf.numpy_function."
_PROTOBUF: Final = "use the package protobuf in tf.numpy_function."
_SERIALIZED: Final = "use tf.io.serialize_tensor for the indices and for the values."
_FOLDER: Final = "it names a part of TensorFlow's SavedModel folder; tf.saved_model.save writes a different format."
_VARIANTS: Final = "datasets are Python objects; pass them unchanged."
_NO_CPP: Final = "there is no C++ library of TensorFlow here."
_TRACES: Final = "functions are traced by JAX; there are no trace types."
_SUMMARY_V1: Final = "summaries are written immediately: tf.summary.create_file_writer(folder), then tf.summary.scalar."


def _optimizer(name: str) -> str:
    return f"use tf.keras.optimizers.{name}; its gradients come from tf.GradientTape."


MISSING_NAMES: Final[dict[str, str]] = {
    # Modules of TensorFlow 1 and older.
    "tf.app": _FLAGS,
    "tf.contrib": "TensorFlow 2 removed it; what was kept is in tf.keras.layers, tf.keras.optimizers and tf.data.",
    "tf.distributions": _DISTRIBUTIONS,
    "tf.estimator": _ESTIMATOR,
    "tf.examples": "TensorFlow 2 removed it; tf.keras.datasets.mnist.load_data() has the images and labels.",
    "tf.feature_column": _FEATURE_COLUMNS,
    "tf.flags": _FLAGS,
    "tf.gfile": "use tf.io.gfile, whose names are in lower case: tf.io.gfile.exists, tf.io.gfile.GFile.",
    "tf.graph_util": _GRAPHS,
    "tf.layers": _OLD_LAYERS,
    "tf.logging": _LOGGING,
    "tf.manip": "its functions are in tf itself: tf.reshape, tf.roll, tf.tile.",
    "tf.python.compiler": _COMPILER,
    "tf.python.debug": "use tf.debugging.enable_check_numerics(), or print values with tf.print.",
    "tf.python.estimator": _ESTIMATOR,
    "tf.python.feature_column": _FEATURE_COLUMNS,
    "tf.python.framework.convert_to_constants": _PROTOS,
    "tf.python.framework.graph_util": _GRAPHS,
    "tf.python.framework.importer": _PROTOS,
    "tf.python.keras.estimator": _ESTIMATOR,
    "tf.python.keras.feature_column": _FEATURE_COLUMNS,
    "tf.python.layers": _OLD_LAYERS,
    "tf.python.ops.distributions": _DISTRIBUTIONS,
    "tf.python.ops.rnn_cell": _RNN,
    "tf.python.ops.rnn_cell_impl": _RNN,
    "tf.python.pywrap_tensorflow": "read checkpoints with tf.train.load_checkpoint.",
    "tf.python.profiler.model_analyzer": _FLOPS,
    "tf.python.profiler.option_builder": _FLOPS,
    "tf.python.saved_model.builder": "use tf.saved_model.save.",
    "tf.python.saved_model.loader": "use tf.saved_model.load.",
    "tf.python.tools": _PROTOS,
    "tf.python.training.basic_session_run_hooks": _HOOKS,
    "tf.python.training.monitored_session": _GRAPHS,
    "tf.python.training.queue_runner": _OLD_INPUT,
    "tf.python.training.session_run_hook": _HOOKS,
    "tf.python_io": "use tf.io.TFRecordWriter, and tf.data.TFRecordDataset to read.",
    "tf.resource_loader": "use importlib.resources of Python.",
    "tf.spectral": "use tf.signal.",
    "tf.user_ops": "kernels of TensorFlow cannot be loaded; write the function with JAX.",
    # Whole modules of TensorFlow 2.
    "tf.dtensor": _DTENSOR,
    "tf.experimental.dtensor": _DTENSOR,
    "tf.experimental.tensorrt": "XLA compiles for the device in use.",
    "tf.lite": _LITE,
    "tf.mlir": _COMPILER,
    "tf.quantization": _QUANTIZED,
    "tf.queue": _OLD_INPUT,
    "tf.raw_ops": "TensorFlow's kernels are not included; use the function of tf, tf.math or tf.nn that calls it.",
    "tf.sets": "use Python's sets, or functions such as numpy.intersect1d on the host.",
    "tf.sparse.placeholder": _GRAPHS,
    "tf.types.experimental.distributed": "use isinstance(value, tf.distribute.DistributedValues).",
    "tf.xla": _COMPILER,
    # Kinds of tensors, and names that belong to graphs.
    "tf.AggregationMethod": "XLA adds up gradients; leave out the argument.",
    "tf.ConfigProto": "use tf.config.set_visible_devices and tf.config.experimental.set_memory_growth.",
    "tf.CriticalSection": "programs run one after the other; no lock is needed.",
    "tf.DeviceSpec": "write the device's name: '/gpu:0'.",
    "tf.Dimension": "dimensions are plain numbers: array.shape[0].",
    "tf.GPUOptions": "set memory with tf.config.experimental.set_memory_growth.",
    "tf.Graph": _GRAPHS,
    "tf.GraphDef": _PROTOS,
    "tf.GraphKeys": _COLLECTIONS,
    "tf.IndexedSlicesSpec": "gradients of embeddings are dense arrays.",
    "tf.InteractiveSession": _GRAPHS,
    "tf.MetaGraphDef": _PROTOS,
    "tf.NodeDef": _PROTOS,
    "tf.Operation": _GRAPHS,
    "tf.Print": "use tf.print.",
    "tf.RegisterGradient": "use tf.custom_gradient.",
    "tf.Session": _GRAPHS,
    "tf.SparseTensorValue": "use tf.SparseTensor.",
    "tf.add_to_collection": _COLLECTIONS,
    "tf.add_to_collections": _COLLECTIONS,
    "tf.all_variables": _COLLECTIONS,
    "tf.assign": "call the variable's method: variable.assign(value).",
    "tf.assign_add": "call the variable's method: variable.assign_add(value).",
    "tf.assign_sub": "call the variable's method: variable.assign_sub(value).",
    "tf.colocate_with": "XLA and the strategy place values; remove the line.",
    "tf.container": _GRAPHS,
    "tf.control_flow_v2_enabled": _CONTROL_FLOW_SWITCH,
    "tf.diag": "use tf.linalg.diag.",
    "tf.disable_control_flow_v2": _CONTROL_FLOW_SWITCH,
    "tf.disable_eager_execution": _V2_SWITCH,
    "tf.disable_resource_variables": _V2_SWITCH,
    "tf.disable_tensor_equality": _V2_SWITCH,
    "tf.disable_v2_behavior": _V2_SWITCH,
    "tf.disable_v2_tensorshape": _V2_SWITCH,
    "tf.div": "use tf.math.divide, or tf.math.floordiv for integers.",
    "tf.executing_eagerly_outside_functions": "use tf.executing_eagerly().",
    "tf.fixed_size_partitioner": _PARAMETER_SERVERS,
    "tf.get_collection": _COLLECTIONS,
    "tf.get_default_graph": _GRAPHS,
    "tf.get_default_session": _GRAPHS,
    "tf.get_local_variable": _VARIABLES,
    "tf.get_variable": _VARIABLES,
    "tf.get_variable_scope": _VARIABLES,
    "tf.global_norm": "use tf.linalg.global_norm.",
    "tf.global_variables": _COLLECTIONS,
    "tf.global_variables_initializer": _VARIABLES,
    "tf.gradients": "use tf.GradientTape: `with tf.GradientTape() as tape: loss = f(x)`, then tape.gradient(loss, x).",
    "tf.graph_def": _PROTOS,
    "tf.hessians": "use jax.hessian, or two tapes of tf.GradientTape.",
    "tf.import_graph_def": _PROTOS,
    "tf.initialize_all_variables": _VARIABLES,
    "tf.initialize_variables": _VARIABLES,
    "tf.is_variable_initialized": _VARIABLES,
    "tf.load_library": "kernels of TensorFlow cannot be loaded; write the function with JAX.",
    "tf.load_op_library": "kernels of TensorFlow cannot be loaded; write the function with JAX.",
    "tf.local_variables": _COLLECTIONS,
    "tf.local_variables_initializer": _VARIABLES,
    "tf.make_template": "use a layer of tf.keras.layers or a tf.Module.",
    "tf.min_max_variable_partitioner": _PARAMETER_SERVERS,
    "tf.model_variables": _COLLECTIONS,
    "tf.moving_average_variables": _COLLECTIONS,
    "tf.mul": "use tf.multiply.",
    "tf.multinomial": "use tf.random.categorical.",
    "tf.neg": "use tf.negative.",
    "tf.op_scope": "use tf.name_scope.",
    "tf.pack": "use tf.stack.",
    "tf.placeholder": _GRAPHS,
    "tf.placeholder_with_default": _GRAPHS,
    "tf.py_func": "use tf.py_function or tf.numpy_function.",
    "tf.report_uninitialized_variables": _VARIABLES,
    "tf.reset_default_graph": "there are no graphs; tf.keras.backend.clear_session() resets the names of layers.",
    "tf.select": "use tf.where.",
    "tf.set_random_seed": "use tf.random.set_seed.",
    "tf.strings.unicode_script": "use unicodedata.name(chr(code)), which begins with the name of the script.",
    "tf.string_to_hash_bucket": "use tf.strings.to_hash_bucket_fast.",
    "tf.sub": "use tf.subtract.",
    "tf.tables_initializer": "tables have their values as soon as they exist; remove the line.",
    "tf.to_double": "use tf.cast(x, tf.float64).",
    "tf.to_float": "use tf.cast(x, tf.float32).",
    "tf.to_int32": "use tf.cast(x, tf.int32).",
    "tf.to_int64": "use tf.cast(x, tf.int64).",
    "tf.trainable_variables": _COLLECTIONS,
    "tf.truncated_normal": "use tf.random.truncated_normal.",
    "tf.unpack": "use tf.unstack.",
    "tf.variable_axis_size_partitioner": _PARAMETER_SERVERS,
    "tf.variable_op_scope": _VARIABLES,
    "tf.variable_scope": _VARIABLES,
    "tf.variables_initializer": _VARIABLES,
    "tf.wrap_function": "use tf.function.",
    # tf.compat.v1's submodules.
    "tf.compat.v1.metrics": "use tf.keras.metrics.",
    "tf.compat.v1.saved_model.builder": "use tf.saved_model.save.",
    "tf.compat.v1.saved_model.load": "use tf.saved_model.load, without a session.",
    "tf.compat.v1.saved_model.loader": "use tf.saved_model.load.",
    "tf.compat.v1.saved_model.save": "use tf.saved_model.save.",
    "tf.compat.v1.saved_model.simple_save": "use tf.saved_model.save.",
    "tf.data.get_output_classes": "use dataset.element_spec.",
    "tf.data.get_output_shapes": "use dataset.element_spec.",
    "tf.data.get_output_types": "use dataset.element_spec.",
    "tf.data.make_initializable_iterator": "iterate over the dataset, or use iter(dataset).",
    "tf.distribute.get_loss_reduction": "reduce losses with strategy.reduce(tf.distribute.ReduceOp.SUM, loss, None).",
    "tf.image.resize_area": "use tf.image.resize.",
    "tf.image.resize_bicubic": "use tf.image.resize(images, size, method='bicubic').",
    "tf.image.resize_bilinear": "use tf.image.resize.",
    "tf.image.resize_images": "use tf.image.resize.",
    "tf.image.resize_nearest_neighbor": "use tf.image.resize(images, size, method='nearest').",
    "tf.io.tf_record_iterator": "iterate over tf.data.TFRecordDataset.",
    "tf.losses.absolute_difference": "use tf.keras.losses.MeanAbsoluteError.",
    "tf.losses.add_loss": _COLLECTIONS,
    "tf.losses.get_losses": _COLLECTIONS,
    "tf.losses.get_regularization_loss": "use tf.add_n(model.losses).",
    "tf.losses.get_regularization_losses": "use model.losses.",
    "tf.losses.get_total_loss": "add tf.add_n(model.losses) to the loss.",
    "tf.losses.huber_loss": "use tf.keras.losses.Huber.",
    "tf.losses.log_loss": "use tf.keras.losses.BinaryCrossentropy.",
    "tf.losses.sigmoid_cross_entropy": "use tf.keras.losses.BinaryCrossentropy(from_logits=True).",
    "tf.losses.softmax_cross_entropy": "use tf.keras.losses.CategoricalCrossentropy(from_logits=True).",
    "tf.losses.sparse_softmax_cross_entropy": "use tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True).",
    "tf.metrics.accuracy": "use tf.keras.metrics.Accuracy.",
    "tf.mixed_precision": "use tf.keras.mixed_precision.",
    "tf.nn.bidirectional_dynamic_rnn": _RNN,
    "tf.nn.dynamic_rnn": _RNN,
    "tf.nn.fused_batch_norm": "use tf.nn.batch_normalization, or tf.keras.layers.BatchNormalization.",
    "tf.nn.raw_rnn": _RNN,
    "tf.nn.rnn_cell": _RNN,
    "tf.nn.softmax_cross_entropy_with_logits_v2": "use tf.nn.softmax_cross_entropy_with_logits.",
    "tf.nn.static_rnn": _RNN,
    "tf.summary.FileWriter": _SUMMARY_V1,
    "tf.summary.merge": _SUMMARY_V1,
    "tf.summary.merge_all": _SUMMARY_V1,
    "tf.tpu.CrossShardOptimizer": "Keras optimizers add up gradients over the replicas of a strategy.",
    "tf.tpu.batch_parallel": "use tf.distribute.TPUStrategy and strategy.run.",
    "tf.tpu.cross_replica_sum": _COLLECTIVE_V1,
    "tf.tpu.experimental.AdagradParameters": _EMBEDDING,
    "tf.tpu.experimental.AdamParameters": _EMBEDDING,
    "tf.tpu.experimental.embedding_column": _EMBEDDING,
    "tf.tpu.experimental.shared_embedding_columns": _EMBEDDING,
    "tf.tpu.replicate": "use tf.distribute.TPUStrategy and strategy.run.",
    "tf.tpu.shard": "use tf.distribute.TPUStrategy and strategy.run.",
    "tf.train.AdadeltaOptimizer": _optimizer("Adadelta"),
    "tf.train.AdagradDAOptimizer": _PENALTIES,
    "tf.train.AdagradOptimizer": _optimizer("Adagrad"),
    "tf.train.AdamOptimizer": _optimizer("Adam"),
    "tf.train.CheckpointSaverHook": _HOOKS,
    "tf.train.FtrlOptimizer": _optimizer("Ftrl"),
    "tf.train.GradientDescentOptimizer": _optimizer("SGD"),
    "tf.train.LoggingTensorHook": _HOOKS,
    "tf.train.MomentumOptimizer": _optimizer("SGD(momentum=0.9)"),
    "tf.train.MonitoredSession": _GRAPHS,
    "tf.train.MonitoredTrainingSession": _GRAPHS,
    "tf.train.NanTensorHook": _HOOKS,
    "tf.train.ProximalAdagradOptimizer": _PENALTIES,
    "tf.train.ProximalGradientDescentOptimizer": (
        "use tf.keras.optimizers.SGD, and kernel_regularizer=tf.keras.regularizers.L1L2(...) in the layers."
    ),
    "tf.train.RMSPropOptimizer": _optimizer("RMSprop"),
    "tf.train.Saver": "use tf.train.Checkpoint and tf.train.CheckpointManager.",
    "tf.train.Scaffold": _GRAPHS,
    "tf.train.Server": _PARAMETER_SERVERS,
    "tf.train.SessionRunHook": _HOOKS,
    "tf.train.StopAtStepHook": _HOOKS,
    "tf.train.Supervisor": _GRAPHS,
    "tf.train.SyncReplicasOptimizer": _PARAMETER_SERVERS,
    "tf.train.batch": _OLD_INPUT,
    "tf.train.create_global_step": _GLOBAL_STEP,
    "tf.train.exponential_decay": "use tf.keras.optimizers.schedules.ExponentialDecay.",
    "tf.train.get_global_step": _GLOBAL_STEP,
    "tf.train.get_or_create_global_step": _GLOBAL_STEP,
    "tf.train.global_step": _GLOBAL_STEP,
    "tf.train.import_meta_graph": _PROTOS,
    "tf.train.piecewise_constant": "use tf.keras.optimizers.schedules.PiecewiseConstantDecay.",
    "tf.train.polynomial_decay": "use tf.keras.optimizers.schedules.PolynomialDecay.",
    "tf.train.queue_runner": _OLD_INPUT,
    "tf.train.replica_device_setter": _PARAMETER_SERVERS,
    "tf.train.shuffle_batch": _OLD_INPUT,
    "tf.train.start_queue_runners": _OLD_INPUT,
    "tf.train.string_input_producer": _OLD_INPUT,
    # Names of TensorFlow 2.
    "tf.compat.forward_compatibility_horizon": "there are no graphs that older versions would read; remove the line.",
    "tf.data.IteratorSpec": "iterators are not arguments of signatures; pass the dataset, or its element_spec.",
    "tf.data.experimental.DatasetInitializer": "fill tables from lists: tf.lookup.KeyValueTensorInitializer.",
    "tf.data.experimental.Reducer": "use tf.data.Dataset.reduce, or tf.data.Dataset.group_by_window.",
    "tf.data.experimental.SHARD_HINT": "use tf.data.Dataset.shard with the tf.distribute.InputContext of the worker.",
    "tf.data.experimental.ServiceOptions": "datasets are read by the processes that train; there is no data service.",
    "tf.data.experimental.SqlDataset": "read rows with Python's sqlite3 in tf.data.Dataset.from_generator.",
    "tf.data.experimental.distributed_save": "use tf.data.Dataset.save.",
    "tf.data.experimental.from_variant": _VARIANTS,
    "tf.data.experimental.get_model_proto": "dataset.explain() describes what runs where.",
    "tf.data.experimental.group_by_reducer": "use tf.data.Dataset.group_by_window, or tf.data.Dataset.reduce.",
    "tf.data.experimental.index_table_from_dataset": "use tf.keras.layers.StringLookup(vocabulary=...).",
    "tf.data.experimental.make_saveable_from_iterator": "pass the iterator itself to tf.train.Checkpoint.",
    "tf.data.experimental.pad_to_cardinality": "no padding is needed: the last batch may be smaller.",
    "tf.data.experimental.table_from_dataset": "use tf.lookup.StaticHashTable.",
    "tf.data.experimental.to_variant": _VARIANTS,
    "tf.distribute.CrossDeviceOps.batch_reduce_implementation": _ALL_REDUCE,
    "tf.distribute.CrossDeviceOps.broadcast_implementation": _ALL_REDUCE,
    "tf.distribute.CrossDeviceOps.reduce_implementation": _ALL_REDUCE,
    "tf.distribute.Strategy.make_experimental_numpy_dataset": "use tf.data.Dataset.from_tensor_slices.",
    "tf.distribute.cluster_resolver.TPUClusterResolver.set_tpu_topology": _TPU_TOPOLOGY,
    "tf.distribute.cluster_resolver.TPUClusterResolver.tpu_hardware_feature": _TPU_TOPOLOGY,
    "tf.experimental.StructuredTensor": "use dicts of tensors; a value of a dict may be a tf.RaggedTensor.",
    "tf.io.SparseFeature": "use tf.io.VarLenFeature for the indices and for the values.",
    "tf.io.decode_gif": "use tf.io.decode_image, which returns the first frame.",
    "tf.io.decode_json_example": _PROTOBUF,
    "tf.io.decode_jxl": _PILLOW,
    "tf.io.decode_proto": _PROTOBUF,
    "tf.io.decode_webp": _PILLOW,
    "tf.io.deserialize_many_sparse": _SERIALIZED,
    "tf.io.encode_proto": _PROTOBUF,
    "tf.io.match_filenames_once": "use tf.io.matching_files.",
    "tf.io.parse_sequence_example": _SEQUENCES,
    "tf.io.parse_single_sequence_example": _SEQUENCES,
    "tf.io.serialize_many_sparse": _SERIALIZED,
    "tf.io.serialize_sparse": _SERIALIZED,
    "tf.io.write_graph": "there are no graphs; use tf.saved_model.save.",
    "tf.keras.backend.ctc_label_dense_to_sparse": "tf.keras.backend.ctc_batch_cost takes dense labels.",
    "tf.keras.backend.experimental": "Keras 3 always uses random generators; remove the line.",
    "tf.keras.backend.local_conv1d": _LOCAL,
    "tf.keras.backend.local_conv2d": _LOCAL,
    "tf.keras.backend.normalize_batch_in_training": "use tf.nn.moments and tf.nn.batch_normalization.",
    "tf.keras.dtensor": _DTENSOR,
    "tf.keras.estimator": _ESTIMATOR,
    "tf.keras.experimental.LinearModel": _PREMADE,
    "tf.keras.experimental.PeepholeLSTMCell": "use tf.keras.layers.LSTMCell.",
    "tf.keras.experimental.SequenceFeatures": _FEATURE_COLUMNS,
    "tf.keras.experimental.SidecarEvaluator": _SIDECAR,
    "tf.keras.experimental.WideDeepModel": _PREMADE,
    "tf.keras.layers.AbstractRNNCell": "derive the cell from tf.keras.layers.Layer; it has `state_size`.",
    "tf.keras.layers.CuDNNGRU": "use tf.keras.layers.GRU, which is compiled for the device.",
    "tf.keras.layers.CuDNNLSTM": "use tf.keras.layers.LSTM, which is compiled for the device.",
    "tf.keras.layers.DenseFeatures": _FEATURE_COLUMNS,
    "tf.keras.layers.LocallyConnected1D": _LOCAL,
    "tf.keras.layers.LocallyConnected2D": _LOCAL,
    "tf.keras.layers.ThresholdedReLU": "use tf.keras.layers.Lambda(lambda x: x * tf.cast(x > 1.0, x.dtype)).",
    "tf.keras.layers.experimental.RandomFourierFeatures": "Keras 3 dropped it; write the layer: tf.cos(x @ w + b).",
    "tf.keras.metrics.MeanRelativeError": "use tf.keras.metrics.MeanAbsolutePercentageError.",
    "tf.keras.metrics.MeanTensor": "keep the sum in a custom subclass of tf.keras.metrics.Metric.",
    "tf.keras.metrics.SumOverBatchSize": "use tf.keras.metrics.Mean.",
    "tf.keras.premade": _PREMADE,
    "tf.keras.utils.SidecarEvaluator": _SIDECAR,
    "tf.keras.utils.multi_gpu_model": "create the model under `with tf.distribute.MirroredStrategy().scope():`.",
    "tf.keras.utils.warmstart_embedding_matrix": "build the matrix with NumPy, and pass it as weights=[matrix].",
    "tf.keras.wrappers.scikit_learn": "use keras.wrappers.SKLearnClassifier, or the package scikeras.",
    "tf.nn.RNNCellDeviceWrapper": _RNN,
    "tf.saved_model.ASSETS_DIRECTORY": _FOLDER,
    "tf.saved_model.ASSETS_KEY": _FOLDER,
    "tf.saved_model.Asset": "files are not copied into a SavedModel; keep them beside it.",
    "tf.saved_model.CLASSIFY_INPUTS": _FOLDER,
    "tf.saved_model.CLASSIFY_METHOD_NAME": _FOLDER,
    "tf.saved_model.CLASSIFY_OUTPUT_CLASSES": _FOLDER,
    "tf.saved_model.CLASSIFY_OUTPUT_SCORES": _FOLDER,
    "tf.saved_model.DEBUG_DIRECTORY": _FOLDER,
    "tf.saved_model.DEBUG_INFO_FILENAME_PB": _FOLDER,
    "tf.saved_model.REGRESS_INPUTS": _FOLDER,
    "tf.saved_model.REGRESS_METHOD_NAME": _FOLDER,
    "tf.saved_model.REGRESS_OUTPUTS": _FOLDER,
    "tf.saved_model.SAVED_MODEL_FILENAME_PB": _FOLDER,
    "tf.saved_model.SAVED_MODEL_FILENAME_PBTXT": _FOLDER,
    "tf.saved_model.SAVED_MODEL_SCHEMA_VERSION": _FOLDER,
    "tf.saved_model.VARIABLES_DIRECTORY": _FOLDER,
    "tf.saved_model.VARIABLES_FILENAME": _FOLDER,
    "tf.saved_model.experimental": "save with tf.saved_model.save.",
    "tf.summary.graph": "there are no graphs; tf.keras.callbacks.TensorBoard draws the layers of a model.",
    "tf.sysconfig.CXX11_ABI_FLAG": _NO_CPP,
    "tf.sysconfig.CXX_VERSION": _NO_CPP,
    "tf.sysconfig.MONOLITHIC_BUILD": _NO_CPP,
    "tf.test.assert_equal_graph_def": "there are no graphs to compare.",
    "tf.test.compute_gradient": "use jax.test_util.check_grads.",
    "tf.test.create_local_cluster": "`unisono run -n 2 script.py` starts workers on this machine.",
    "tf.test.disable_with_predicate": "use unittest.skipIf.",
    "tf.test.with_eager_op_as_function": "use tf.config.run_functions_eagerly.",
    "tf.tpu.XLAOptions": "leave the options out.",
    "tf.train.Coordinator": "use Python's threading.",
    "tf.types.experimental.AtomicFunction": _TRACES,
    "tf.types.experimental.FunctionType": _TRACES,
    "tf.types.experimental.SupportsTracingProtocol": _TRACES,
    "tf.types.experimental.TraceType": _TRACES,
}

# Names of Keras that raise when they are called: they need TensorFlow, or a package that Unisono does not require.
NEED_OTHER_PACKAGES: Final[dict[str, str]] = {
    "tf.keras.callbacks.OrbaxCheckpoint": "it needs orbax-checkpoint; use tf.keras.callbacks.BackupAndRestore.",
    "tf.keras.layers.TFSMLayer": "only TensorFlow runs its SavedModels; save the model with model.save('model.keras').",
}

MISSING_PACKAGES: Final[dict[str, str]] = {
    "tensorflow_addons": "it needs TensorFlow itself, and is no longer maintained; Keras 3 has much of it, such as "
    "tf.keras.optimizers.AdamW, tf.keras.losses.CategoricalFocalCrossentropy, tf.keras.metrics.F1Score, "
    "tf.keras.layers.GroupNormalization and tf.keras.layers.MultiHeadAttention.",
    "tensorflow_compression": "it needs TensorFlow itself.",
    "tensorflow_data_validation": "it needs TensorFlow itself.",
    "tensorflow_decision_forests": "it needs TensorFlow itself; use the package ydf, or scikit-learn.",
    "tensorflow_estimator": _ESTIMATOR,
    "tensorflow_federated": "it needs TensorFlow itself.",
    "tensorflow_gnn": "it needs TensorFlow itself; gather and sum along edges with tf.gather and "
    "tf.math.unsorted_segment_sum.",
    "tensorflow_hub": "it needs TensorFlow itself, whose SavedModels only TensorFlow runs; use tf.keras.applications, "
    "or models of keras_hub.",
    "tensorflow_io": "it needs TensorFlow itself; read such files in tf.data.Dataset.from_generator.",
    "tensorflow_lattice": "it needs TensorFlow itself.",
    "tensorflow_model_optimization": "it needs TensorFlow itself; Keras has model.quantize('int8').",
    "tensorflow_privacy": "it needs TensorFlow itself.",
    "tensorflow_probability": "install tensorflow-probability, and write `from tensorflow_probability.substrates "
    "import jax as tfp`, which has the same distributions, bijectors and samplers for JAX arrays.",
    "tensorflow_ranking": "it needs TensorFlow itself; the package keras_rs has losses and metrics for ranking.",
    "tensorflow_recommenders": "it needs TensorFlow itself; the package keras_rs has layers for recommenders.",
    "tensorflow_text": "it needs TensorFlow itself; use tf.keras.layers.TextVectorization, or tokenizers of keras_hub.",
    "tensorflow_transform": "it needs TensorFlow itself; use preprocessing layers of Keras and tf.data.Dataset.map.",
    "tensorflowjs": "it needs TensorFlow itself; save with model.save('model.keras') and convert it there.",
    "tf_agents": "it needs TensorFlow itself.",
    "tf_keras": "it is Keras 2 and needs TensorFlow itself; use tf.keras, which is Keras 3.",
    "tf_slim": "it needs TensorFlow itself; use tf.keras.layers.",
}


def advice_for(name: str) -> str | None:
    """The advice for the name, or for the module that contains it; None if there is none.

    >>> advice_for("tf.compat.v1.placeholder") == advice_for("tf.placeholder")
    True
    >>> advice_for("tf.math.sin") is None
    True
    """
    if name not in MISSING_NAMES:
        name = name.replace("tf.compat.v1.", "tf.").replace("tf.compat.v2.", "tf.")
    while name:
        if name in MISSING_NAMES:
            return MISSING_NAMES[name]
        name = name.rpartition(".")[0]
    return None


def advice_for_package(name: str) -> str | None:
    """The advice for a package of other people that needs TensorFlow, or for a name in it; None for other packages."""
    return MISSING_PACKAGES.get(name.partition(".")[0])
