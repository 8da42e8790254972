"""`TPUClusterResolver`: the TPUs of this machine, or of the pod that it belongs to."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from unisono_launch._install_command import install_command
from unisono_launch.cluster import (
    ClusterResolver,
    ClusterSpec,
    Membership,
    TPUPodClusterResolver,
    TPUVMClusterResolver,
    fake_tpu_cores,
)

if TYPE_CHECKING:
    import jax

_PORT: Final = 8470  # TensorFlow's, shown and not used

NO_TPU = """no TPU: {reason}.
On a machine with TPUs, install JAX for them: {install}
and run the script there.
Without a TPU, UNISONO_FAKE_TPU=8 in the environment runs the same code on 8 CPU devices, and
unisono.MirroredStrategy() trains on the GPUs or CPUs of this machine."""


class TPUSystemMetadata(NamedTuple):
    """Facts about the TPUs: `tf.tpu.experimental.TPUSystemMetadata`."""

    num_cores: int
    num_hosts: int
    num_of_cores_per_host: int
    topology: None
    devices: tuple[str, ...]


class TPUClusterResolver(ClusterResolver):
    """Finds TPUs, or raises `ValueError` ("no TPU: …") when it is created.

    Notebooks catch that error to fall back on other devices; JAX is not started to find out. The script runs on the
    machine that has the TPUs (in a pod: on each), so the arguments by which TensorFlow finds TPUs elsewhere (`zone`,
    `project` and the following ones) are accepted, without effect. With `UNISONO_FAKE_TPU=8`, 8 CPU devices act as TPU
    cores.

    ```python
    resolver = unisono.cluster_resolver.TPUClusterResolver.connect()
    strategy = unisono.TPUStrategy(resolver)
    ```
    """

    def __init__(
        self,
        tpu: str | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
        *,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        del zone, project, coordinator_name, coordinator_address, credentials, service, discovery_url
        self._environ = environ
        self._tpu = tpu
        self._num_fake = fake_tpu_cores(environ)
        reason = None if self._num_fake else _why_no_tpu(environ)
        if reason:
            raise ValueError(NO_TPU.format(reason=reason, install=install_command("tpu")))
        self._pod: ClusterResolver | None = None
        if not self._num_fake and TPUPodClusterResolver._look(environ)[0]:
            self._pod = TPUPodClusterResolver(environ=environ)
        elif not self._num_fake and TPUVMClusterResolver._look(environ)[0]:
            self._pod = TPUVMClusterResolver(environ=environ)
        self._task_type = job_name
        self._task_id = self._pod.task_id if self._pod else 0
        self._rpc_layer = "grpc"

    @staticmethod
    def connect(tpu: str | None = None, zone: str | None = None, project: str | None = None) -> TPUClusterResolver:
        """A resolver whose TPUs JAX has found; in a pod that has to wait until its machines have joined."""
        resolver = TPUClusterResolver(tpu, zone, project)
        if resolver._pod is None:
            resolver.devices()
        return resolver

    def devices(self) -> list[jax.Device]:
        """All TPU cores of the job; those of this machine until the machines of a pod have joined. Starts JAX."""
        if self._num_fake:
            from unisono._src.devices import resolve_devices

            return resolve_devices([f"cpu:{i}" for i in range(self._num_fake)])
        import jax

        try:
            return list(jax.devices("tpu"))
        except RuntimeError as error:
            reason = f"JAX found none ({error})"
            raise ValueError(NO_TPU.format(reason=reason, install=install_command("tpu"))) from None

    def cluster_spec(self) -> ClusterSpec:
        """The machines with TPUs; empty for `tpu="local"`, as in TensorFlow."""
        if self._tpu == "local":
            return ClusterSpec({})
        if self._pod is None:
            return ClusterSpec({self._job: [f"localhost:{_PORT}"]})
        return ClusterSpec({self._job: self._pod.cluster_spec().job_tasks("worker")})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The address of the given task, otherwise of this machine, in TensorFlow's form; empty for `tpu="local"`."""
        del rpc_layer
        if self._tpu == "local":
            return ""
        job = self._job if task_type is None else task_type
        return f"grpc://{self.cluster_spec().task_address(job, (self._task_id or 0) if task_id is None else task_id)}"

    def get_master(self) -> str:
        """The same as :meth:`master`."""
        return self.master()

    def get_job_name(self) -> str:
        """The job of the TPUs: "worker"."""
        return self._job

    def get_coordination_service_leader(self) -> str:
        """The task that TensorFlow coordinates from."""
        return f"/job:{self._job}/task:0"

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """The TPU cores of each machine. Starts JAX."""
        del task_type, task_id, config_proto
        return {"TPU": self.get_tpu_system_metadata().num_of_cores_per_host}

    def get_tpu_system_metadata(self) -> TPUSystemMetadata:
        """How many TPU cores and machines there are. Starts JAX, so in a pod, call it after creating the strategy."""
        devices = self.devices()
        hosts = sorted({device.process_index for device in devices})
        of_host = {host: [device for device in devices if device.process_index == host] for host in hosts}
        names = [
            f"/job:{self._job}/replica:0/task:{task}/device:TPU:{core}"
            for task, host in enumerate(hosts)
            for core, _ in enumerate(of_host[host])
        ]
        return TPUSystemMetadata(len(devices), len(hosts), len(of_host[hosts[0]]), None, tuple(names))

    @staticmethod
    def set_tpu_topology(*args: Any, **kwargs: Any) -> None:
        """Not supported. JAX finds the topology by itself."""
        raise NotImplementedError("set_tpu_topology: JAX finds the topology by itself. Leave the call out.")

    def membership(self) -> Membership:
        """This process among those that train together: a single process, except in a pod."""
        if self._pod is not None:
            return self._pod.membership()
        source = "UNISONO_FAKE_TPU" if self._num_fake else "the TPUs of this machine"
        return Membership(num_processes=1, process_id=0, coordinator=None, names=("worker 0",), source=source)

    @property
    def _job(self) -> str:
        return self._task_type or "worker"


def _why_no_tpu(environ: Mapping[str, str], devices: Path = Path("/dev")) -> str | None:
    """Why JAX will find no TPU, without starting it; None if it may find one."""
    platforms = environ.get("JAX_PLATFORMS", "")
    if platforms and "tpu" not in platforms.split(","):
        return f"JAX_PLATFORMS={platforms} excludes TPUs"
    if importlib.util.find_spec("libtpu") is None:
        return "libtpu is not installed, without which JAX finds none"
    if not any(devices.glob("accel[0-9]*")) and not any(devices.glob("vfio/[0-9]*")):
        return "this machine has no device /dev/accel* or /dev/vfio/*"
    return None
