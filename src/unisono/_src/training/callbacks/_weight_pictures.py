"""Weights as pictures, cut as Keras's callback cuts them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np


def weight_images(weight: Any) -> np.ndarray[Any, Any] | None:
    """Pictures of one weight, (number, height, width, channels); None for shapes that are none.

    A vector is one column of pixels, a matrix one picture that is wider than high, three dimensions a picture for each
    channel.

    >>> weight_images(np.zeros((5, 3))).shape
    (1, 3, 5, 1)
    >>> weight_images(np.zeros((3, 3, 8))).shape
    (8, 3, 3, 1)
    """
    array = np.squeeze(np.asarray(weight, np.float32))
    if array.ndim == 1:
        return array.reshape(1, -1, 1, 1)
    if array.ndim == 2:
        upright = array.T if array.shape[0] > array.shape[1] else array
        return upright[None, :, :, None]
    if array.ndim == 3:
        if keras.config.image_data_format() == "channels_last":
            array = array.transpose(2, 0, 1)
        return array[..., None]
    if array.ndim == 4 and array.shape[-1] in (1, 3, 4):
        return array
    return None
