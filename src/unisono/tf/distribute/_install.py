"""What happens when `unisono.tf.distribute` is imported. Runs once, when this module is imported."""

from unisono.tf.distribute import _deciding, _old_names

_old_names.give_old_names()
_deciding.convert_runs()
