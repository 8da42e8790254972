"""Puts the hooks of Keras and JAX that Unisono always needs in place. Those for TensorFlow's names: `unisono.tf`."""

from unisono._src import jax_hooks, keras_hooks
from unisono._src.tracing.functions import cond, rematerialize
from unisono._src.tracing.tape import record_variable_read
from unisono._src.training import MODEL_METHODS, explain_training_errors
from unisono._src.training.callbacks import WEIGHTS_FOLDERS


def install_hooks() -> None:
    """Called once, when `unisono` is imported. Raises `HookMismatchError` for a Keras or JAX that does not fit."""
    jax_hooks.check_internals()
    jax_hooks.check_tracers()
    keras_hooks.check_attributes()
    keras_hooks.check_variable_attributes()
    keras_hooks.check_callbacks()
    keras_hooks.check_padding_analysis()
    keras_hooks.check_callback_schedules()
    keras_hooks.check_stock_steps()
    keras_hooks.check_trainer_methods()
    keras_hooks.check_data_adapters()
    keras_hooks.bind_variables()
    keras_hooks.read_whole_values()
    keras_hooks.observe_reads(record_variable_read)
    keras_hooks.seed_draws()
    keras_hooks.sum_gradients()
    keras_hooks.follow_optimizer_variables()
    keras_hooks.initialize_in_shards()
    keras_hooks.split_weights()
    keras_hooks.scale_losses()
    keras_hooks.synchronize_batch_norm()
    keras_hooks.route_branches(cond)
    keras_hooks.install_lowerings()
    keras_hooks.dispatch_layer_calls()
    keras_hooks.accept_steps_without_state()
    keras_hooks.accept_text()
    keras_hooks.accept_ragged_inputs()
    keras_hooks.rematerialize_with_state(rematerialize)
    keras_hooks.route_trainer(MODEL_METHODS)
    keras_hooks.run_inside(keras_hooks.ROUTED, explain_training_errors)
    keras_hooks.write_on_chief()
    keras_hooks.route_weights_folders(WEIGHTS_FOLDERS)
