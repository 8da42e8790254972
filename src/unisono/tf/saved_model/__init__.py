"""`tf.saved_model`: models and functions in a folder that can be loaded without their code."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.saved_model._format import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY, GPU, PREDICT_INPUTS, PREDICT_METHOD_NAME, PREDICT_OUTPUTS, SERVING, TPU,
    TRAINING, contains_saved_model,
)
from unisono.tf.saved_model._load import load
from unisono.tf.saved_model._options import LoadOptions, SaveOptions
from unisono.tf.saved_model._save import save

__getattr__ = _explain_missing_names("tf.saved_model")
