"""`tf.compat.v1.logging`: Python's logging, by the logger of `tf.get_logger()`."""

from __future__ import annotations

import logging as _logging
from typing import Any, Final

from unisono.tf._execution import get_logger
from unisono.tf._missing import explain_missing_names as _explain_missing_names

DEBUG: Final = _logging.DEBUG
ERROR: Final = _logging.ERROR
FATAL: Final = _logging.FATAL
INFO: Final = _logging.INFO
WARN: Final = _logging.WARNING


def set_verbosity(v: int) -> None:
    """Messages of at least this level are shown."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """The level from which on messages are shown."""
    return get_logger().getEffectiveLevel()


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Says something for those who look for mistakes."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Says something."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Says that something may be wrong."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Says that something is wrong."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Says that nothing can go on."""
    get_logger().fatal(msg, *args, **kwargs)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Says something at a level."""
    get_logger().log(level, msg, *args, **kwargs)


warn = warning

__getattr__ = _explain_missing_names("tf.compat.v1.logging")
