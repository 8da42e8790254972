"""What `unisono run` was asked to do, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, Literal

_RESTARTS_OF_SPANS: Final = 3  # who writes MIN:MAX wants the job to go on


class UsageError(Exception):
    """The job cannot start as it was described. The text says what to type instead."""


@dataclass(frozen=True)
class Span:
    """A number that may change from one attempt to the next.

    >>> str(Span(1, 4))
    '1:4'
    """

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}:{self.most}"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The flags of `unisono run`, and the program that it starts.

    >>> Options(program=("-m", "package.train", "--lr", "1")).num_workers
    1
    """

    program: tuple[str, ...]
    """What follows `python`: `("train.py", "--lr", "1")` or `("-m", "package.train")`."""
    num_workers: int | Span | Literal["auto", "gpu"] = 1
    """Workers on this machine, and on every other. "auto": one for each GPU, else one. "gpu": one for each GPU."""
    devices: str = "auto"
    nnodes: int | Span | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    max_restarts: int | None = None
    """None: 0, or 3 for a job whose size may change."""
    join_window: float = 120.0
    """Seconds that a job of changing size waits for its machines before each attempt."""
    run_dir: str | None = None
    name: str | None = None
    grace: float = 10.0
    """Seconds from the first signal to SIGKILL."""
    as_tensorflow: bool = False
    """Whether `import tensorflow` means `unisono.tf` in the workers, and in what they start."""

    def __post_init__(self) -> None:
        self._check_program()
        self._check_machines()
        self._check_workers()
        if self.restarts < 0:
            raise UsageError(f"--max-restarts {self.max_restarts} is less than none. Give 0 or more.")
        for flag, seconds in (("--grace", self.grace), ("--join-window", self.join_window)):
            if not 0 <= seconds < float("inf"):
                raise UsageError(f"{flag} {seconds} is not a number of seconds. Give one, as in {flag} 30.")
        if self.name is not None and (self.name in ("", ".", "..") or "/" in self.name):
            raise UsageError(
                f"--name {self.name!r} is not the name of a folder. Give a plain name, as in --name mnist, "
                "or a path with --run-dir."
            )

    @property
    def restarts(self) -> int:
        """How often all may start again after a failure."""
        if self.max_restarts is not None:
            return self.max_restarts
        return _RESTARTS_OF_SPANS if isinstance(self.num_workers, Span) or isinstance(self.nnodes, Span) else 0

    def _check_workers(self) -> None:
        if isinstance(self.num_workers, str):
            return
        least = self.num_workers.least if isinstance(self.num_workers, Span) else self.num_workers
        if least < 1:
            raise UsageError(f"-n {self.num_workers} starts no worker. Give at least one, as in -n 2.")
        if isinstance(self.num_workers, Span):
            _check_span("-n", self.num_workers)
            if self.nnodes not in (None, 1):
                raise UsageError(
                    f"-n {self.num_workers} with --nnodes {self.nnodes}: every machine has the same number of workers. "
                    f"Give one, as in -n {self.num_workers.most}, and let the number of machines change."
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
        nodes = self.nnodes
        least, most = (nodes.least, nodes.most) if isinstance(nodes, Span) else (nodes, nodes)
        if least is not None and least < 1:
            raise UsageError(f"--nnodes {nodes} is no machine at all. Give at least 1.")
        if isinstance(nodes, Span):
            _check_span("--nnodes", nodes)
        if self.node_rank is not None:
            if most is None:
                raise UsageError(f"--node-rank {self.node_rank} says nothing without --nnodes. Add --nnodes N.")
            if not 0 <= self.node_rank < most:
                raise UsageError(
                    f"--node-rank {self.node_rank} is not one of {most} machines. "
                    f"Give 0 on the first, {most - 1} on the last."
                )
        # The launchers of a job of changing size meet at the port before.
        first, last = 2 if isinstance(nodes, Span) else 1, 65535 - self.restarts
        if self.master_port is not None and not first <= self.master_port <= last:
            raise UsageError(
                f"--master-port {self.master_port} is not a port from {first} to {last} "
                "(each restart takes the next one). Give another, as in --master-port 29500."
            )


def _check_span(flag: str, span: Span) -> None:
    if span.least > span.most:
        raise UsageError(f"{flag} {span}: the least comes first. Write {flag} {span.most}:{span.least}")
