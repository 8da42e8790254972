"""What happens when `unisono.tf.keras` is imported. Runs once, when this module is imported."""

from unisono import autograph, seams, train
from unisono.tf.keras import _folders, _old_layers, _old_metrics, _old_models, _old_optimizers, _strays, _symbols

_symbols.give_manners()
seams.take_auto_reduction()
seams.let_text_in()
seams.take_old_compile_arguments()
_old_layers.give_old_names()
_old_metrics.give_old_names()
_old_models.give_old_names()
_old_optimizers.give_old_names()
_old_optimizers.give_old_names_to_loss_scaling()
_folders.save_folders()
_strays.adopt_strays()
train.convert_steps(autograph.convert)
