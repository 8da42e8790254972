"""What the image functions share: the check of an image's shape, and `convert_image_dtype`.

NumPy images stay on the host; JAX arrays stay on their devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np

from unisono.tf._dtypes import as_dtype, to_jax_dtype
from unisono.tf._op import op
from unisono.tf._tensors import as_array

NEEDS_IMAGE = "{name}: expected an image (height, width, channels) or a batch of images, got the shape {shape}."


def to_image_array(image: Any, name: str) -> Any:
    """Returns the image as an array: a NumPy image as NumPy's, any other as JAX's. ``name`` is for the error."""
    array = np.asarray(image) if isinstance(image, np.ndarray) else as_array(image)
    if array.ndim not in (3, 4):
        raise ValueError(NEEDS_IMAGE.format(name=name, shape=tuple(array.shape)))
    return array


@op
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False) -> Any:
    """Converts an image to ``dtype`` and scales it: integers use the full range of their dtype, floats [0, 1]."""
    array = as_array(image)
    source, target = as_dtype(array.dtype), as_dtype(dtype)
    jax_dtype = to_jax_dtype(target)
    if source == target or (source.is_floating and target.is_floating):
        return array.astype(jax_dtype)
    if source.is_integer and target.is_floating:
        return array.astype(jax_dtype) * (1.0 / source.max)
    if source.is_integer and source.max > target.max:
        return (array // ((int(source.max) + 1) // (int(target.max) + 1))).astype(jax_dtype)
    if source.is_integer:
        return array.astype(jax_dtype) * ((int(target.max) + 1) // (int(source.max) + 1))
    scaled = array * (target.max + 0.5)  # astype() truncates: the half rounds
    return (jnp.clip(scaled, target.min, target.max) if saturate else scaled).astype(jax_dtype)


def compute_in_float(image: Any, compute: Callable[[Any], Any]) -> Any:
    """Calls ``compute`` with the image as floats in [0, 1], and converts the result back to the image's dtype."""
    array = image.value if isinstance(image, keras.Variable) else as_array(image)
    if jnp.issubdtype(array.dtype, jnp.floating):
        return compute(array)
    return convert_image_dtype(compute(convert_image_dtype(array, "float32")), array.dtype, saturate=True)
