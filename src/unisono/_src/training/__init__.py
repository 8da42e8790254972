"""`fit`, `evaluate` and `predict` of models that belong to a strategy."""

from unisono._src.training._custom_steps import has_tf_style_step, step_converter
from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._model_methods import MODEL_METHODS
from unisono._src.training._programs import Program, programs
from unisono._src.training._resume import Resume
