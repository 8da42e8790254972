"""Numbers as people read them."""

from __future__ import annotations


def in_gigabytes(num_bytes: int) -> str:
    """A size in GB of 10⁹ bytes.

    >>> in_gigabytes(8_318_000_000), in_gigabytes(143_000_000_000)
    ('8.3 GB', '143 GB')
    """
    gigabytes = num_bytes / 1e9
    return f"{gigabytes:.0f} GB" if gigabytes >= 100 else f"{gigabytes:.1f} GB"


def counted(number: int, thing: str) -> str:
    """A number of things.

    >>> counted(1, "device"), counted(8, "GPU")
    ('1 device', '8 GPUs')
    """
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
