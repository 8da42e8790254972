"""`tf.compat.v1.logging`: Python's logging, with the logger of `tf.get_logger()`."""

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
    """Sets the lowest level that is shown."""
    get_logger().setLevel(v)


def get_verbosity() -> int:
    """Returns the lowest level that is shown."""
    return get_logger().getEffectiveLevel()


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message for debugging."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs an informational message."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a warning."""
    get_logger().warning(msg, *args, **kwargs)


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs an error."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a fatal error. The process continues."""
    get_logger().fatal(msg, *args, **kwargs)


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs a message at a level."""
    get_logger().log(level, msg, *args, **kwargs)


warn = warning

__getattr__ = _explain_missing_names("tf.compat.v1.logging")
