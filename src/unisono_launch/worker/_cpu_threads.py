"""Threads for several CPU devices in one process."""

from __future__ import annotations

import os


def num_cpu_threads(cpu_devices: int) -> int:
    """The value of ``NPROC`` under which that many CPU devices cannot starve each other.

    XLA:CPU sizes its thread pool by ``NPROC`` (else by the cores). A launch with a collective occupies one
    thread per device until all have met; with too few threads two launches wait for each other for ever.
    Twice the devices is enough while few launches are in flight (4 devices pass with 8 threads, 8 devices
    abort with 8 and pass with 16).
    """
    return max(2 * cpu_devices, os.cpu_count() or 1)
