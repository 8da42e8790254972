"""Facts about this process that need neither JAX nor Keras."""

from unisono._src.core._byte_sizes import format_bytes, parse_bytes
from unisono._src.core._environment import Environment, nproc_for, read_environment
from unisono._src.core._fit_facts import FitFacts, active_fit_facts, collect_fit_facts, measure
from unisono._src.core._override import OutOfRangeError, Override, out_of_range_error
from unisono._src.core._prerequisites import WRONG_BACKEND, check_versions, choose_jax_backend
from unisono._src.core._run_format import METRICS_FILE, PARTS, RUN_FILE, RUN_VERSION, divide_time
from unisono._src.core._warnings import warn_user
