"""What happens when `unisono.tf.keras` is imported. Runs once, when this module is imported."""

from unisono._src import keras_hooks, training
from unisono._src.tracing import control_flow
from unisono.tf.keras import (
    _folders,
    _old_building,
    _old_callbacks,
    _old_calls,
    _old_layers,
    _old_metrics,
    _old_models,
    _old_optimizers,
    _old_shapes,
    _strays,
    _symbols,
)

_symbols.give_manners()
keras_hooks.accept_auto_reduction()
keras_hooks.accept_keras2_compile_arguments()
keras_hooks.accept_named_sample_weights()
keras_hooks.cast_without_warnings()
_old_callbacks.give_old_names()
keras_hooks.restore_values_on_error()
keras_hooks.inherit_training()
keras_hooks.preserve_explicit_training()
keras_hooks.carry_rnn_states()
keras_hooks.use_compiled_trainable_flags()
_old_shapes.take_old_shapes()
_old_calls.take_positions()
_old_building.build_by_calling()
_old_layers.give_old_names()
_old_metrics.give_old_names()
_old_models.give_old_names()
_old_optimizers.give_old_names()
_old_optimizers.give_old_names_to_loss_scaling()
_folders.save_folders()
_strays.adopt_strays()
training.step_converter.set(control_flow.convert)
