"""The only places that touch what is private in Keras. One file per hook; each names what it was checked against."""

from unisono._src.keras_hooks import _backend
from unisono._src.keras_hooks._batch_norm import synchronize_batch_norm
from unisono._src.keras_hooks._branching import route_branches
from unisono._src.keras_hooks._build import (
    build_for_prediction,
    build_for_training,
    check_compiled,
    check_step_functions,
    finish_optimizer,
    first_epoch,
    logs_in_order,
    validates_after,
)
from unisono._src.keras_hooks._build_by_call import call_on_shapes, default_build
from unisono._src.keras_hooks._call_context import inherit_training
from unisono._src.keras_hooks._callback_states import (
    callback_state,
    prepare_for_resume,
    profiled_batches,
    restore_callback_state,
)
from unisono._src.keras_hooks._callbacks import (
    BatchHooks,
    StepGrid,
    StepMark,
    batch_hooks,
    callback_list,
    closing,
    pythonify,
    settle,
    step_grids,
    wants_every_batch,
)
from unisono._src.keras_hooks._casts import cast_quietly
from unisono._src.keras_hooks._compiled_trainable import train_what_compile_saw
from unisono._src.keras_hooks._data import ArrayInput, StreamInput, adapt, class_weights, split_for_validation, unpack
from unisono._src.keras_hooks._data_steps import is_traced, state_of, take_data_alone, takes_data_alone
from unisono._src.keras_hooks._h5_models import compile_as_in_h5, save_old_weights, say_nothing_of_other_formats
from unisono._src.keras_hooks._host_part import TEXT_STAYS, host_part, is_text, runs_on_host, take_text
from unisono._src.keras_hooks._input_signature import input_signature
from unisono._src.keras_hooks._layer_seeds import counts_on, follow_layers, generator_of_layer
from unisono._src.keras_hooks._layers_inside import layers_inside, naming_inside
from unisono._src.keras_hooks._losses import scale_losses
from unisono._src.keras_hooks._lowerings import lowered_for
from unisono._src.keras_hooks._map_seeds import key_of, seed_maps
from unisono._src.keras_hooks._metrics import MetricsView, is_stock, metrics_view, only_stock_metrics
from unisono._src.keras_hooks._name_scope import current_name_scope
from unisono._src.keras_hooks._named_weights import take_named_weights
from unisono._src.keras_hooks._old_keras import (
    LEGACY_PREPROCESSING,
    CompiledLoss,
    CompiledMetrics,
    build_with,
    logs_of,
    open_like_tuples,
    refuse_symbolic_losses,
    take_auto_reduction,
    take_old_compile_arguments,
)
from unisono._src.keras_hooks._optimizers import sum_gradients, trained_by
from unisono._src.keras_hooks._owner import owner_of
from unisono._src.keras_hooks._parts import is_on_read, note_whole, num_parts, on_read_variables, store, stored
from unisono._src.keras_hooks._replica_seeds import is_process_wide, seed_replicas
from unisono._src.keras_hooks._rnn_states import keep_rnn_states
from unisono._src.keras_hooks._saving import (
    DecidingCheckpoint,
    WeightsFolders,
    is_folder_path,
    route_weights,
    save_on_chief,
    writes,
)
from unisono._src.keras_hooks._tensorflow import hide_tensorflow
from unisono._src.keras_hooks._told_training import keep_told_training
from unisono._src.keras_hooks._trainer import Methods, owner_of_stray, route_trainer
from unisono._src.keras_hooks._values_back import give_values_back
from unisono._src.keras_hooks._variables import (
    StateScope,
    adopt,
    current_scope,
    enclosing_scope,
    in_stateless_scope,
    note_reads,
    outside_of_traces,
    own_variables,
    pulling_data,
    raw_value,
    reader_here,
    tell_read,
    watch_reads,
)
