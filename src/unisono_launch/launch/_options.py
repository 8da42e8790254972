"""What `unisono run` was asked to do, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal


class UsageError(Exception):
    """The job cannot start as it was described. The text says what to type instead."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The flags of `unisono run`, and the program that it starts.

    >>> Options(program=("-m", "package.train", "--lr", "1")).num_workers
    1
    """

    program: tuple[str, ...]
    """What follows `python`: `("train.py", "--lr", "1")` or `("-m", "package.train")`."""
    num_workers: int | Literal["auto", "gpu"] = 1
    """Workers on this machine, and on every other. "auto": one for each GPU, else one. "gpu": one for each GPU."""
    devices: str = "auto"
    nnodes: int | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    max_restarts: int = 0
    run_dir: str | None = None
    name: str | None = None
    grace: float = 10.0
    """Seconds from the first signal to SIGKILL."""

    def __post_init__(self) -> None:
        self._check_program()
        self._check_machines()
        if self.num_workers not in ("auto", "gpu") and int(self.num_workers) < 1:
            raise UsageError(f"-n {self.num_workers} starts no worker. Give at least one, as in -n 2.")
        if self.max_restarts < 0:
            raise UsageError(f"--max-restarts {self.max_restarts} is less than none. Give 0 or more.")
        if not 0 <= self.grace < float("inf"):
            raise UsageError(f"--grace {self.grace} is not a number of seconds. Give one, as in --grace 30.")
        if self.name is not None and (self.name in ("", ".", "..") or "/" in self.name):
            raise UsageError(
                f"--name {self.name!r} is not the name of a folder. Give a plain name, as in --name mnist, "
                "or a path with --run-dir."
            )

    def _check_program(self) -> None:
        script = self.program[0]
        if script == "-m" or os.path.isfile(script):
            return
        if os.path.isdir(script):
            raise UsageError(f"{script!r} is a folder. Name a script in it, or a module: -m package.module")
        raise UsageError(
            f"There is no script {script!r} here ({os.getcwd()}). Name one that exists, or a module: -m package.module"
        )

    def _check_machines(self) -> None:
        if self.nnodes is not None and self.nnodes < 1:
            raise UsageError(f"--nnodes {self.nnodes} is no machine at all. Give at least 1.")
        if self.node_rank is not None:
            if self.nnodes is None:
                raise UsageError(f"--node-rank {self.node_rank} says nothing without --nnodes. Add --nnodes N.")
            if not 0 <= self.node_rank < self.nnodes:
                raise UsageError(
                    f"--node-rank {self.node_rank} is not one of {self.nnodes} machines. "
                    f"Give 0 on the first, {self.nnodes - 1} on the last."
                )
        if self.master_port is not None and not 1 <= self.master_port <= 65535 - self.max_restarts:
            raise UsageError(
                f"--master-port {self.master_port} is not a port from 1 to {65535 - self.max_restarts} "
                "(each restart takes the next one). Give another, as in --master-port 29500."
            )
