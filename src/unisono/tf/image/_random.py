"""Images changed at random: by numbers that are others at every call, or that follow from a seed of two numbers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op_without_folding
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array
from unisono.tf.image._colors import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from unisono.tf.image._crop_pad_flip import flip_left_right, flip_up_down
from unisono.tf.image._jpeg import adjust_jpeg_quality
from unisono.tf.random._seed_generators import key_from_pair, next_key


@op_without_folding
def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Left and right exchanged, or not; each image of a batch by itself."""
    return _flipped(image, next_key(seed), flip_left_right)


@op_without_folding
def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Up and down exchanged, or not; each image of a batch by itself."""
    return _flipped(image, next_key(seed), flip_up_down)


@op_without_folding
def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """Brighter or darker, by ``max_delta`` at most."""
    return adjust_brightness(image, _between(next_key(seed), *_around(max_delta, "random_brightness")))


@op_without_folding
def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """With more or less contrast, by a factor between these."""
    return adjust_contrast(image, _between(next_key(seed), *_range(lower, upper, "random_contrast")))


@op_without_folding
def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """With stronger or weaker colours, by a factor between these."""
    return adjust_saturation(image, _between(next_key(seed), *_range(lower, upper, "random_saturation")))


@op_without_folding
def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """With other hues, by ``max_delta`` at most."""
    return adjust_hue(image, _between(next_key(seed), *_around(max_delta, "random_hue")))


@op_without_folding
def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None) -> Any:
    """After it has been a JPEG file of a quality between these."""
    quality = jax.random.randint(next_key(seed), (), min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, int(quality))


@op_without_folding
def random_crop(value: Any, size: Any, seed: Any = None) -> Any:
    """A part of this size, from a random place."""
    return _cropped(value, size, next_key(seed))


@op_without_folding
def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """Left and right exchanged, or not; each image of a batch by itself."""
    return _flipped(image, key_from_pair(seed), flip_left_right)


@op_without_folding
def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """Up and down exchanged, or not; each image of a batch by itself."""
    return _flipped(image, key_from_pair(seed), flip_up_down)


@op_without_folding
def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """Brighter or darker, by ``max_delta`` at most."""
    return adjust_brightness(image, _between(key_from_pair(seed), *_around(max_delta, "stateless_random_brightness")))


@op_without_folding
def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """With more or less contrast, by a factor between these."""
    return adjust_contrast(image, _between(key_from_pair(seed), *_range(lower, upper, "stateless_random_contrast")))


@op_without_folding
def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """With stronger or weaker colours, by a factor between these."""
    return adjust_saturation(image, _between(key_from_pair(seed), *_range(lower, upper, "stateless_random_saturation")))


@op_without_folding
def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """With other hues, by ``max_delta`` at most."""
    return adjust_hue(image, _between(key_from_pair(seed), *_around(max_delta, "stateless_random_hue")))


@op_without_folding
def stateless_random_crop(value: Any, size: Any, seed: Any) -> Any:
    """A part of this size, from a random place."""
    return _cropped(value, size, key_from_pair(seed))


def _flipped(image: Any, key: Any, flip: Any) -> Any:
    array = as_array(image)
    turned = as_array(flip(array))
    chosen = jax.random.bernoulli(key, 0.5, (array.shape[0], 1, 1, 1) if array.ndim == 4 else ())
    return jnp.where(chosen, turned, array)


def _between(key: Any, lower: float, upper: float) -> Any:
    return lower + (upper - lower) * jax.random.uniform(key, (), jnp.float32)


def _around(most: Any, name: str) -> tuple[float, float]:
    if float(most) < 0:
        raise ValueError(f"tf.image.{name}: max_delta is {most}. Expected 0 or more.")
    return -float(most), float(most)


def _range(lower: Any, upper: Any, name: str) -> tuple[float, float]:
    if not 0 <= float(lower) < float(upper):
        raise ValueError(f"tf.image.{name}: the factors go from {lower} to {upper}. Expected 0 <= lower < upper.")
    return float(lower), float(upper)


def _cropped(value: Any, size: Any, key: Any) -> Any:
    array, lengths = as_array(value), static_shape(size)
    room = [full - length for full, length in zip(array.shape, lengths, strict=True)]
    if min(room, default=0) < 0:
        raise ValueError(f"A part of the shape {lengths} does not fit into the shape {tuple(array.shape)}.")
    starts = jax.random.randint(key, (array.ndim,), 0, jnp.array(room) + 1)
    return jax.lax.dynamic_slice(array, [starts[dim] for dim in range(array.ndim)], lengths)
