"""`tf.compat.v1.saved_model.signature_constants`: names of signatures."""

from typing import Final

DEFAULT_SERVING_SIGNATURE_DEF_KEY: Final = "serving_default"
PREDICT_INPUTS: Final = "inputs"
PREDICT_OUTPUTS: Final = "outputs"
PREDICT_METHOD_NAME: Final = "tensorflow/serving/predict"
