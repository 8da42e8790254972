"""What each worker finds in its environment.

| variable | what it says |
|---|---|
| `UNISONO_CLUSTER` | the whole job and this worker's place in it, as JSON; what Unisono reads |
| `TF_CONFIG` | the same as TensorFlow's tutorials write it, with several workers whose machines are all known |
| `RANK` `WORLD_SIZE` `LOCAL_RANK` `LOCAL_WORLD_SIZE` `MASTER_ADDR` `MASTER_PORT` | the same as torchrun says it |
| `UNISONO_RUN_DIR` | the folder of this run, an absolute path |
| `UNISONO_ATTEMPT` | 0, and one more after each restart |
| `UNISONO_STATUS` | where this worker writes how far it is (`_status.py`) |
| `UNISONO_JOB` | the mark by which processes of this job are found (`_guard.py`) |
| `PYTHONUNBUFFERED` | 1: a killed worker's last words are not lost |
| `PYTHONPATH` | with `--as-tensorflow`: before what the user has there, the folder by which `tensorflow` is ours |

and those of its devices (`_devices.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from unisono_launch.as_tensorflow import FOLDER
from unisono_launch.cluster import join_address
from unisono_launch.launch._admission import SECRET
from unisono_launch.launch._devices import Devices
from unisono_launch.launch._guard import MARK
from unisono_launch.launch._machines import Machines


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the workers of one attempt have in common."""

    job: str
    attempt: int
    run_dir: Path
    machines: Machines
    devices: Devices
    local_size: int
    ports: tuple[int, ...]
    """One for each worker of a machine. The first one of the first machine is the coordinator's."""
    as_tensorflow: bool = False

    @property
    def num_workers(self) -> int:
        """Workers of the whole job."""
        return self.local_size * len(self.machines.hosts)

    @property
    def ranks(self) -> range:
        """The numbers of this machine's workers in the whole job."""
        return range(self.machines.rank * self.local_size, (self.machines.rank + 1) * self.local_size)

    @property
    def logs(self) -> Path:
        """The folder of this attempt's logs."""
        return self.run_dir / "logs" / f"attempt-{self.attempt}"

    def log(self, rank: int) -> Path:
        """Where the output of a worker is stored."""
        return self.logs / f"worker-{rank}.log"

    def status(self, rank: int) -> Path:
        """Where a worker writes how far it is."""
        return self.logs / f"worker-{rank}.status"


def worker_environment(layout: Layout, rank: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of worker `rank`, made from the launcher's own."""
    machines, local_rank = layout.machines, rank - layout.ranks.start
    coordinator = join_address(machines.address, layout.ports[0])
    cluster = {
        "version": 1,
        "coordinator": coordinator,
        "num_processes": layout.num_workers,
        "process_id": rank,
        "names": machines.names(layout.local_size),
        "local": {"rank": local_rank, "size": layout.local_size},
    }
    # Workers do not need the secret of the launchers, and may print what they have.
    inherited = {name: value for name, value in environ.items() if name not in ("TF_CONFIG", SECRET)}
    return {
        **inherited,
        **_tf_config(layout, rank),
        **_python_path(layout, environ),
        **layout.devices.variables(local_rank, layout.local_size, environ),
        "UNISONO_CLUSTER": json.dumps(cluster),
        "RANK": str(rank),
        "WORLD_SIZE": str(layout.num_workers),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(layout.local_size),
        "MASTER_ADDR": machines.address,
        "MASTER_PORT": str(layout.ports[0]),
        "UNISONO_RUN_DIR": str(layout.run_dir),
        "UNISONO_ATTEMPT": str(layout.attempt),
        "UNISONO_STATUS": str(layout.status(rank)),
        MARK: layout.job,
        "PYTHONUNBUFFERED": "1",
    }


def _tf_config(layout: Layout, rank: int) -> dict[str, str]:
    machines = layout.machines
    if layout.num_workers == 1 or not machines.known:
        return {}
    hosts = (machines.address, *machines.hosts[1:])
    workers = [join_address(host, port) for host in hosts for port in layout.ports]
    return {"TF_CONFIG": json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})}


def _python_path(layout: Layout, environ: Mapping[str, str]) -> dict[str, str]:
    if not layout.as_tensorflow:
        return {}
    own = environ.get("PYTHONPATH")  # an empty folder in it stands for the current one
    folders = [folder for folder in own.split(os.pathsep) if folder != FOLDER] if own else []
    return {"PYTHONPATH": os.pathsep.join([FOLDER, *folders])}
