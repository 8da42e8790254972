"""Puts the hooks of Keras and JAX that Unisono always needs in place. Those for TensorFlow's names: `unisono.tf`."""

from unisono._src import jax_hooks, keras_hooks
from unisono._src.processes import end_at_once_on_exit
from unisono._src.tracing.functions import cond, rematerialize
from unisono._src.tracing.tape import record_variable_read
from unisono._src.training import MODEL_METHODS, explain_training_errors
from unisono._src.training.callbacks import WEIGHTS_FOLDERS


def install_hooks() -> None:
    """Called once, when `unisono` is imported. Raises `HookMismatchError` for a Keras or JAX that does not fit."""
    jax_hooks.check_traces()
    jax_hooks.check_pull_backs()
    jax_hooks.check_tracers()
    jax_hooks.check_primitives()
    keras_hooks.check_attributes()
    keras_hooks.check_variable_attributes()
    keras_hooks.check_callbacks()
    keras_hooks.check_padding_analysis()
    keras_hooks.check_callback_schedules()
    keras_hooks.check_stock_steps()
    keras_hooks.check_trainer_methods()
    keras_hooks.check_data_adapters()
    keras_hooks.install_variable_binding()
    keras_hooks.install_whole_value_reads()
    keras_hooks.observe_reads(record_variable_read)
    keras_hooks.install_replica_seeds()
    keras_hooks.install_gradient_all_reduce()
    keras_hooks.install_optimizer_variable_roles()
    keras_hooks.install_sharded_initialization()
    keras_hooks.install_partitioned_weights()
    keras_hooks.install_loss_scaling()
    keras_hooks.install_synchronized_batch_norm()
    keras_hooks.install_branch_routing(cond)
    keras_hooks.install_lowerings()
    keras_hooks.install_layer_call_dispatcher()
    keras_hooks.install_steps_without_state()
    keras_hooks.install_text_inputs()
    keras_hooks.install_ragged_inputs()
    keras_hooks.install_remat(rematerialize)
    keras_hooks.install_trainer_routing(MODEL_METHODS)
    keras_hooks.run_inside(keras_hooks.ROUTED, explain_training_errors)
    keras_hooks.install_chief_only_writes()
    keras_hooks.install_weights_folders(WEIGHTS_FOLDERS)


def install_hooks_of_jobs() -> None:
    """The rest, which a process gets when it joins others in a job; called here to list them and to check them."""
    end_at_once_on_exit()
    jax_hooks.bind_gloo_to("127.0.0.1")
