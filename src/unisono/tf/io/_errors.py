"""What the system says of files, as the errors of `tf.errors`. These are Python's own, too."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from unisono.tf import errors


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """An OSError inside becomes the one of `tf.errors` that means the same."""
    try:
        yield
    except errors.OpError:
        raise
    except FileNotFoundError as error:
        raise errors.NotFoundError(None, None, f"{path}; No such file or directory") from error
    except FileExistsError as error:
        raise errors.AlreadyExistsError(None, None, f"{path}; File exists") from error
    except PermissionError as error:
        raise errors.PermissionDeniedError(None, None, f"{path}; {error.strerror}") from error
    except OSError as error:  # a folder in the place of a file, a folder that is not empty
        raise errors.FailedPreconditionError(None, None, f"{path}; {error.strerror}") from error
