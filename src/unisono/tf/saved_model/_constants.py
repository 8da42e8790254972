"""Names that TensorFlow's users know."""

from __future__ import annotations

from typing import Final

DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
SERVING: Final = "serve"
TRAINING: Final = "train"
GPU: Final = "gpu"
TPU: Final = "tpu"
PREDICT_INPUTS: Final = "inputs"
PREDICT_OUTPUTS: Final = "outputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
