"""Puts the hooks into Keras. Runs once, when this module is imported."""

from unisono._src.keras_hooks import (
    accept_steps_without_state,
    accept_text,
    bind_variables,
    observe_reads,
    route_branches,
    route_trainer,
    route_weights_folders,
    scale_losses,
    seed_dataset_maps,
    seed_replicas,
    sum_gradients,
    synchronize_batch_norm,
    write_on_chief,
)
from unisono._src.tracing.functions import cond
from unisono._src.tracing.tape import record_variable_read
from unisono._src.training import MODEL_METHODS
from unisono._src.training.callbacks import WEIGHTS_FOLDERS

bind_variables()
observe_reads(record_variable_read)
seed_dataset_maps()
seed_replicas()
sum_gradients()
scale_losses()
synchronize_batch_norm()
route_branches(cond)
accept_steps_without_state()
accept_text()
route_trainer(MODEL_METHODS)
write_on_chief()
route_weights_folders(WEIGHTS_FOLDERS)
