"""Option classes that scripts set and that change nothing."""

from __future__ import annotations

import enum


class OptimizationOptions:
    """Accepts any attribute, such as `apply_default_optimizations`: datasets are always optimized."""


class ThreadingOptions:
    """Accepts any attribute, such as `private_threadpool_size`: the number of threads is always bounded."""


class AutotuneOptions:
    """Accepts any attribute, such as `ram_budget`."""


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
