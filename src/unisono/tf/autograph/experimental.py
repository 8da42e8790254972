"""`tf.autograph.experimental`: `do_not_convert`, `Feature`, `set_loop_options`."""

# ruff: noqa: F401  (names that the module re-exports)

from __future__ import annotations

import enum
from typing import Any, Final

from unisono._src.tracing.control_flow import do_not_convert
from unisono.tf._missing import explain_missing_names as _explain_missing_names

NO_MAXIMUM = """tf.autograph.experimental.set_loop_options(maximum_iterations={number}) is not supported. Write
the bound into the loop:
    for i in tf.range({number}):
        if not condition:
            break"""

_UNSPECIFIED: Final = object()


class Feature(enum.Enum):
    """Parts of AutoGraph that TensorFlow can switch off. In Unisono all of them are always on."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Returns all features."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Returns all features except one, or except those in a list, tuple or set."""
        excluded = exclude if isinstance(exclude, list | tuple | set) else [exclude]
        return tuple(feature for feature in cls if feature not in excluded)


def set_loop_options(
    parallel_iterations: Any = _UNSPECIFIED,
    swap_memory: Any = _UNSPECIFIED,
    maximum_iterations: Any = _UNSPECIFIED,
    shape_invariants: Any = _UNSPECIFIED,
) -> None:
    """Accepted in a loop without effect, except for ``maximum_iterations``, which raises NotImplementedError.

    Iterations always run one after the other. Shapes may not change between iterations, which has its own error.
    """
    if maximum_iterations is not _UNSPECIFIED and maximum_iterations is not None:
        raise NotImplementedError(NO_MAXIMUM.format(number=maximum_iterations))


__getattr__ = _explain_missing_names("tf.autograph.experimental")
