"""The only places that touch what is private in Keras. One file per hook; each names what it was checked against."""

from unisono._src.keras_hooks._attributes import (
    LEGACY_PREPROCESSING, check_attributes, child_layers, child_name_scope, current_name_scope, get_owner,
    input_signature, set_owner,
)
from unisono._src.keras_hooks._batch_norm import synchronize_batch_norm
from unisono._src.keras_hooks._branching import route_branches
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
from unisono._src.keras_hooks._fit_handlers import restore_values_on_error, use_compiled_trainable_flags
from unisono._src.keras_hooks._host_part import TEXT_ON_HOST, accept_text, host_part, is_text, runs_on_host
from unisono._src.keras_hooks._initial_values import initial_value_program, initialize_in_shards
from unisono._src.keras_hooks._layer_calls import dispatch_layer_calls
from unisono._src.keras_hooks._layer_generators import draws_differ_per_run, get_layer_generator, track_current_layer
from unisono._src.keras_hooks._losses import scale_losses
from unisono._src.keras_hooks._lowerings import LOWERINGS, install_lowerings
from unisono._src.keras_hooks._metrics import (
    MetricsView, check_stock_steps, has_only_stock_metrics, metrics_view,
)
from unisono._src.keras_hooks._on_read_variables import (
    check_variable_attributes, get_stored_value, is_on_read, num_replica_values, on_read_variables,
    set_aggregated_value, set_stored_value,
)
from unisono._src.keras_hooks._optimizers import (
    learning_rate_reader, sum_gradients, trained_variables, use_learning_rate,
)
from unisono._src.keras_hooks._remat import (
    BlockMode, get_mask, in_symbolic_scope, rematerialize_with_state, rematerialized_layers, set_block_mode, set_mask,
)
from unisono._src.keras_hooks._remote_variables import (
    ValueStorage, become_remote, get_storage,
)
from unisono._src.keras_hooks._ragged_inputs import accept_ragged_inputs, mask_ragged_inputs
from unisono._src.keras_hooks._saving import (
    ScheduledCheckpoint, WeightsFolders, is_folder_path, route_weights_folders, write_on_chief,
)
from unisono._src.keras_hooks._seeds import draw_key, is_global_seed_state, is_seed_state, seed_draws
from unisono._src.keras_hooks._sharded_variables import ShardedVariable, split_weights
from unisono._src.keras_hooks._steps_without_state import (
    accept_steps_without_state, has_tf_signature, is_traced, step_state_variables,
)
from unisono._src.keras_hooks._tensorflow import hide_tensorflow
from unisono._src.keras_hooks._trainer import (
    ROUTED, TrainerMethods, choose_owner, handle_fit, route_trainer, run_inside,
)
from unisono._src.keras_hooks._traced_platform import use_lowerings
from unisono._src.keras_hooks._training_argument import inherit_training, preserve_explicit_training
from unisono._src.keras_hooks._variable_layouts import (
    current_reference, follow_optimizer_variables, layout_of, owned_variables, slot_reference, variable_info,
)
from unisono._src.keras_hooks._variables import (
    StateScope, adopt_variables, bind_variables, capture_reader, current_state_scope, enclosing_state_scope,
    evaluate_constant, in_stateless_scope, observe_reads, outside_traces, raw_value, report_data_pull, report_read,
    report_reads, run_on_host_if_possible,
)
from unisono._src.keras_hooks._whole_values import (
    has_variables_sharded_over_processes, read_whole_values, run_on_chief_with_whole_values,
)
