"""`tf.autograph.experimental`."""

# ruff: noqa: F401  (names that the module re-exports)

from __future__ import annotations

import enum
from typing import Any, Final

from unisono._src.tracing.control_flow import do_not_convert
from unisono.tf._missing import explain_missing_names as _explain_missing_names

NO_MAXIMUM = """set_loop_options(maximum_iterations={number}) is not available. Say it in the loop:
    for i in tf.range({number}):
        if not condition:
            break"""

_UNSPECIFIED: Final = object()


class Feature(enum.Enum):
    """Parts of AutoGraph that TensorFlow can leave out. Here all are always there."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """All of them."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """All but one, or but those in a list or tuple."""
        excluded = exclude if isinstance(exclude, list | tuple | set) else [exclude]
        return tuple(feature for feature in cls if feature not in excluded)


def set_loop_options(
    parallel_iterations: Any = _UNSPECIFIED,
    swap_memory: Any = _UNSPECIFIED,
    maximum_iterations: Any = _UNSPECIFIED,
    shape_invariants: Any = _UNSPECIFIED,
) -> None:
    """Accepted in a loop, except for ``maximum_iterations``.

    A turn follows the other, and shapes stay as they are: one that changes is an error of its own.
    """
    if maximum_iterations is not _UNSPECIFIED and maximum_iterations is not None:
        raise NotImplementedError(NO_MAXIMUM.format(number=maximum_iterations))


__getattr__ = _explain_missing_names("tf.autograph.experimental")
