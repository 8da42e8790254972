"""What a Keras model is called with, as it was built or first called.

Checked against Keras 3.15.1: `get_input_signature` gives a list with an `InputSpec` for each array, None for the batch.
"""

from __future__ import annotations

from typing import Any

from keras.src.export.export_utils import get_input_signature


def input_signature(model: Any) -> list[Any]:
    """The positional arguments of a built model, with Keras's `InputSpec` in the place of each array."""
    return list(get_input_signature(model))
