"""The plan of one attempt: which workers there are, on which machines, devices and ports, and where their files are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unisono_launch.launch._devices import MachineDevices
from unisono_launch.launch._machines import Machines


@dataclass(frozen=True, kw_only=True)
class AttemptPlan:
    """What the workers of one attempt have in common."""

    attempt: int
    run_dir: Path
    machines: Machines
    devices: MachineDevices
    num_local_workers: int
    """On this machine, and on every other."""
    ports: tuple[int, ...]
    """One for each worker of a machine. The first one of the first machine is the coordinator's."""
    as_tensorflow: bool = False
    sharded: bool = False
    secret: str = ""
    """What the workers prove to each other when they connect; empty: nothing."""

    @property
    def num_workers(self) -> int:
        """Workers of the whole job."""
        return self.num_local_workers * len(self.machines.hosts)

    @property
    def ranks(self) -> range:
        """The ranks of this machine's workers in the whole job."""
        first = self.machines.rank * self.num_local_workers
        return range(first, first + self.num_local_workers)

    @property
    def log_folder(self) -> Path:
        """The folder of this attempt's logs."""
        return self.run_dir / "logs" / f"attempt-{self.attempt}"

    def log_file(self, rank: int) -> Path:
        """Where the output of a worker is stored."""
        return self.log_folder / f"worker-{rank}.log"

    def status_file(self, rank: int) -> Path:
        """Where a worker writes how far it is."""
        return self.log_folder / f"worker-{rank}.status"
