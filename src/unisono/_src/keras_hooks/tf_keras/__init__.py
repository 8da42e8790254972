"""Hooks for scripts that were written for tf.keras, that is Keras 2: installed by `unisono.tf`, never by the core."""

from unisono._src.keras_hooks.tf_keras._building import build_by_calling
from unisono._src.keras_hooks.tf_keras._callbacks import install_callback_names
from unisono._src.keras_hooks.tf_keras._compile import (
    accept_auto_reduction, accept_flat_targets, accept_keras2_compile_arguments, accept_named_sample_weights,
    cast_without_warnings,
)
from unisono._src.keras_hooks.tf_keras._datasets import prefer_local_datasets
from unisono._src.keras_hooks.tf_keras._files import export_without_tensorflow, install_file_formats, save_model
from unisono._src.keras_hooks.tf_keras._layer_arguments import (
    accept_array_sizes, accept_lists_in_models, accept_old_names,
)
from unisono._src.keras_hooks.tf_keras._layers import accept_positional_training, carry_rnn_states, install_layer_names
from unisono._src.keras_hooks.tf_keras._metrics import install_metric_names
from unisono._src.keras_hooks.tf_keras._models import install_model_names
from unisono._src.keras_hooks.tf_keras._optimizers import install_optimizer_names
from unisono._src.keras_hooks.tf_keras._shapes import accept_input_shapes, install_tensor_shapes
from unisono._src.keras_hooks.tf_keras._variables import (
    install_variable_methods, install_variable_parts, replace_public_names,
)
