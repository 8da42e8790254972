"""Hooks for scripts that were written for tf.keras, that is Keras 2: installed by `unisono.tf`, never by the core."""

from unisono._src.keras_hooks.tf_keras._building import install_build_by_calling
from unisono._src.keras_hooks.tf_keras._callbacks import install_callback_names
from unisono._src.keras_hooks.tf_keras._compile import (
    install_auto_reduction, install_flat_targets, install_keras2_compile_arguments, install_named_sample_weights,
    install_casts_without_warnings,
)
from unisono._src.keras_hooks.tf_keras._datasets import install_local_datasets
from unisono._src.keras_hooks.tf_keras._files import install_export, install_file_formats, save_model
from unisono._src.keras_hooks.tf_keras._layer_arguments import (
    install_array_sizes, install_list_operands_in_models, install_positional_names,
)
from unisono._src.keras_hooks.tf_keras._layers import (
    install_layer_names, install_positional_training, install_rnn_state_carryover,
)
from unisono._src.keras_hooks.tf_keras._metrics import install_metric_names
from unisono._src.keras_hooks.tf_keras._models import install_model_names
from unisono._src.keras_hooks.tf_keras._optimizers import install_optimizer_names
from unisono._src.keras_hooks.tf_keras._shapes import install_input_shapes, install_tensor_shapes
from unisono._src.keras_hooks.tf_keras._variables import (
    install_dtype_names, install_variable_methods, install_variable_parts, replace_public_names,
)
