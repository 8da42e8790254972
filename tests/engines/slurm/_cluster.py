"""A real SLURM of two nodes on this machine, without systemd: munged, slurmctld, and a slurmd for each node."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

DEADLINE = 60.0

# Workers connect to each other by the names of their nodes, and these names need no entry in /etc/hosts.
NODES = ("127.0.0.2", "127.0.0.3")

# GraceTime=0: SLURM ends and requeues a preempted job at once; its processes have KillWait. With GraceTime it gives
# notice, and the batch script requeues the job. Short intervals: the defaults of the scheduler are 30 s and more.
CONFIGURATION = """
ClusterName=unisono
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,requeue_delay=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=30
MinJobAge=300
ReturnToService=2
MpiDefault=none
NodeName={nodes[0]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 State=UNKNOWN
NodeName={nodes[1]} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=notice Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=25
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
"""


def why_unavailable() -> str | None:
    """Why no SLURM can be started here; None if it can."""
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)} not installed: apt-get install slurmctld slurmd slurm-client munge"
    if os.geteuid() != 0:
        return "SLURM's daemons start jobs of other users, so they need root"
    return None


class SlurmCluster:
    """The daemons, and what tests ask of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.environ = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Starts the daemons and waits until both nodes are idle."""
        folder = self._folder
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        (folder / "state").mkdir()
        host = socket.gethostname().partition(".")[0]
        text = CONFIGURATION.format(host=host, folder=folder, nodes=NODES, ports=_free_ports(3))
        (folder / "slurm.conf").write_text(text)
        munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
        self._start("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *munge)
        wait_until((folder / "munge.socket").exists, "munged listens")
        self._start("slurmctld", "-D")
        for node in NODES:
            self._start("slurmd", "-D", "-N", node)
        wait_until(self._is_idle, "both nodes are idle")

    def stop(self) -> None:
        """Ends all jobs and all daemons."""
        self.call("scancel", "--signal=KILL", "--full", "--user=root", check=False)
        self.call("scancel", "--user=root", check=False)
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def call(self, *words: str, check: bool = True) -> str:
        """The output of one of SLURM's commands."""
        result = subprocess.run(
            words, env=os.environ | self.environ, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
        assert not check or result.returncode == 0, f"{words}: {result.stderr}"
        return result.stdout

    def field(self, job: str, name: str) -> str:
        """A field of `scontrol show job`."""
        words = self.call("scontrol", "--oneliner", "show", "job", job).split()
        return dict(word.partition("=")[::2] for word in words)[name]

    def wait_for_idle_nodes(self) -> None:
        """Waits until nothing runs and nothing is being ended."""
        wait_until(self._is_idle, "both nodes are idle")

    def start_requeued(self, job: str) -> None:
        """Starts a requeued job now, and not two minutes after it was requeued."""

        wait_until(lambda: self._field_is(job, "JobState", "PENDING"), "the job waits in the queue")
        time.sleep(3)  # a job that starts in the second in which it was ended is refused: its credential is revoked
        self.call("scontrol", "update", f"jobid={job}", "StartTime=now")
        wait_until(lambda: self._field_is(job, "JobState", "RUNNING"), "the requeued job runs")
        assert self.field(job, "Restarts") == "1"

    def _field_is(self, job: str, name: str, value: str) -> bool:
        return self.field(job, name) == value

    def _is_idle(self) -> bool:
        out = self.call("sinfo", "--noheader", "--partition=low", "--states=idle", "--format=%D %T", check=False)
        return out.split() == ["2", "idle"]

    def _start(self, *words: str) -> None:
        environ = os.environ | self.environ
        # If this process is killed, its daemons end too.
        command = ("setpriv", "--pdeathsig", "TERM", *words) if shutil.which("setpriv") else words
        with (self._folder / f"{words[0]}-{len(self._daemons)}.log").open("wb") as log:
            daemon = subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._daemons.append(daemon)


def wait_until(condition: Callable[[], bool], what: str, deadline: float = DEADLINE) -> None:
    """Waits until a condition holds."""
    end = time.monotonic() + deadline
    while not condition():
        assert time.monotonic() < end, f"This did not happen within {deadline:g} s: {what}"
        time.sleep(0.1)


def _free_ports(number: int) -> list[int]:
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [int(server.getsockname()[1]) for server in servers]
    for server in servers:
        server.close()
    return ports
