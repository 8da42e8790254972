"""Puts the hooks of `unisono.tf.keras` in place: Keras's classes accept what scripts for Keras 2 do with them."""

from __future__ import annotations

from typing import Any

from unisono._src import keras_hooks, parameter_servers, strategy, training
from unisono._src.keras_hooks import tf_keras
from unisono._src.tracing import control_flow
from unisono._src.tracing.tape import GradientTape
from unisono.tf._missing import MissingNameError
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec
from unisono.tf.keras._ownerless_models import adopt_ownerless_models
from unisono.tf.keras.utils.experimental import DatasetCreator


def install_hooks() -> None:
    """Called once, when `unisono.tf.keras` is imported."""
    tf_keras.install_tensor_shapes(TensorShape)
    tf_keras.install_auto_reduction()
    tf_keras.install_flat_targets()
    tf_keras.install_keras2_compile_arguments()
    tf_keras.install_named_sample_weights()
    tf_keras.install_casts_without_warnings()
    tf_keras.install_callback_names()
    keras_hooks.install_value_restoration()
    keras_hooks.install_training_inheritance()
    keras_hooks.install_explicit_training()
    tf_keras.install_rnn_state_carryover()
    keras_hooks.install_compiled_trainable_flags()
    tf_keras.install_input_shapes()
    tf_keras.install_array_sizes()
    tf_keras.install_positional_names()
    tf_keras.install_list_operands_in_models()
    tf_keras.install_positional_training()
    tf_keras.install_build_by_calling()
    tf_keras.install_layer_names(MissingNameError)
    tf_keras.install_metric_names()
    tf_keras.install_model_names(
        missing_name_error=MissingNameError,
        make_spec=TensorSpec,
        make_dataset=_make_dataset,
        get_strategy=_get_strategy,
    )
    tf_keras.install_optimizer_names(GradientTape)
    tf_keras.install_file_formats()
    adopt_ownerless_models()
    training.step_converter.set(control_flow.convert)


def _get_strategy(model: Any) -> Any:
    return keras_hooks.get_owner(model) or strategy.get_strategy()


def _make_dataset(model: Any, data: Any) -> Any:
    """The dataset that a DatasetCreator makes; anything else as it is."""
    if not isinstance(data, DatasetCreator):
        return data
    owner: Any = keras_hooks.get_owner(model)
    if owner is None:
        return data.dataset_fn(strategy.InputContext())

    def make() -> Any:
        return owner.distribute_datasets_from_function(data.dataset_fn, data.input_options)

    if isinstance(owner, parameter_servers.ParameterServerStrategy):
        return parameter_servers.ClusterCoordinator(owner).create_per_worker_dataset(make)
    return make()
