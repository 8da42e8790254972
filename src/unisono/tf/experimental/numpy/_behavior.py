"""`experimental_enable_numpy_behavior`: what it switches on in TensorFlow is always on."""

from __future__ import annotations


def experimental_enable_numpy_behavior(prefer_float32: bool = False, dtype_conversion_mode: str = "legacy") -> None:
    """Accepted without effect: tensors are JAX arrays, which have NumPy's methods, indexing and type promotion.

    Args:
        prefer_float32: numbers have 32 bits unless `jax_enable_x64` is set, in both cases.
        dtype_conversion_mode: "off", "legacy", "all" or "safe"; types are promoted by JAX's rules.
    """
    known = ("off", "legacy", "all", "safe")
    if dtype_conversion_mode not in known:
        raise ValueError(f"dtype_conversion_mode is {dtype_conversion_mode!r}. Expected one of {', '.join(known)}.")
