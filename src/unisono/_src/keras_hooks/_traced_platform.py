"""For which kind of devices a program of ours is being traced: lowerings of other platforms are not in force."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class _TracedPlatform(threading.local):
    platform: str | None = None


_traced = _TracedPlatform()


@contextlib.contextmanager
def use_lowerings(platform: str) -> Iterator[None]:
    """Trace a program for devices of ``platform`` inside this block."""
    before, _traced.platform = _traced.platform, platform
    try:
        yield
    finally:
        _traced.platform = before


def is_traced_for(platform: str) -> bool:
    """Whether a program for devices of ``platform`` is being traced in this thread."""
    return _traced.platform == platform
