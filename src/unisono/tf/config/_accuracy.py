"""How exact and how repeatable numbers are."""

from __future__ import annotations

import jax

from unisono._src.devices import deterministic, has_jax_started, num_gpus


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """False: GPUs multiply float32 matrices with all their bits. True: as fast as they can, which is the beginning."""
    jax.config.update("jax_default_matmul_precision", None if enabled else "float32")


def tensor_float_32_execution_enabled() -> bool:
    """Whether GPUs may round what they multiply."""
    return bool(jax.config.values["jax_default_matmul_precision"] != "float32")


def enable_op_determinism() -> None:
    """The same bits in every run, on GPUs too: `unisono.config.deterministic()`. It has to come before JAX starts.

    Seeds are yours to set: `tf.keras.utils.set_random_seed(seed)`.
    """
    if not has_jax_started() or num_gpus():
        deterministic()
