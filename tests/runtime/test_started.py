"""Whether JAX has started is known, and asking changes nothing."""

import jax
import jax.numpy as jnp
import pytest

from unisono.runtime import has_started
from unisono.runtime._started import check_not_started


def test_after_the_first_array_jax_has_started() -> None:
    jnp.zeros(1)
    before = jax.config.values["jax_num_cpu_devices"]
    assert has_started()
    assert jax.config.values["jax_num_cpu_devices"] == before
    with pytest.raises(RuntimeError, match="too late"):
        check_not_started("too late")
