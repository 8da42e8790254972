"""Random image augmentation: `random_*` draws new numbers at every call, `stateless_random_*` uses a given seed."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from unisono.tf._op import op_without_folding
from unisono.tf._operands import static_shape
from unisono.tf._tensors import as_array
from unisono.tf.image._colors import (
    adjust_brightness,
    adjust_contrast,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,
)
from unisono.tf.image._crop_pad_flip import flip_left_right, flip_up_down
from unisono.tf.random._seed_generators import key_from_pair, next_key


@op_without_folding
def random_flip_left_right(image: Any, seed: Any = None) -> Any:
    """Mirrors the image horizontally with probability 1/2; each image of a batch independently."""
    return _random_flip(image, next_key(seed), flip_left_right)


@op_without_folding
def random_flip_up_down(image: Any, seed: Any = None) -> Any:
    """Mirrors the image vertically with probability 1/2; each image of a batch independently."""
    return _random_flip(image, next_key(seed), flip_up_down)


@op_without_folding
def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """Calls :func:`adjust_brightness` with a delta from [-max_delta, max_delta)."""
    return adjust_brightness(image, _random_delta(next_key(seed), max_delta, "random_brightness"))


@op_without_folding
def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """Calls :func:`adjust_contrast` with a factor from [lower, upper)."""
    return adjust_contrast(image, _random_factor(next_key(seed), lower, upper, "random_contrast"))


@op_without_folding
def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """Calls :func:`adjust_saturation` with a factor from [lower, upper)."""
    return adjust_saturation(image, _random_factor(next_key(seed), lower, upper, "random_saturation"))


@op_without_folding
def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Any:
    """Calls :func:`adjust_hue` with a delta from [-max_delta, max_delta)."""
    return adjust_hue(image, _random_delta(next_key(seed), max_delta, "random_hue"))


@op_without_folding
def random_jpeg_quality(image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any = None) -> Any:
    """Calls :func:`adjust_jpeg_quality` with a quality from [min_jpeg_quality, max_jpeg_quality)."""
    quality = jax.random.randint(next_key(seed), (), min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, int(quality))


@op_without_folding
def random_crop(value: Any, size: Any, seed: Any = None) -> Any:
    """Crops ``size`` at a random offset."""
    return _random_crop(value, size, next_key(seed))


@op_without_folding
def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
    """:func:`random_flip_left_right` with a seed of two integers."""
    return _random_flip(image, key_from_pair(seed), flip_left_right)


@op_without_folding
def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
    """:func:`random_flip_up_down` with a seed of two integers."""
    return _random_flip(image, key_from_pair(seed), flip_up_down)


@op_without_folding
def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
    """:func:`random_brightness` with a seed of two integers."""
    return adjust_brightness(image, _random_delta(key_from_pair(seed), max_delta, "stateless_random_brightness"))


@op_without_folding
def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
    """:func:`random_contrast` with a seed of two integers."""
    return adjust_contrast(image, _random_factor(key_from_pair(seed), lower, upper, "stateless_random_contrast"))


@op_without_folding
def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
    """:func:`random_saturation` with a seed of two integers."""
    return adjust_saturation(image, _random_factor(key_from_pair(seed), lower, upper, "stateless_random_saturation"))


@op_without_folding
def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
    """:func:`random_hue` with a seed of two integers."""
    return adjust_hue(image, _random_delta(key_from_pair(seed), max_delta, "stateless_random_hue"))


@op_without_folding
def stateless_random_crop(value: Any, size: Any, seed: Any) -> Any:
    """:func:`random_crop` with a seed of two integers."""
    return _random_crop(value, size, key_from_pair(seed))


def _random_flip(image: Any, key: Any, flip: Any) -> Any:
    array = as_array(image)
    is_flipped = jax.random.bernoulli(key, 0.5, (array.shape[0], 1, 1, 1) if array.ndim == 4 else ())
    return jnp.where(is_flipped, as_array(flip(array)), array)


def _random_delta(key: Any, max_delta: Any, name: str) -> Any:
    if float(max_delta) < 0:
        raise ValueError(f"tf.image.{name}: max_delta is {max_delta}. Expected 0 or more.")
    return _random_between(key, -float(max_delta), float(max_delta))


def _random_factor(key: Any, lower: Any, upper: Any, name: str) -> Any:
    if not 0 <= float(lower) < float(upper):
        raise ValueError(f"tf.image.{name}: lower is {lower}, upper is {upper}. Expected 0 <= lower < upper.")
    return _random_between(key, float(lower), float(upper))


def _random_between(key: Any, lower: float, upper: float) -> Any:
    return lower + (upper - lower) * jax.random.uniform(key, (), jnp.float32)


def _random_crop(value: Any, size: Any, key: Any) -> Any:
    array, target = as_array(value), static_shape(size)
    max_offsets = [full - length for full, length in zip(array.shape, target, strict=True)]
    if min(max_offsets, default=0) < 0:
        raise ValueError(f"A crop of the shape {target} does not fit into the shape {tuple(array.shape)}.")
    offsets = jax.random.randint(key, (array.ndim,), 0, jnp.array(max_offsets) + 1)
    return jax.lax.dynamic_slice(array, [offsets[dim] for dim in range(array.ndim)], target)
