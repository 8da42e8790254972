"""`tf.keras.losses.Reduction`."""

from __future__ import annotations

from typing import Final


class Reduction:
    """How a loss makes one number of many. `AUTO` is `SUM_OVER_BATCH_SIZE`."""

    AUTO: Final = "auto"
    NONE: Final = "none"
    SUM: Final = "sum"
    SUM_OVER_BATCH_SIZE: Final = "sum_over_batch_size"

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises unless ``key`` is one of them."""
        if key not in cls.all():
            raise ValueError(f"{key!r} is no reduction. Known are: {', '.join(cls.all())}.")
