"""Whether JAX has started: from then on, much about the process is fixed."""

from __future__ import annotations

from typing import Final

import jax

_OPTION: Final = "jax_num_cpu_devices"


def has_jax_started() -> bool:
    """Whether JAX has started in this process. Does not start it."""
    before = getattr(jax.config, _OPTION)
    try:
        jax.config.update(_OPTION, before + 1)  # refused once JAX has started; the same number would not be
    except RuntimeError:
        return True
    jax.config.update(_OPTION, before)
    return False


def check_jax_not_started(message: str) -> None:
    """Raises ``RuntimeError`` with this message if JAX has started in this process."""
    if has_jax_started():
        raise RuntimeError(message)
