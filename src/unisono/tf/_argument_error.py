"""The error that functions of the namespace raise for invalid arguments: TensorFlow's and Python's in one class."""

from __future__ import annotations

from typing import Any

from unisono.tf import errors


class ArgumentError(errors.InvalidArgumentError, TypeError):
    """A shape, a dtype or a value is invalid.

    TensorFlow raises InvalidArgumentError, ValueError or TypeError for it, depending on the layer that checks first.
    This class is all three, so that any `except` clause of a script catches it.

    >>> [issubclass(ArgumentError, kind) for kind in (errors.InvalidArgumentError, ValueError, TypeError)]
    [True, True, True]
    """

    def __init__(self, *args: Any) -> None:
        # Keras creates the same error again with a longer message, and passes only that message.
        super().__init__(*(args if len(args) > 1 else (None, None, *args)))


def to_argument_error(error: Exception) -> ArgumentError:
    """Converts an error to that class, with the same traceback and notes."""
    converted = ArgumentError(str(error)).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        converted.add_note(note)
    return converted
