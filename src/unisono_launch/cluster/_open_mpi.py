"""Open MPI 4 and 5: the processes of one `mpirun`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import ClassVar

from unisono_launch.cluster._address import derive_port, join_address
from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._ranked import RankedResolver, name_workers
from unisono_launch.cluster._variables import find_inner_launcher, read_int

# Open MPI 4, from mpirun: "188219392.0;tcp://192.0.2.2:49053;tcp6://[fd00::2]:37435", several hosts with commas.
_HEAD_URI = re.compile(r"(?P<job>\d+)\.\d+;.*?(?:tcp://(?P<v4>[^,:;]+)|tcp6://\[(?P<v6>[^],]+))")
# Open MPI 5, "prterun-<host of mpirun>-<its process>@1". PMIX_SERVER_URI… would not do: it is this node's own daemon,
# on loopback (seen with 5.0.11).
_NAMESPACE = re.compile(r"[a-z]+[-.](?P<host>.+)[-.](?P<process>\d+)@\d+")


class OpenMpiClusterResolver(RankedResolver):
    """Reads the variables that `mpirun` of Open MPI sets for each process.

    The coordinator is at `MASTER_ADDR` if it is set (`mpirun -x MASTER_ADDR=host …`), on this machine if all processes
    are on it, else on the machine where `mpirun` was typed, as in JAX. Process 0 must run there: type `mpirun` on one
    of the nodes, or set `MASTER_ADDR`. The port is `MASTER_PORT`, else it follows from the number of the MPI job.

    >>> environ = {
    ...     "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4",
    ...     "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    ...     "PMIX_NAMESPACE": "prterun-node18-12345@1",
    ... }
    >>> OpenMpiClusterResolver(environ=environ).membership().coordinator
    'node18:61497'
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
        "OMPI_MCA_orte_hnp_uri",
        "PMIX_NAMESPACE",
        "MASTER_ADDR",
        "MASTER_PORT",
    )

    def __init__(self, *, rpc_layer: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(_membership(environ), rpc_layer)
        self._environ = environ

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        rank, size = environ.get("OMPI_COMM_WORLD_RANK"), environ.get("OMPI_COMM_WORLD_SIZE")
        if not rank or not size:
            return False, "OMPI_COMM_WORLD_RANK is not set: not started by Open MPI's mpirun"
        inner = find_inner_launcher(environ, outer="Open MPI")
        if inner:
            return False, inner
        return size != "1", f"process {rank} of {size} of an mpirun"


def _membership(environ: Mapping[str, str]) -> Membership:
    size = read_int(environ, "OMPI_COMM_WORLD_SIZE", least=1)
    local_size = read_int(environ, "OMPI_COMM_WORLD_LOCAL_SIZE", least=1, default=1)
    host, job = _find_head(environ)
    host = environ.get("MASTER_ADDR") or ("127.0.0.1" if size == local_size else host)
    if host is None:
        raise ValueError(
            "The address of the coordinator of this mpirun does not follow from "
            f"OMPI_MCA_orte_hnp_uri={environ.get('OMPI_MCA_orte_hnp_uri')!r} and "
            f"PMIX_NAMESPACE={environ.get('PMIX_NAMESPACE')!r}. Name the host of process 0: "
            "mpirun -x MASTER_ADDR=host1 …"
        )
    coordinator = join_address(host, read_int(environ, "MASTER_PORT", least=1, default=derive_port(job)))
    return Membership(
        num_processes=size,
        process_id=read_int(environ, "OMPI_COMM_WORLD_RANK"),
        coordinator=coordinator,
        names=name_workers(size, coordinator),
        local_rank=read_int(environ, "OMPI_COMM_WORLD_LOCAL_RANK", default=0),
        local_size=local_size,
        takes_gpu_of_local_rank=True,
        source="OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE",
    )


def _find_head(environ: Mapping[str, str]) -> tuple[str | None, int]:
    """The host where mpirun was typed, if it is known, and a number that is the same in all processes of the job."""
    old = _HEAD_URI.match(environ.get("OMPI_MCA_orte_hnp_uri", ""))
    if old:
        return old["v4"] or old["v6"], int(old["job"]) // 4096  # it is a multiple of 4096
    new = _NAMESPACE.fullmatch(environ.get("PMIX_NAMESPACE", ""))
    return (new["host"], int(new["process"])) if new else (None, 0)
