"""Puts the hooks into Keras. Runs once, when this module is imported."""

from unisono._src.keras_hooks import (
    own_variables,
    route_branches,
    route_trainer,
    route_weights,
    save_on_chief,
    scale_losses,
    seed_maps,
    seed_replicas,
    sum_gradients,
    synchronize_batch_norm,
    take_data_alone,
    take_text,
    watch_reads,
)
from unisono._src.tracing.functions import cond
from unisono._src.tracing.tape import record_variable_read
from unisono._src.training import MODEL_METHODS
from unisono._src.training.callbacks import WEIGHTS_FOLDERS

own_variables()
watch_reads(record_variable_read)
seed_maps()
seed_replicas()
sum_gradients()
scale_losses()
synchronize_batch_norm()
route_branches(cond)
take_data_alone()
take_text()
route_trainer(MODEL_METHODS)
save_on_chief()
route_weights(WEIGHTS_FOLDERS)
