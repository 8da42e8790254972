"""`tf.train.Checkpoint`, which restores what fits and leaves it to the script to ask for more."""

from __future__ import annotations

import os
from typing import Any

from unisono._src.state import checkpoint
from unisono._src.state.checkpoint import LoadStatus


class Checkpoint(checkpoint.Checkpoint):
    """`unisono.checkpoint.Checkpoint`, whose `restore` and `read` raise nothing for what is in one of both only.

    The result complains, if it is asked: `assert_consumed()`, `assert_existing_objects_matched()`. Without that, and
    without `expect_partial()`, there is a warning.

    >>> import tempfile, keras
    >>> path = Checkpoint(a=keras.Variable(1.0)).save(tempfile.mkdtemp() + "/ckpt")
    >>> a, b = keras.Variable(0.0), keras.Variable(0.0)
    >>> status = Checkpoint(a=a, b=b).restore(path).expect_partial()
    >>> float(a.value), status.missing
    (1.0, ['b'])
    """

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: Any = None, *, strict: bool | None = None
    ) -> LoadStatus:
        """Restores what fits from the folder that `save` returned; None does nothing.

        A value of another shape or dtype is an error. ``strict`` means what it means there: True makes errors of what
        is left over, False passes over it without a warning.
        """
        status = super().restore(save_path, options, strict=strict is True)
        return status.expect_all() if strict is None else status

    def read(self, save_path: str | os.PathLike[str], options: Any = None, *, strict: bool | None = None) -> LoadStatus:
        """The same for what `write` wrote: `save_counter` stays what it is."""
        status = super().read(save_path, options, strict=strict is True)
        return status.expect_all() if strict is None else status
