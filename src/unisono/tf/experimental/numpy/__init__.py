"""`tf.experimental.numpy`, usually `tnp`: the functions of `jax.numpy`, which accept lists as well."""

from typing import Any as _Any

import jax.numpy as _jnp

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._tensors import Tensor as ndarray  # noqa: N813  (the name in NumPy)
from unisono.tf.experimental.numpy import random
from unisono.tf.experimental.numpy._array_likes import accept_array_likes as _accept_array_likes
from unisono.tf.experimental.numpy._behavior import experimental_enable_numpy_behavior

asanyarray = ascontiguousarray = _accept_array_likes(_jnp.asarray)
fix = _accept_array_likes(_jnp.trunc)
string_, unicode_ = bytes, str

_missing = _explain_missing_names("tf.experimental.numpy", depth=2)


def __getattr__(name: str) -> _Any:
    return _accept_array_likes(getattr(_jnp, name)) if hasattr(_jnp, name) else _missing(name)
