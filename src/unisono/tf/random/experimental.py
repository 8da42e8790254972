"""`tf.random.experimental`: names from before, of what is in `tf.random` now."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.random._generator import Algorithm as Algorithm
from unisono.tf.random._generator import Generator as Generator
from unisono.tf.random._generator import create_rng_state as create_rng_state
from unisono.tf.random._generator import get_global_generator as get_global_generator
from unisono.tf.random._generator import set_global_generator as set_global_generator
from unisono.tf.random._stateless import fold_in as _fold_in
from unisono.tf.random._stateless import split as _split
from unisono.tf.random._stateless import stateless_shuffle as stateless_shuffle

stateless_fold_in = _fold_in
stateless_split = _split

__getattr__ = _missing_in("tf.random.experimental")
