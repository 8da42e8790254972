"""`tf.random`: random numbers, generators and seeds. The numbers differ from TensorFlow's."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.random import experimental
from unisono.tf.random._candidate_samplers import log_uniform_candidate_sampler, uniform_candidate_sampler
from unisono.tf.random._generator import (
    Algorithm, Generator, create_rng_state, get_global_generator, set_global_generator,
)
from unisono.tf.random._seed_generators import set_seed
from unisono.tf.random._stateful import categorical, gamma, normal, poisson, shuffle, truncated_normal, uniform
from unisono.tf.random._stateless import (
    fold_in, split, stateless_binomial, stateless_categorical, stateless_gamma, stateless_normal, stateless_poisson,
    stateless_truncated_normal, stateless_uniform,
)

__getattr__ = _explain_missing_names("tf.random")
