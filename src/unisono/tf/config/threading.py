"""`tf.config.threading`: accepted. XLA has a thread for each core; the environment variable NPROC changes that."""

from __future__ import annotations

from unisono.tf._missing import explain_missing_names as _explain_missing_names

_threads = {"inter": 0, "intra": 0}


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Accepted, without effect."""
    _threads["inter"] = int(num_threads)


def get_inter_op_parallelism_threads() -> int:
    """The value that was set; by default 0."""
    return _threads["inter"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Accepted, without effect."""
    _threads["intra"] = int(num_threads)


def get_intra_op_parallelism_threads() -> int:
    """The value that was set; by default 0."""
    return _threads["intra"]


__getattr__ = _explain_missing_names("tf.config.threading")
