"""`tf.keras.losses`: Keras's, with `Reduction` and the short names of Keras 2."""

from __future__ import annotations

from typing import Final

import keras

from unisono.tf.keras._keras_fallback import keras_fallback


class Reduction:
    """How a loss reduces the values of a batch. `AUTO` is `SUM_OVER_BATCH_SIZE`."""

    AUTO: Final = "auto"
    NONE: Final = "none"
    SUM: Final = "sum"
    SUM_OVER_BATCH_SIZE: Final = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError unless ``key`` is a reduction."""
        if key not in cls.all():
            raise ValueError(f"{key!r} is not a reduction. Expected one of: {', '.join(cls.all())}.")


MSE = mse = keras.losses.mean_squared_error
MAE = mae = keras.losses.mean_absolute_error
MAPE = mape = keras.losses.mean_absolute_percentage_error
MSLE = msle = keras.losses.mean_squared_logarithmic_error
KLD = kld = kullback_leibler_divergence = keras.losses.kl_divergence
logcosh = keras.losses.log_cosh

__getattr__ = keras_fallback(globals(), "tf.keras.losses", keras.losses)
