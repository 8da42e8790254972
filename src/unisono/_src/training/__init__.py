"""`fit`, `evaluate` and `predict` of models that belong to a strategy."""

from unisono._src.training._custom_steps import has_tf_style_step, step_converter
from unisono._src.training._feeds import text_reader_for
from unisono._src.training._error_hints import explain_training_errors
from unisono._src.training._history_chart import HistoryChart, plot_history
from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._method_call import MethodCall
from unisono._src.training._model_methods import MODEL_METHODS
from unisono._src.training._programs import Program, build_program, forget_programs, programs
from unisono._src.training._resume import Resume
from unisono._src.training._step_variables import StepVariables
from unisono._src.training.records import without_recording
