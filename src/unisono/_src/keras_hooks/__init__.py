"""The only places that touch what is private in Keras. One file per hook; each names what it was checked against."""

from unisono._src.keras_hooks._attributes import (
    LEGACY_PREPROCESSING, check_attributes, child_layers, child_name_scope, current_name_scope, get_owner,
    input_signature, set_owner,
)
from unisono._src.keras_hooks._batch_norm import install_synchronized_batch_norm
from unisono._src.keras_hooks._branching import install_branch_routing
from unisono._src.keras_hooks._build import (
    build_for_prediction, build_for_training, check_compiled, check_step_functions, check_trainer_methods,
    finish_optimizer, first_epoch, flatten_logs, validates_after,
)
from unisono._src.keras_hooks._callback_states import (
    check_callback_state, check_callbacks, get_callback_state, prepare_for_resume, profiled_batches,
    restore_callback_state,
)
from unisono._src.keras_hooks._callbacks import (
    BatchHooks, EveryNSteps, AtStep, batch_hooks, check_callback_schedules, close_on_error, make_callback_list,
    needs_every_batch, pythonify, call_end_steps, wait_for_batch_hooks,
)
from unisono._src.keras_hooks._data import (
    ArrayInput, StreamInput, adapt, check_data_adapters, class_weights, split_for_validation, unpack,
)
from unisono._src.keras_hooks._exact_padding import ExactPadding, check_padding_analysis, find_exact_padding
from unisono._src.keras_hooks._fit_handlers import install_value_restoration, install_compiled_trainable_flags
from unisono._src.keras_hooks._host_part import TEXT_ON_HOST, install_text_inputs, host_part, is_text, runs_on_host
from unisono._src.keras_hooks._input_spec import input_spec
from unisono._src.keras_hooks._initial_values import initial_value_program, install_sharded_initialization
from unisono._src.keras_hooks._layer_calls import install_layer_call_dispatcher
from unisono._src.keras_hooks._layer_generators import (
    draws_differ_per_run, get_layer_generator, install_current_layer_tracking,
)
from unisono._src.keras_hooks._losses import install_loss_scaling
from unisono._src.keras_hooks._lowerings import LOWERINGS, install_lowerings
from unisono._src.keras_hooks._metrics import (
    MetricsView, check_stock_steps, has_only_stock_metrics, metrics_view,
)
from unisono._src.keras_hooks._on_read_variables import (
    check_variable_attributes, get_stored_value, is_on_read, num_replica_values, on_read_variables,
    set_aggregated_value, set_stored_value,
)
from unisono._src.keras_hooks._optimizers import (
    learning_rate_reader, install_gradient_all_reduce, trained_variables, use_learning_rate,
)
from unisono._src.keras_hooks._remat import (
    BlockMode, get_mask, in_symbolic_scope, install_remat, observe_rematerialized_layers, rematerialized_layers,
    set_block_mode, set_mask, without_rematerialization,
)
from unisono._src.keras_hooks._remote_variables import (
    ValueStorage, become_remote, get_storage,
)
from unisono._src.keras_hooks._ragged_inputs import (
    RaggedRows, fold_ragged_rows, install_ragged_inputs, mask_ragged_inputs, unfold_ragged_rows,
)
from unisono._src.keras_hooks._saving import (
    ScheduledCheckpoint, WeightsFolders, is_folder_path, install_weights_folders, install_chief_only_writes,
)
from unisono._src.keras_hooks._seeds import draw_key, is_global_seed_state, is_seed_state, install_replica_seeds
from unisono._src.keras_hooks._partitioned_weights import ShardedVariable, install_partitioned_weights
from unisono._src.keras_hooks._steps_without_state import (
    install_steps_without_state, has_tf_signature, is_traced, step_state_variables,
)
from unisono._src.keras_hooks._tensorflow import install_tensorflow_substitutes
from unisono._src.keras_hooks._trainer import (
    ROUTED, TrainerMethods, choose_owner, handle_fit, install_trainer_routing, run_inside,
)
from unisono._src.keras_hooks._traced_platform import use_lowerings
from unisono._src.keras_hooks._training_argument import install_training_inheritance, install_explicit_training
from unisono._src.keras_hooks._variable_layouts import (
    current_reference, install_optimizer_variable_roles, layout_of, owned_variables, slot_reference, variable_info,
)
from unisono._src.keras_hooks._variables import (
    StateScope, adopt_variables, install_variable_binding, capture_reader, current_state_scope, enclosing_state_scope,
    evaluate_constant, in_stateless_scope, observe_reads, outside_traces, raw_value, report_data_pull, report_read,
    refuse_variables, report_stored_read, run_on_host_if_possible,
)
from unisono._src.keras_hooks._whole_values import (
    has_variables_sharded_over_processes, install_whole_value_reads, run_on_chief_with_whole_values,
)
