"""What functions of the namespace raise for arguments that do not fit: TensorFlow's error, and Python's."""

from __future__ import annotations

from typing import Any

from unisono.tf import errors


class ArgumentError(errors.InvalidArgumentError, TypeError):
    """A shape, a dtype or a value does not fit.

    TensorFlow has InvalidArgumentError, ValueError and TypeError for it, which depends on who notices; JAX has others.
    This is all of them.

    >>> [issubclass(ArgumentError, kind) for kind in (errors.InvalidArgumentError, ValueError, TypeError)]
    [True, True, True]
    """

    def __init__(self, *args: Any) -> None:
        # Keras makes the same error again with a longer message, and gives that alone.
        super().__init__(*(args if len(args) > 1 else (None, None, *args)))


def to_argument_error(error: Exception) -> ArgumentError:
    """The same error, of that class, with the same traceback and notes."""
    made = ArgumentError(str(error)).with_traceback(error.__traceback__)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    return made
