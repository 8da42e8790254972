"""Whether `tf.function`s are compiled."""

from __future__ import annotations

from unisono._src.tracing.functions import functions_run_eagerly, run_functions_eagerly

experimental_functions_run_eagerly = functions_run_eagerly
experimental_run_functions_eagerly = run_functions_eagerly
