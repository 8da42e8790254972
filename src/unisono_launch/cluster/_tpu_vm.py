"""TPU VMs of Google Cloud, whose machines find each other by asking the metadata server."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from unisono_launch.cluster._accelerators import has_tpu_files
from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._tpu_pod import TPUPodClusterResolver

_HOST: Final = "metadata.google.internal"
_SECONDS: Final = 5.0  # the server is on the machine's host, and answers in milliseconds
_SLICES: Final = ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "MEGASCALE_COORDINATOR_ADDRESS")


class TPUVMClusterResolver(ClusterResolver):
    """Asks the metadata server for the machines of this TPU slice, by the same attributes as JAX.

    `agent-worker-number` is this machine's number, `worker-network-endpoints` lists all of them, and `tpu-env` says how
    slices are joined, where the environment does not. The server is asked only on machines with TPUs, or if
    `GCE_METADATA_IP` names it; `TPU_SKIP_MDS_QUERY=1` stops that, here and in JAX.
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = ("TPU_SKIP_MDS_QUERY", "GCE_METADATA_IP", *_SLICES)

    def __init__(self, *, rpc_layer: str | None = "grpc", environ: Mapping[str, str] = os.environ) -> None:
        found = _ask_for_slice(environ)
        if found is None:
            raise ValueError(f"{_server(environ)} has no attribute agent-worker-number: this is no TPU VM.")
        self._environ = environ
        self._pod = TPUPodClusterResolver(rpc_layer=rpc_layer, environ=found)
        self._task_type, self._task_id, self._rpc_layer = self._pod.task_type, self._pod.task_id, rpc_layer

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether this machine is one of several TPU VMs, and why."""
        if environ.get("TPU_SKIP_MDS_QUERY"):  # JAX sets it too, where it finds no TPU
            return False, "TPU_SKIP_MDS_QUERY is set: the metadata server is not asked"
        if not environ.get("GCE_METADATA_IP") and not _has_tpu(environ):
            return False, "no TPU on this machine: the metadata server is not asked"
        found = _ask_for_slice(environ)
        if found is None:
            return False, f"{_server(environ)} has no attribute agent-worker-number: not a TPU VM"
        return TPUPodClusterResolver._look(found)

    def cluster_spec(self) -> ClusterSpec:
        """All machines, as workers."""
        return self._pod.cluster_spec()

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        return self._pod.membership()


def _has_tpu(environ: Mapping[str, str], root: Path = Path("/")) -> bool:
    platforms = environ.get("JAX_PLATFORMS")
    if platforms and "tpu" not in platforms.split(","):
        return False
    return has_tpu_files(root) and importlib.util.find_spec("libtpu") is not None


def _ask_for_slice(environ: Mapping[str, str]) -> dict[str, str] | None:
    """The slice as the variables of a TPU pod describe it; None if this machine is no TPU VM."""
    number = _ask(environ, "agent-worker-number")
    if number is None:
        return None
    endpoints = [entry.split(":") for entry in (_ask(environ, "worker-network-endpoints") or "").strip().split(",")]
    if any(len(parts) not in (1, 3) or not parts[-1] for parts in endpoints):
        raise ValueError(
            f"{_server(environ)} has the machines of this TPU as {endpoints}. Expected hosts, or name:number:address "
            "for each. Say which machines there are: TPU_WORKER_HOSTNAMES=t0,t1 TPU_WORKER_ID=0"
        )
    slices = {name: environ[name] for name in _SLICES if environ.get(name)}
    if not slices:
        lines = (line.partition(":") for line in (_ask(environ, "tpu-env") or "").splitlines())
        of_server = {name.strip(): value.strip().strip("'") for name, _, value in lines}
        slices = {name: of_server[name] for name in _SLICES if of_server.get(name)}
    hosts = ",".join(parts[-1] for parts in endpoints)
    return {"TPU_WORKER_ID": number.strip(), "TPU_WORKER_HOSTNAMES": hosts, **slices}


def _ask(environ: Mapping[str, str], attribute: str) -> str | None:
    """The value of an attribute of this machine; None if it has no such attribute."""
    # Imported here: it takes 30 ms, and the launcher starts in fewer where there is nothing to ask.
    import urllib.error
    import urllib.request

    url = f"http://{_server(environ)}/computeMetadata/v1/instance/attributes/{attribute}"
    request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy is another machine
    try:
        with direct.open(request, timeout=_SECONDS) as answer:
            text: str = answer.read().decode()
            return text
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 404:
            return None
        raise ValueError(f"{url} answers with code {error.code}. {_ADVICE}") from None
    except OSError as error:
        raise ValueError(f"{url} does not answer: {error}. {_ADVICE}") from None


_ADVICE = (
    "The machines of a TPU slice are found there. Name them instead (TPU_WORKER_HOSTNAMES=t0,t1 TPU_WORKER_ID=0), or "
    "train on this machine alone: TPU_SKIP_MDS_QUERY=1"
)


def _server(environ: Mapping[str, str]) -> str:
    return environ.get("GCE_METADATA_IP") or _HOST
