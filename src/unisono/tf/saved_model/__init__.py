"""`tf.saved_model`: models and functions in a folder that needs none of their code to be loaded."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.saved_model._constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY as DEFAULT_SERVING_SIGNATURE_DEF_KEY
from unisono.tf.saved_model._constants import GPU as GPU
from unisono.tf.saved_model._constants import PREDICT_INPUTS as PREDICT_INPUTS
from unisono.tf.saved_model._constants import PREDICT_METHOD_NAME as PREDICT_METHOD_NAME
from unisono.tf.saved_model._constants import PREDICT_OUTPUTS as PREDICT_OUTPUTS
from unisono.tf.saved_model._constants import SERVING as SERVING
from unisono.tf.saved_model._constants import TPU as TPU
from unisono.tf.saved_model._constants import TRAINING as TRAINING
from unisono.tf.saved_model._format import contains_saved_model as contains_saved_model
from unisono.tf.saved_model._load import load as load
from unisono.tf.saved_model._options import LoadOptions as LoadOptions
from unisono.tf.saved_model._options import SaveOptions as SaveOptions
from unisono.tf.saved_model._save import save as save

__getattr__ = _missing_in("tf.saved_model")
