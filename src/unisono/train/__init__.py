"""`fit`, `evaluate` and `predict` of models that belong to a strategy."""

from unisono.train._in_sync import check_in_sync as check_in_sync
from unisono.train._methods import METHODS as METHODS
from unisono.train._own_steps import converted_step as converted_step
from unisono.train._own_steps import is_own as is_own
from unisono.train._programs import Program as Program
from unisono.train._programs import programs as programs
from unisono.train._resume import Resume as Resume
