"""The options of `unisono run`, checked."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from typing import Final, Literal

_RESTARTS_WITH_RANGE: Final = 3  # MIN:MAX means that the job should survive losses


class UsageError(Exception):
    """The job cannot start with these options. The text says what to type instead."""


@dataclass(frozen=True)
class SizeRange:
    """A number that may change from one attempt to the next.

    >>> str(SizeRange(1, 4))
    '1:4'
    """

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}:{self.most}"


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """The flags of `unisono run`, and the program that it starts.

    >>> LaunchOptions(program=("-m", "package.train", "--lr", "1")).num_workers
    1
    """

    program: tuple[str, ...]
    """What follows `python`: `("train.py", "--lr", "1")` or `("-m", "package.train")`."""
    num_workers: int | SizeRange | Literal["auto", "gpu"] = 1
    """Workers on this machine, and on every other. "auto": one for each GPU, else one. "gpu": one for each GPU."""
    devices: str = "auto"
    nnodes: int | SizeRange | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    max_restarts: int | None = None
    """None: 0, or 3 for an elastic job (MIN:MAX)."""
    join_window: float = 120.0
    """Seconds that an elastic job waits for its machines before each attempt."""
    run_dir: str | None = None
    name: str | None = None
    grace: float = 10.0
    """Seconds from the first signal to SIGKILL."""
    as_tensorflow: bool = False
    """Whether `import tensorflow` means `unisono.tf` in the workers, and in processes that they start."""

    sharded: bool = False
    """Whether mirrored strategies divide weights and optimizer state among the devices."""

    def __post_init__(self) -> None:
        self._check_program()
        self._check_machines()
        self._check_workers()
        if self.restarts < 0:
            raise UsageError(f"--max-restarts {self.max_restarts} is negative. Give 0 or more.")
        if "://" in (self.run_dir or ""):
            raise UsageError(
                f"--run-dir {self.run_dir} is a URL, and logs are written to a folder of this machine. Give a folder, "
                f'and the URL to the script: fit(resume="{self.run_dir}").'
            )
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
        return (
            _RESTARTS_WITH_RANGE if isinstance(self.num_workers, SizeRange) or isinstance(self.nnodes, SizeRange) else 0
        )

    def _check_workers(self) -> None:
        if isinstance(self.num_workers, str):
            return
        least = self.num_workers.least if isinstance(self.num_workers, SizeRange) else self.num_workers
        if least < 1:
            raise UsageError(f"-n {self.num_workers} starts no worker. Give at least one, as in -n 2.")
        if isinstance(self.num_workers, SizeRange):
            _check_range("-n", self.num_workers)
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
        if os.path.basename(script).startswith("python") and len(self.program) > 1:
            raise UsageError(
                f"Leave {script!r} out: unisono run starts Python itself. Type: unisono run {self.program[1]}"
            )
        near = difflib.get_close_matches(script, [name for name in os.listdir() if name.endswith(".py")], 1)
        meant = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(
            f"There is no script {script!r} here ({os.getcwd()}).{meant} Name one that exists, or a module: "
            "-m package.module"
        )

    def _check_machines(self) -> None:
        nodes = self.nnodes
        least, most = (nodes.least, nodes.most) if isinstance(nodes, SizeRange) else (nodes, nodes)
        if least is not None and least < 1:
            raise UsageError(f"--nnodes {nodes} is less than one machine. Give at least 1.")
        if isinstance(nodes, SizeRange):
            _check_range("--nnodes", nodes)
        if self.node_rank is not None:
            if most is None:
                raise UsageError(f"--node-rank {self.node_rank} has no meaning without --nnodes. Add --nnodes N.")
            if not 0 <= self.node_rank < most:
                raise UsageError(
                    f"--node-rank {self.node_rank} is not one of {most} machines. "
                    f"Give 0 on the first, {most - 1} on the last."
                )
        # The launchers of an elastic job connect at the port before.
        first, last = 2 if isinstance(nodes, SizeRange) else 1, 65535 - self.restarts
        if self.master_port is not None and not first <= self.master_port <= last:
            raise UsageError(
                f"--master-port {self.master_port} is not a port from {first} to {last} "
                "(each restart takes the next one). Give another, as in --master-port 29500."
            )


def _check_range(flag: str, size_range: SizeRange) -> None:
    if size_range.least > size_range.most:
        raise UsageError(
            f"{flag} {size_range}: the least comes first. Write {flag} {size_range.most}:{size_range.least}"
        )
