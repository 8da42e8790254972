"""`tf.saved_model`: models and functions in a folder that needs none of their code to be loaded."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.saved_model._constants import (
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    GPU,
    PREDICT_INPUTS,
    PREDICT_METHOD_NAME,
    PREDICT_OUTPUTS,
    SERVING,
    TPU,
    TRAINING,
)
from unisono.tf.saved_model._format import contains_saved_model
from unisono.tf.saved_model._load import load
from unisono.tf.saved_model._options import LoadOptions, SaveOptions
from unisono.tf.saved_model._save import save

__getattr__ = _explain_missing_names("tf.saved_model")
