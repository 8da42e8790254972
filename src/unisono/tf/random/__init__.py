"""`tf.random`: random numbers that can be the same in every run."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.random import experimental as experimental
from unisono.tf.random._candidates import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from unisono.tf.random._candidates import uniform_candidate_sampler as uniform_candidate_sampler
from unisono.tf.random._draws import categorical as categorical
from unisono.tf.random._draws import gamma as gamma
from unisono.tf.random._draws import normal as normal
from unisono.tf.random._draws import poisson as poisson
from unisono.tf.random._draws import shuffle as shuffle
from unisono.tf.random._draws import truncated_normal as truncated_normal
from unisono.tf.random._draws import uniform as uniform
from unisono.tf.random._generator import Algorithm as Algorithm
from unisono.tf.random._generator import Generator as Generator
from unisono.tf.random._generator import create_rng_state as create_rng_state
from unisono.tf.random._generator import get_global_generator as get_global_generator
from unisono.tf.random._generator import set_global_generator as set_global_generator
from unisono.tf.random._seeds import set_seed as set_seed
from unisono.tf.random._stateless import fold_in as fold_in
from unisono.tf.random._stateless import split as split
from unisono.tf.random._stateless import stateless_binomial as stateless_binomial
from unisono.tf.random._stateless import stateless_categorical as stateless_categorical
from unisono.tf.random._stateless import stateless_gamma as stateless_gamma
from unisono.tf.random._stateless import stateless_normal as stateless_normal
from unisono.tf.random._stateless import stateless_poisson as stateless_poisson
from unisono.tf.random._stateless import stateless_truncated_normal as stateless_truncated_normal
from unisono.tf.random._stateless import stateless_uniform as stateless_uniform

__getattr__ = _missing_in("tf.random")
