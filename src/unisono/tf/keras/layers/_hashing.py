"""`Hashing`: hashes tokens into bins, without a vocabulary. Runs on the host."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from unisono.tf._fingerprint import fingerprint
from unisono.tf._tensors import to_host_tensor
from unisono.tf.keras.layers._encoding import check_mode, encode, encode_shape
from unisono.tf.keras.layers._vocabulary import to_text
from unisono.tf.ragged._base import is_ragged


@keras.saving.register_keras_serializable(package="unisono")
class Hashing(keras.Layer):
    """Hashes strings or integers into bins, with the results of TensorFlow's layer.

    >>> Hashing(num_bins=3)([["A"], ["B"]]).tolist()
    [[1], [0]]

    Args:
        num_bins: the number of bins.
        mask_value: the token that is mapped to bin 0, which no other token then is.
        output_mode: "int", "one_hot", "multi_hot" or "count".
        **kwargs: those of a layer.
    """

    runs_on_host = True

    def __init__(
        self,
        num_bins: int,
        mask_value: Any = None,
        salt: Any = None,
        output_mode: str = "int",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        kwargs.pop("dtype", None)
        super().__init__(**kwargs)
        if salt is not None or sparse:
            raise NotImplementedError("Hashing: salt and sparse=True are not supported. Leave them out.")
        if num_bins < 1:
            raise ValueError(f"Hashing: num_bins is {num_bins}. Expected at least 1.")
        self.num_bins, self.mask_value = int(num_bins), mask_value
        self.output_mode = check_mode(output_mode, ("int", "one_hot", "multi_hot", "count"))

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(inputs, keras.KerasTensor):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs)

    def call(self, inputs: Any) -> Any:
        """The bins of tokens, or their encoding as vectors."""
        if is_ragged(inputs):
            return inputs.with_flat_values(self.call(inputs.flat_values))
        tokens = np.asarray(inputs)
        bins = np.array([self._bin(token) for token in tokens.reshape(-1).tolist()], "int64").reshape(tokens.shape)
        if self.output_mode == "int":
            return to_host_tensor(bins)
        return to_host_tensor(encode(np, bins, self.output_mode, self.num_bins).astype("float32"))

    def compute_output_spec(self, inputs: Any) -> Any:
        """The result's shape and dtype."""
        shape = encode_shape(inputs.shape, self.output_mode, self.num_bins)
        return keras.KerasTensor(shape, "int32" if self.output_mode == "int" else "float32")

    def get_config(self) -> dict[str, Any]:
        """The configuration that a saved model stores."""
        base: dict[str, Any] = super().get_config()
        config = {"num_bins": self.num_bins, "mask_value": self.mask_value, "output_mode": self.output_mode}
        return base | config

    def _bin(self, token: Any) -> int:
        text = to_text(token)
        if self.mask_value is None:
            return fingerprint(text.encode()) % self.num_bins
        if text == to_text(self.mask_value):
            return 0
        return 1 + fingerprint(text.encode()) % max(self.num_bins - 1, 1)
