"""`fit`, `evaluate` and `predict` of models that belong to a strategy."""

from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._methods import METHODS
from unisono._src.training._own_steps import converted_step, is_own
from unisono._src.training._programs import Program, programs
from unisono._src.training._resume import Resume
