"""Whether JAX has started is known, and asking changes nothing."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from unisono._src.devices import has_jax_started
from unisono._src.devices._startup import check_jax_not_started

SCRIPT = """
import sys
import jax
from unisono._src.devices import has_jax_started
from unisono._src.devices._startup import check_jax_not_started

before = jax.config.jax_num_cpu_devices
print(has_jax_started(), has_jax_started(), jax.config.jax_num_cpu_devices == before)
check_jax_not_started("too late")
jax.config.update("jax_num_cpu_devices", 3)  # refused once JAX has started
print(has_jax_started(), len(jax.devices()), has_jax_started())
print([name for name in sys.modules if name.partition(".")[0] in ("ray", "fsspec") or "unisono_launch.engines" in name])
"""


def test_after_the_first_array_jax_has_started() -> None:
    jnp.zeros(1)
    before = jax.config.values["jax_num_cpu_devices"]
    assert has_jax_started()
    assert jax.config.values["jax_num_cpu_devices"] == before
    with pytest.raises(RuntimeError, match="too late"):
        check_jax_not_started("too late")


@pytest.mark.slow
def test_has_jax_started_does_not_start_jax_and_leaves_its_settings_as_they_were() -> None:
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["False False True", "False 3 True", "[]"]
