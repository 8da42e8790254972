"""Facts about this process that need neither JAX nor Keras."""

from unisono.core._backend import WRONG_BACKEND as WRONG_BACKEND
from unisono.core._backend import choose_jax_backend as choose_jax_backend
from unisono.core._environment import Environment as Environment
from unisono.core._environment import environment as environment
from unisono.core._environment import nproc_for as nproc_for
from unisono.core._hook import Hook as Hook
from unisono.core._out_of_range import OutOfRangeError as OutOfRangeError
from unisono.core._out_of_range import out_of_range as out_of_range
from unisono.core._versions import check_versions as check_versions
