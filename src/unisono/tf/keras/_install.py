"""What happens when `unisono.tf.keras` is imported. Runs once, when this module is imported."""

from unisono import autograph, seams, train
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
seams.take_auto_reduction()
seams.take_old_compile_arguments()
seams.take_named_weights()
seams.cast_quietly()
_old_callbacks.give_old_names()
seams.give_values_back()
seams.inherit_training()
seams.keep_told_training()
seams.keep_rnn_states()
seams.train_what_compile_saw()
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
train.converted_step.set(autograph.convert)
