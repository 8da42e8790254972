"""What each worker finds in its environment.

| variable | what it says |
|---|---|
| `UNISONO_CLUSTER` | the whole job and which worker of it this is, as JSON; what Unisono reads |
| `TF_CONFIG` | the same as TensorFlow's tutorials write it, with several workers whose machines are all known; of a
    cluster with parameter servers, one task of which is started here, as it was |
| `RANK` `WORLD_SIZE` `LOCAL_RANK` `LOCAL_WORLD_SIZE` `MASTER_ADDR` `MASTER_PORT` | the same as torchrun says it |
| `UNISONO_RUN_DIR` | the folder of this run, an absolute path |
| `UNISONO_ATTEMPT` | 0, and one more after each restart; more than all before after SLURM has requeued the job |
| `UNISONO_JOB_SECRET` | what workers prove to each other when they connect; drawn by the launcher on one machine |
| `UNISONO_STATUS` | where this worker writes how far it is (`worker/_status.py`) |
| `UNISONO_JOB` | the mark by which processes of this job are found; set by `workers/_local_processes.py` |
| `UNISONO_STRATEGY` | with `--sharded`: sharded, what mirrored strategies are |
| `PYTHONUNBUFFERED` | 1: the last output of a killed worker is not lost |
| `PYTHONPATH` | with `--as-tensorflow`: before what the user has there, the folder by which `tensorflow` is ours |

and those of its devices (`_devices.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from unisono_launch.as_tensorflow import FOLDER
from unisono_launch.cluster import has_parameter_servers, join_address
from unisono_launch.connection import SECRET_VARIABLE
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.worker import STRATEGY_VARIABLE


def worker_environment(plan: AttemptPlan, rank: int, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of worker `rank`, made from the launcher's."""
    machines, local_rank = plan.machines, rank - plan.ranks.start
    cluster = {
        "version": 1,
        "coordinator": join_address(machines.master_address, plan.ports[0]),
        "num_processes": plan.num_workers,
        "process_id": rank,
        "names": machines.worker_names(plan.num_local_workers),
        "local": {"rank": local_rank, "size": plan.num_local_workers},
    }
    devices = plan.devices.variables(local_rank, plan.num_local_workers, environ)
    # JAX_LOCAL_DEVICE_IDS chooses among the devices of the launcher; those of a worker have other numbers.
    replaced = {"TF_CONFIG", "JAX_LOCAL_DEVICE_IDS"} if devices else {"TF_CONFIG"}
    return {
        **{name: value for name, value in environ.items() if name not in replaced},
        **_tf_config(plan, rank, environ),
        **_python_path(plan, environ),
        **({SECRET_VARIABLE: plan.secret} if plan.secret else {}),
        **({STRATEGY_VARIABLE: "sharded"} if plan.sharded else {}),
        **devices,
        "UNISONO_CLUSTER": json.dumps(cluster),
        "RANK": str(rank),
        "WORLD_SIZE": str(plan.num_workers),
        "LOCAL_RANK": str(local_rank),
        "LOCAL_WORLD_SIZE": str(plan.num_local_workers),
        "MASTER_ADDR": machines.master_address,
        "MASTER_PORT": str(plan.ports[0]),
        "UNISONO_RUN_DIR": str(plan.run_dir),
        "UNISONO_ATTEMPT": str(plan.attempt),
        "UNISONO_STATUS": str(plan.status_file(rank)),
        "PYTHONUNBUFFERED": "1",
    }


def _tf_config(plan: AttemptPlan, rank: int, environ: Mapping[str, str]) -> dict[str, str]:
    machines = plan.machines
    if plan.num_workers == 1 and has_parameter_servers(environ):
        return {"TF_CONFIG": environ["TF_CONFIG"]}
    if plan.num_workers == 1 or not machines.hosts_agreed:
        return {}
    hosts = (machines.master_address, *machines.hosts[1:])
    workers = [join_address(host, port) for host in hosts for port in plan.ports]
    return {"TF_CONFIG": json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}})}


def _python_path(plan: AttemptPlan, environ: Mapping[str, str]) -> dict[str, str]:
    if not plan.as_tensorflow:
        return {}
    inherited = environ.get("PYTHONPATH")  # an empty folder in it means the current one
    folders = [folder for folder in inherited.split(os.pathsep) if folder != FOLDER] if inherited else []
    return {"PYTHONPATH": os.pathsep.join([FOLDER, *folders])}
