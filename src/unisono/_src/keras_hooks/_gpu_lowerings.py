"""Operations that XLA:GPU does badly, written in a way that it does well; equal but for the rounding of float32.

Times are of a step on one H200 with JAX 0.11.2: ResNet-50 with 256 rows (39.2 ms without all of these) and GPT-2 small
with 32 rows of 1,024 tokens (71 ms), both in bfloat16. Checked against Keras 3.15.1, whose layers and losses reach the
operations as functions of `backend.nn`.
"""

from __future__ import annotations

import math
from typing import Any, Final

import jax
import jax.numpy as jnp
from keras.src.backend import standardize_data_format

from unisono._src.keras_hooks._traced_platform import is_traced_for

_SQRT_HALF: Final = math.sqrt(0.5)
_MANY_CLASSES: Final = 1024


def _moments_in_one_pass(original: Any) -> Any:
    def moments(x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False) -> tuple[Any, Any]:
        # Keras's normalization layers give float32, whatever the policy is.
        if not is_traced_for("gpu") or synchronized or x.dtype != jnp.float32 or x.size == 0:
            return original(x, axes, keepdims=keepdims, synchronized=synchronized)  # type: ignore[no-any-return]
        axes = tuple(axis % x.ndim for axis in (axes if isinstance(axes, list | tuple) else [axes]))
        mean, variance = _moments(x, axes)
        return (mean, variance) if keepdims else (jnp.squeeze(mean, axes), jnp.squeeze(variance, axes))

    return moments


def _moments(x: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Mean and variance from the sums of x - c and (x - c)², which one pass over x computes.

    Keras subtracts the mean, which takes a second pass, and its derivative a third sum: 2.8 ms of ResNet-50's step. c
    is one element of what is averaged, so nothing cancels where the mean is large: it differs from the mean by a few
    standard deviations. Neither result depends on c, so it has no derivative.
    """
    picked = jax.lax.stop_gradient(x[tuple(slice(0, 1) if d in axes and d > 0 else slice(None) for d in range(x.ndim))])
    if 0 in axes:  # a sum over the rows, not a slice: over several devices it costs one small all-reduce
        is_first = jax.lax.broadcasted_iota("int32", (x.shape[0],) + (1,) * (x.ndim - 1), 0) == 0
        picked = jnp.sum(jnp.where(is_first, picked, 0), 0, keepdims=True)
    centered = x - picked
    mean = jnp.mean(centered, axes, keepdims=True)
    variance = jnp.mean(jnp.square(centered), axes, keepdims=True) - jnp.square(mean)
    return mean + picked, jnp.maximum(variance, 0)


def _gelu_by_erf(original: Any) -> Any:
    """JAX computes erfc, for the relative error of results below 1e-6, and rounds to bfloat16 after every operation.

    In float32 with erf the absolute error is the same: 4 ms of GPT-2's step, and one array less is kept for the
    gradient (2.2 GiB).
    """

    def gelu(x: Any, approximate: bool = True) -> Any:
        if not is_traced_for("gpu") or approximate or x.dtype not in (jnp.float32, jnp.bfloat16):
            return original(x, approximate)
        wide = x.astype("float32")
        return (0.5 * wide * (1 + jax.lax.erf(_SQRT_HALF * wide))).astype(x.dtype)

    return gelu


def _conv_of_few_channels(original: Any) -> Any:
    def conv(
        inputs: Any, kernel: Any, strides: Any = 1, padding: str = "valid", data_format: Any = None,
        dilation_rate: Any = 1,
    ) -> Any:  # fmt: skip
        fits = (
            is_traced_for("gpu")
            and inputs.ndim == 4
            and inputs.shape[-1] == kernel.shape[-2] <= 4
            and standardize_data_format(data_format) == "channels_last"
            and strides in (2, (2, 2), [2, 2])
            and padding == "valid"
            and dilation_rate in (1, (1, 1), [1, 1])
            and all(size >= edge > 2 for size, edge in zip(inputs.shape[1:3], kernel.shape[:2], strict=True))
        )
        if not fits:
            return original(inputs, kernel, strides, padding, data_format, dilation_rate)
        kernel = jnp.asarray(kernel)
        return _conv_by_blocks(jnp.asarray(inputs, kernel.dtype), kernel)

    return conv


def _conv_by_blocks(inputs: Any, kernel: Any) -> Any:
    """A convolution with strides of 2 as one with strides of 1 over blocks of 2x2, which have four times the channels.

    Tensor cores are idle with 3 channels: 1.7 ms of ResNet-50's step, for its first layer.
    """
    sizes, old_edges = inputs.shape[1:3], kernel.shape[:2]
    edges = [edge + edge % 2 for edge in old_edges]
    kernel = jnp.pad(kernel, [*((0, edge % 2) for edge in old_edges), (0, 0), (0, 0)])
    # What is read can be less or, under the padded edge of the kernel, more than there is.
    read = [2 * ((size - old) // 2) + new for size, old, new in zip(sizes, old_edges, edges, strict=True)]
    padding = [(0, 0, 0), *((0, new - old, 0) for new, old in zip(read, sizes, strict=True)), (0, 0, 0)]
    rows, channels = inputs.shape[0], inputs.shape[-1]
    inputs = jax.lax.pad(inputs, jnp.zeros((), inputs.dtype), padding)
    inputs = inputs.reshape(rows, read[0] // 2, 2, read[1] // 2, 2, channels).transpose(0, 1, 3, 2, 4, 5)
    kernel = kernel.reshape(edges[0] // 2, 2, edges[1] // 2, 2, channels, -1).transpose(0, 2, 1, 3, 4, 5)
    return jax.lax.conv_general_dilated(
        inputs.reshape(*inputs.shape[:3], 4 * channels),
        kernel.reshape(*kernel.shape[:2], 4 * channels, -1),
        (1, 1),
        "VALID",
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
    )


def _cross_entropy_by_selection(original: Any) -> Any:
    """Selects the logarithm of the label's probability instead of multiplying all of them by a one-hot array.

    0.6 ms of GPT-2's step, whose logits are 3.3 GB.
    """

    def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
        fits = from_logits and axis in (-1, output.ndim - 1) and output.shape[-1] >= _MANY_CLASSES
        if not is_traced_for("gpu") or not fits:
            return original(target, output, from_logits=from_logits, axis=axis)
        output, target = jnp.asarray(output), jnp.asarray(target, "int32")
        if target.ndim == output.ndim and target.shape[-1] == 1:
            target = jnp.squeeze(target, -1)
        if target.shape != output.shape[:-1]:
            return original(target, output, from_logits=from_logits, axis=axis)  # its error
        is_label = jax.lax.broadcasted_iota("int32", output.shape, output.ndim - 1) == target[..., None]
        shifted = output - jax.lax.stop_gradient(jnp.max(output, -1, keepdims=True))
        normalizer = jnp.log(jnp.sum(jnp.exp(shifted), -1))
        is_class = (target >= 0) & (target < output.shape[-1])  # for no other does Keras's one-hot array have a one
        return jnp.where(is_class, normalizer - jnp.sum(jnp.where(is_label, shifted, 0), -1), 0)

    return sparse_categorical_crossentropy


GPU_LOWERINGS: Final = {
    "moments": (_moments_in_one_pass, "(x, axes, keepdims=False, synchronized=False)"),
    "gelu": (_gelu_by_erf, "(x, approximate=True)"),
    "conv": (
        _conv_of_few_channels,
        "(inputs, kernel, strides=1, padding='valid', data_format=None, dilation_rate=1)",
    ),
    "sparse_categorical_crossentropy": (
        _cross_entropy_by_selection,
        "(target, output, from_logits=False, axis=-1)",
    ),
}
"""The functions of `backend.nn` that are replaced: with what, and the signature that is expected of them."""
