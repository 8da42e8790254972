"""The private modules of `tensorflow.python.keras`, with the public modules that have their names."""

from __future__ import annotations

from typing import Final

_LAYERS: Final = """advanced_activations convolutional convolutional_recurrent core cudnn_recurrent dense_attention
einsum_dense embeddings local merge multi_head_attention noise normalization normalization_v2 ops.core pooling
preprocessing.image_preprocessing preprocessing.normalization preprocessing.text_vectorization recurrent recurrent_v2
rnn_cell_wrapper_v2 wrappers"""
_APPLICATIONS: Final = """densenet efficientnet imagenet_utils inception_resnet_v2 inception_v3 mobilenet mobilenet_v2
mobilenet_v3 nasnet resnet resnet50 resnet_v2 vgg16 vgg19 xception"""
_DATASETS: Final = "boston_housing cifar10 cifar100 fashion_mnist imdb mnist reuters"
_OPTIMIZERS: Final = """adadelta adagrad adam adamax ftrl gradient_descent learning_rate_schedule nadam optimizer_v2
rmsprop"""
_SAME: Final = "activations callbacks constraints initializers losses metrics models regularizers"

KERAS_MODULES: Final[dict[str, str]] = {
    "keras": "tf.keras",
    **{f"keras.{name}": f"tf.keras.{name}" for name in _SAME.split()},
    "keras.api": "tf.keras",
    "keras.api._v2": "tf",
    "keras.applications": "tf.keras.applications",
    **{f"keras.applications.{name}": f"tf.keras.applications.{name}" for name in _APPLICATIONS.split()},
    "keras.backend": "tf.keras.backend",
    "keras.backend_config": "tf.keras.backend",
    "keras.callbacks_v1": "tf.keras.callbacks",
    "keras.datasets": "tf.keras.datasets",
    **{f"keras.datasets.{name}": f"tf.keras.datasets.{name}" for name in _DATASETS.split()},
    "keras.distribute.distributed_training_utils": "tf.keras",
    "keras.engine": "tf.keras",
    "keras.engine.base_layer": "tf.keras.layers",
    "keras.engine.base_layer_utils": "tf.keras.layers",
    "keras.engine.base_preprocessing_layer": "tf.keras.layers",
    "keras.engine.data_adapter": "tf.keras.utils",
    "keras.engine.functional": "tf.keras Functional=tf.keras.Model",
    "keras.engine.input_layer": "tf.keras.layers tf.keras",
    "keras.engine.input_spec": "tf.keras.layers",
    "keras.engine.keras_tensor": "tf.keras",
    "keras.engine.network": "tf.keras Network=tf.keras.Model",
    "keras.engine.sequential": "tf.keras",
    "keras.engine.topology": "tf.keras tf.keras.layers",
    "keras.engine.training": "tf.keras",
    "keras.engine.training_v1": "tf.keras",
    "keras.initializers.initializers_v1": "tf.keras.initializers",
    "keras.initializers.initializers_v2": "tf.keras.initializers",
    "keras.layers": "tf.keras.layers BatchNormalizationV1=tf.keras.layers.BatchNormalization "
    "BatchNormalizationV2=tf.keras.layers.BatchNormalization",
    **{f"keras.layers.{name}": "tf.keras.layers" for name in _LAYERS.split()},
    "keras.losses": "tf.keras.losses LossFunctionWrapper=tf.keras.losses.Loss",
    "keras.mixed_precision": "tf.keras.mixed_precision",
    "keras.mixed_precision.loss_scale_optimizer": "tf.keras.mixed_precision",
    "keras.mixed_precision.policy": "tf.keras.mixed_precision",
    "keras.models": "tf.keras.models tf.keras",
    "keras.optimizer_v2": "tf.keras.optimizers",
    **{f"keras.optimizer_v2.{name}": "tf.keras.optimizers" for name in _OPTIMIZERS.split()},
    "keras.optimizer_v2.gradient_descent": "tf.keras.optimizers",
    "keras.optimizer_v2.learning_rate_schedule": "tf.keras.optimizers.schedules",
    "keras.optimizer_v2.optimizer_v2": "tf.keras.optimizers OptimizerV2=tf.keras.optimizers.Optimizer",
    "keras.optimizers": "tf.keras.optimizers",
    "keras.preprocessing": "tf.keras.preprocessing",
    "keras.preprocessing.dataset_utils": "tf.keras.utils",
    "keras.preprocessing.image": "tf.keras.preprocessing.image",
    "keras.preprocessing.image_dataset": "tf.keras.utils",
    "keras.preprocessing.sequence": "tf.keras.preprocessing.sequence",
    "keras.preprocessing.text": "tf.keras.preprocessing.text",
    "keras.preprocessing.text_dataset": "tf.keras.utils",
    "keras.preprocessing.timeseries": "tf.keras.utils",
    "keras.saving": "tf.keras.saving tf.keras.models",
    "keras.saving.model_config": "tf.keras.models",
    "keras.saving.save": "tf.keras.models",
    "keras.utils": "tf.keras.utils",
    "keras.utils.all_utils": "tf.keras.utils",
    "keras.utils.conv_utils": "._conv_utils",
    "keras.utils.data_utils": "tf.keras.utils",
    "keras.utils.generic_utils": "tf.keras.utils",
    "keras.utils.io_utils": "tf.keras.utils",
    "keras.utils.layer_utils": "tf.keras.utils",
    "keras.utils.losses_utils": "tf.keras.losses ReductionV2=tf.keras.losses.Reduction",
    "keras.utils.multi_gpu_utils": "tf.keras.utils",
    "keras.utils.np_utils": "tf.keras.utils",
    "keras.utils.tf_utils": "._private_functions tf",
    "keras.utils.vis_utils": "tf.keras.utils",
    "keras.wrappers": "tf.keras.wrappers",
}
