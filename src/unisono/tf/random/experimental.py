"""`tf.random.experimental`: older names of what `tf.random` has."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.random._generator import (
    Algorithm,
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from unisono.tf.random._stateless import fold_in as _fold_in
from unisono.tf.random._stateless import split as _split
from unisono.tf.random._stateless import stateless_shuffle

stateless_fold_in = _fold_in
stateless_split = _split

__getattr__ = _explain_missing_names("tf.random.experimental")
