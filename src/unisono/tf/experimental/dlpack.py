"""`tf.experimental.dlpack`: exchanges arrays with other libraries without a copy."""

from __future__ import annotations

from typing import Any

import jax

from unisono.tf._missing import explain_missing_names as _explain_missing_names


def to_dlpack(tf_tensor: Any) -> Any:
    """Returns the array as a DLPack capsule, for example for `torch.from_dlpack`."""
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule: Any) -> jax.Array:
    """Converts an array of another library, which has `__dlpack__`, to a JAX array. A capsule is an error."""
    if not hasattr(dlcapsule, "__dlpack__"):
        raise TypeError(
            f"from_dlpack expects an array of another library, not its capsule; got {type(dlcapsule).__name__}. "
            "Write from_dlpack(torch_tensor)."
        )
    array: jax.Array = jax.dlpack.from_dlpack(dlcapsule)
    return array


__getattr__ = _explain_missing_names("tf.experimental.dlpack")
