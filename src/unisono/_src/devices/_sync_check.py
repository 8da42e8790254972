"""Whether to look after every epoch if all devices and processes still have the same weights."""

from __future__ import annotations

_sync_check = False


def set_sync_check(on: bool) -> None:
    """Compares the weights of all devices and processes after every epoch of `fit`, and raises if they differ.

    It takes time, and should never find anything: it is for those who doubt, and for looking for a mistake.

    ```python
    unisono.config.set_sync_check(True)
    ```
    """
    global _sync_check
    _sync_check = bool(on)


def sync_check() -> bool:
    """What :func:`set_sync_check` said last."""
    return _sync_check
