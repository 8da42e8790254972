"""Groups of hints about how a dataset runs. Scripts set them; they change nothing."""

from __future__ import annotations

import enum


class OptimizationOptions:
    """Takes any attribute, as `apply_default_optimizations`: datasets are always rewritten to run well."""


class ThreadingOptions:
    """Takes any attribute, as `private_threadpool_size`: threads are always bounded."""


class AutotuneOptions:
    """Takes any attribute, as `ram_budget`."""


class AutotuneAlgorithm(enum.Enum):
    """Accepted, without effect."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """Accepted, without effect."""

    WARN = 0
    IGNORE = 1
    FAIL = 2
