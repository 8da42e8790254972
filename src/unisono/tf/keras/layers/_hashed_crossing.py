"""`HashedCrossing`: combinations of features, hashed into bins. Runs on the host."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from unisono.tf._tensors import to_host_tensor
from unisono.tf.keras.layers._encoding import check_mode, encode
from unisono.tf.sparse._features import hashed_rows


@keras.saving.register_keras_serializable(package="unisono")
class HashedCrossing(keras.Layer):
    """Hashes combinations of features into bins, with the results of TensorFlow's layer.

    >>> HashedCrossing(num_bins=5)((np.array(["A", "B"]), np.array([101, 102]))).shape
    TensorShape([2])

    Args:
        num_bins: the number of bins.
        output_mode: "int" or "one_hot".
        **kwargs: those of a layer.
    """

    runs_on_host = True

    def __init__(self, num_bins: int, output_mode: str = "int", sparse: bool = False, **kwargs: Any) -> None:
        kwargs.pop("dtype", None)
        super().__init__(**kwargs)
        if sparse:
            raise NotImplementedError("HashedCrossing: sparse=True is not supported. Leave it out.")
        self.num_bins, self.output_mode = int(num_bins), check_mode(output_mode, ("int", "one_hot"))

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if any(isinstance(each, keras.KerasTensor) for each in inputs):
            return super().__call__(inputs, *args, **kwargs)
        return self.call(inputs)

    def call(self, inputs: Any) -> Any:
        """The bins of the combinations, or their encoding as vectors."""
        columns = [np.asarray(each) for each in inputs]
        shape = columns[0].shape
        if any(column.shape != shape for column in columns) or len(shape) > 2 or shape[1:] not in ((), (1,)):
            shapes = [column.shape for column in columns]
            raise ValueError(f"HashedCrossing: the inputs have the shapes {shapes}. Expected (rows,) or (rows, 1).")
        rows = hashed_rows([column.reshape(-1, 1) for column in columns], self.num_bins, None)
        bins = np.array(rows, "int64").reshape(shape)
        if self.output_mode == "int":
            return to_host_tensor(bins)
        return to_host_tensor(encode(np, bins, "one_hot", self.num_bins).astype("float32"))

    def compute_output_spec(self, inputs: Any) -> Any:
        """The result's shape and dtype."""
        shape = tuple(inputs[0].shape)
        if self.output_mode == "int":
            return keras.KerasTensor(shape, "int32")
        return keras.KerasTensor((*shape[:1], self.num_bins), "float32")

    def get_config(self) -> dict[str, Any]:
        """The configuration that a saved model stores."""
        base: dict[str, Any] = super().get_config()
        return base | {"num_bins": self.num_bins, "output_mode": self.output_mode}
