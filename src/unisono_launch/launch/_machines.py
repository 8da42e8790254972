"""Which machines take part in the job, and which of them is this one."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from unisono_launch.cluster import (
    SlurmClusterResolver,
    detect,
    has_parameter_servers,
    is_srun_task,
    membership,
    split_address,
)
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError
from unisono_launch.launch.workers import JOB_VARIABLE

_DEFAULT_PORT: Final = 29500  # torchrun's


@dataclass(frozen=True, kw_only=True)
class Machines:
    """The machines of a job, each of which runs this command.

    >>> pair = Machines(
    ...     rank=1, hosts=("hosta", "hostb"), master_address="hosta", master_port=29500, source="an example"
    ... )
    >>> pair.worker_names(2)
    ['worker 0 on hosta', 'worker 1 on hosta', 'worker 2 on hostb', 'worker 3 on hostb']
    """

    rank: int
    hosts: tuple[str, ...]
    """The name of each machine; empty where this one does not know it."""
    hosts_agreed: bool = False
    """Whether all machines know all of `hosts`, and by the same names."""
    master_address: str
    """Where worker 0 is reached by its peers."""
    master_port: int | None
    """The port there in the first attempt. None: any that is free, since all workers are on this machine."""
    source: str
    """Where this information comes from."""
    job_id: str | None = None
    """What SLURM calls this job: its number, and the step's (`7.1`) if that is not the first. The same on all machines,
    and after a requeue."""

    @property
    def is_single(self) -> bool:
        """Whether the job has this machine only."""
        return len(self.hosts) == 1

    def narrow(self, rank: int, hosts: Iterable[str], master_port: int, source: str) -> Machines:
        """Those that take part in one attempt of an elastic job."""
        return replace(self, rank=rank, hosts=tuple(hosts), hosts_agreed=True, master_port=master_port, source=source)

    def worker_names(self, num_local_workers: int) -> list[str]:
        """What each worker is called in messages."""
        machines = [host or f"machine {rank}" for rank, host in enumerate(self.hosts)]
        return [
            f"worker {rank * num_local_workers + i} on {machine}"
            for rank, machine in enumerate(machines)
            for i in range(num_local_workers)
        ]

    def public_address_warning(self, *, has_secret: bool) -> str | None:
        """A warning if the whole internet may reach the address of the job; None if it is private."""
        public = [] if self.is_single else _public_addresses(self.master_address)
        if not public:
            return None
        reach = f"{self.master_address} is a public address ({', '.join(public)}). Every program that reaches port"
        danger = (
            f"{self.master_port} there can end the job: the connections of JAX itself have no password."
            if has_secret
            else f"{self.master_port} there can join the job, which has no UNISONO_JOB_SECRET."
        )
        return f"{reach} {danger} Name an address of a private network with --master-addr."


def find_machines(options: LaunchOptions, environ: Mapping[str, str]) -> Machines:
    """From the flags, else from the cluster's environment, else this machine alone."""
    if options.node_rank is not None or options.master_addr is not None:
        if options.nnodes != 1:
            return _from_flags(options)
    # A worker that starts another job has the numbers of its own job in its environment.
    elif options.nnodes != 1 and JOB_VARIABLE not in environ:
        found = _from_cluster(options, environ)
        if found is not None:
            return found
        if options.nnodes is not None:
            raise UsageError(
                f"--nnodes {options.nnodes}, and neither SLURM nor Kubernetes nor another cluster says which of "
                "them this machine is. Add --node-rank R --master-addr A, where A is the first machine's address."
            )
    return Machines(
        rank=0,
        hosts=(socket.gethostname(),),
        hosts_agreed=True,
        master_address="127.0.0.1",
        master_port=options.master_port,
        source="one machine",
        job_id=_slurm_job(environ) if _is_whole_step(environ) else None,
    )


def _from_flags(options: LaunchOptions) -> Machines:
    nnodes, rank, address = options.nnodes, options.node_rank, options.master_addr
    if nnodes is None or rank is None or address is None:
        flags = {"--nnodes N": nnodes, "--node-rank R": rank, "--master-addr A": address}
        missing = [flag for flag, value in flags.items() if value is None]
        raise UsageError(f"A job over several machines needs {' and '.join(missing)} too.")
    hosts = [""] * (nnodes.most if isinstance(nnodes, SizeRange) else nnodes)
    hosts[0] = address
    hosts[rank] = socket.gethostname()
    return Machines(
        rank=rank,
        hosts=tuple(hosts),
        master_address=address,
        master_port=options.master_port or _DEFAULT_PORT,
        source="--node-rank",
    )


def _from_cluster(options: LaunchOptions, environ: Mapping[str, str]) -> Machines | None:
    if has_parameter_servers(environ):  # its tasks do not train together: each is started by itself
        return None
    try:
        # A copy: SLURM's resolver divides GPUs by setting a variable, and that is what --devices does.
        resolver = detect(dict(environ))
        found = None if resolver is None else membership(resolver)
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"{error}\nOr say that this machine is alone: --nnodes 1") from None
    if found is None or found.coordinator is None:
        if found is not None and found.role == "evaluator":
            raise UsageError(f"{found.source}: this is the evaluator, which trains alone. Start it with python.")
        return None
    if not _allows(options.nnodes, found.num_processes):
        raise UsageError(
            f"--nnodes {options.nnodes}, but {found.source} names {found.num_processes} machines. Leave --nnodes out."
        )
    address, port = split_address(found.coordinator)
    hosts = tuple(_host_in_name(name) for name in found.names)
    return Machines(
        rank=found.process_id,
        hosts=hosts,
        hosts_agreed=all(hosts),
        master_address=address,
        master_port=options.master_port or port,
        source=found.source,
        # mpirun starts its processes on the other machines by a step of their own, and on the first one by none.
        job_id=_slurm_job(environ) if isinstance(resolver, SlurmClusterResolver) else environ.get("SLURM_JOB_ID"),
    )


def _is_whole_step(environ: Mapping[str, str]) -> bool:
    """Whether this is the only task of an `srun` step, and not a process that a worker in it has started."""
    num_tasks = environ.get("SLURM_STEP_NUM_TASKS") or environ.get("SLURM_NTASKS")
    return is_srun_task(environ) and num_tasks == "1" and JOB_VARIABLE not in environ


def _slurm_job(environ: Mapping[str, str]) -> str | None:
    job, step = environ.get("SLURM_JOB_ID"), environ.get("SLURM_STEP_ID")
    return job if not job or step in (None, "", "0") else f"{job}.{step}"


def _allows(nnodes: int | SizeRange | None, num_machines: int) -> bool:
    if isinstance(nnodes, SizeRange):
        return nnodes.least <= num_machines <= nnodes.most
    return nnodes in (None, num_machines)


def _host_in_name(name: str) -> str:
    """The host of 'worker 1 at host:port'; empty where the name has none."""
    try:
        return split_address(name.rpartition(" at ")[2])[0]
    except ValueError:
        return ""


def _public_addresses(host: str) -> list[str]:
    try:
        found = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    except OSError:  # the workers will report it
        return []
    return sorted(address for address in found if ipaddress.ip_address(address.partition("%")[0]).is_global)
