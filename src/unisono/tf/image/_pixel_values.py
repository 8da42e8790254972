"""What functions of images have in common: images on the host stay there, those of devices and traces too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np

from unisono.tf._dtypes import as_dtype, to_jax_dtype
from unisono.tf._op import op
from unisono.tf._tensors import as_array, to_host_tensor

NEEDS_IMAGE = "{name}: expected an image (height, width, channels) or a batch of them, got the shape {shape}."


def to_image_array(image: Any, name: str) -> Any:
    """The image as an array: NumPy's if it is one, JAX's otherwise."""
    array = np.asarray(image) if isinstance(image, np.ndarray) else as_array(image)
    if array.ndim not in (3, 4):
        raise ValueError(NEEDS_IMAGE.format(name=name, shape=tuple(array.shape)))
    return array


def given_back(array: Any) -> Any:
    """What a function returns: NumPy's arrays as tensors of the host."""
    return to_host_tensor(array) if isinstance(array, np.ndarray) else array


def in_batches(image: Any, function: Callable[[Any], Any]) -> Any:
    """A function of batches for a single image, too."""
    return function(image) if image.ndim == 4 else function(image[None])[0]


@op
def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False) -> Any:
    """In another dtype and its range: whole numbers have their whole range, floats go from 0 to 1."""
    array = as_array(image)
    have, want = as_dtype(array.dtype), as_dtype(dtype)
    wanted = to_jax_dtype(want)
    if have == want or (have.is_floating and want.is_floating):
        return array.astype(wanted)
    if have.is_integer and want.is_floating:
        return array.astype(wanted) * (1.0 / have.max)
    if have.is_integer:
        return _between_integers(array, have, want)
    scaled = array * (want.max + 0.5)  # rounded, and cut off
    return (jnp.clip(scaled, want.min, want.max) if saturate else scaled).astype(wanted)


def compute_in_float(image: Any, compute: Callable[[Any], Any]) -> Any:
    """``compute`` of the image in floats from 0 to 1, and back in the dtype that it had."""
    array = image.value if isinstance(image, keras.Variable) else as_array(image)
    if jnp.issubdtype(array.dtype, jnp.floating):
        return compute(array)
    return convert_image_dtype(compute(convert_image_dtype(array, "float32")), array.dtype, saturate=True)


def _between_integers(array: Any, have: Any, want: Any) -> Any:
    wanted = to_jax_dtype(want)
    if have.max > want.max:
        return (array // ((int(have.max) + 1) // (int(want.max) + 1))).astype(wanted)
    return array.astype(wanted) * ((int(want.max) + 1) // (int(have.max) + 1))
