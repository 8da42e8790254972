"""TPU VMs, with a metadata server on this machine: real requests, answered as Google's server does."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.workers._job import SCRIPTS, free_ports
from unisono._src.strategy import _tpu_cluster_resolver
from unisono_launch.cluster import TPUVMClusterResolver, detect, explain_detection

ATTRIBUTES = "/computeMetadata/v1/instance/attributes/"

SLICE = {"agent-worker-number": "1", "worker-network-endpoints": "t0:8470:10.0.0.2,t1:8470:10.0.0.3"}
SLICE_OF_HOSTS = {"agent-worker-number": "0", "worker-network-endpoints": "t-0,t-1,t-2"}
TWO_SLICES = SLICE | {
    "tpu-env": "ACCELERATOR_TYPE: 'v4-16'\nMEGASCALE_NUM_SLICES: '2'\nMEGASCALE_SLICE_ID: '1'\n"
    "MEGASCALE_COORDINATOR_ADDRESS: 'localhost:8080'\n"
}


@contextlib.contextmanager
def serve(attributes: dict[str, str]) -> Iterator[dict[str, str]]:
    """A metadata server with these attributes; yields the variables by which it is found."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            value = attributes.get(self.path.removeprefix(ATTRIBUTES))
            known = value is not None and self.headers["Metadata-Flavor"] == "Google"
            self.send_response(200 if known else 404)
            self.end_headers()
            self.wfile.write((value or "not found").encode())

        def log_message(self, *args: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield {"GCE_METADATA_IP": f"127.0.0.1:{server.server_port}"}
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("attributes", "process", "coordinator", "name"),
    [
        (SLICE, (1, 2), "10.0.0.2:8482", "worker 1 at 10.0.0.3:8482"),
        (SLICE_OF_HOSTS, (0, 3), "t-0:8482", "worker 0 at t-0:8482"),
        (TWO_SLICES, (3, 4), "localhost:8482", "worker 3 at 10.0.0.3:8482"),
    ],
    ids=["one slice", "hosts", "two slices"],
)
def test_the_machines_of_a_slice_are_found(
    attributes: dict[str, str], process: tuple[int, int], coordinator: str, name: str
) -> None:
    with serve(attributes) as environ:
        resolver = detect(environ)
        assert isinstance(resolver, TPUVMClusterResolver)
        found = resolver.membership()
        taken = next(step for step in explain_detection(environ) if step.found)
    assert ((found.process_id, found.num_processes), found.coordinator, found.name) == (process, coordinator, name)
    assert (taken.kind, taken.reason) == ("TPU VM", f"one of {process[1]} machines of a TPU pod")
    assert (resolver.task_id, resolver.cluster_spec().num_tasks("worker")) == process


def test_a_machine_that_is_no_tpu_vm_or_has_one_is_alone() -> None:
    with serve({}) as environ:
        assert detect(environ) is None
        assert "has no attribute agent-worker-number" in TPUVMClusterResolver._look(environ)[1]
    with serve({"agent-worker-number": "0", "worker-network-endpoints": "t0"}) as environ:
        assert detect(environ) is None
    with serve(SLICE) as environ:
        assert detect({**environ, "TPU_SKIP_MDS_QUERY": "1"}) is None
    assert detect({}) is None  # no TPU here, so no server is asked


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (SLICE | {"worker-network-endpoints": "a:b"}, "Expected hosts, or name:number:address for each"),
        ({"agent-worker-number": "0"}, "Expected hosts"),
        (SLICE | {"agent-worker-number": "one"}, "TPU_WORKER_ID='one' is not a whole number"),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error(attributes: dict[str, str], message: str) -> None:
    with serve(attributes) as environ, pytest.raises(ValueError, match=message):
        detect(environ)


def test_a_server_that_does_not_answer_is_an_error_with_what_to_type() -> None:
    with serve({}) as environ:
        pass
    with pytest.raises(ValueError, match=r"does not answer: .*train on this machine alone: TPU_SKIP_MDS_QUERY=1"):
        detect(environ)


# JAX's own detection, which needs the package requests. Where that is missing, one function of it takes its place.
OF_JAX = """
import os, sys, types, urllib.error, urllib.request
try:
    import requests
except ImportError:
    def get(url, headers, timeout):
        try:
            answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout)
            return types.SimpleNamespace(text=answer.read().decode(), status_code=200)
        except urllib.error.HTTPError as error:
            return types.SimpleNamespace(text="", status_code=error.code)
    sys.modules["requests"] = types.ModuleType("requests")
    sys.modules["requests"].get = get
import jax
os.environ.pop("TPU_SKIP_MDS_QUERY", None)  # JAX sets it without a TPU
from jax._src.clusters.cloud_tpu_cluster import GceTpuCluster
print(GceTpuCluster.get_process_id(), GceTpuCluster.get_process_count(), GceTpuCluster.get_coordinator_address(5, None))
"""


@pytest.mark.slow
def test_jax_finds_the_same_machines(tmp_path: Path) -> None:
    with serve(TWO_SLICES) as environ:
        resolver = detect(environ)
        assert resolver is not None
        found = resolver.membership()
        (tmp_path / "of_jax.py").write_text(textwrap.dedent(OF_JAX))
        variables = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        process = subprocess.run(
            [sys.executable, str(tmp_path / "of_jax.py")],
            env=variables | environ | {"JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    assert process.stdout.split() == [str(found.process_id), str(found.num_processes), found.coordinator]


def test_tpu_strategies_join_the_machines_of_the_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tpu_cluster_resolver, "_why_no_tpu", lambda environ: None)  # as on a machine with TPUs
    with serve(SLICE) as environ:
        resolver = _tpu_cluster_resolver.TPUClusterResolver(environ=environ)
    assert (resolver.task_id, resolver.membership().num_processes) == (1, 2)
    assert resolver.cluster_spec().job_tasks("worker") == ["10.0.0.2:8482", "10.0.0.3:8482"]


@pytest.mark.full
@pytest.mark.timeout(180)
def test_a_launcher_on_each_tpu_vm_trains_one_job(tmp_path: Path) -> None:
    """Two machines in one, on CPU devices: what the launchers know comes from two metadata servers."""
    endpoints = {"worker-network-endpoints": "127.0.0.1,127.0.0.1"}
    flags = ["-n", "1", "--devices", "cpu:1", "--run-dir", str(tmp_path), "--master-port", str(free_ports(1)[0])]
    command = [sys.executable, "-m", "unisono_launch", "run", *flags, str(SCRIPTS / "detected.py")]
    variables = {name: value for name, value in os.environ.items() if name != "TPU_SKIP_MDS_QUERY"}  # set by JAX, here
    launchers = []
    with contextlib.ExitStack() as servers:
        try:
            for number in ("0", "1"):
                found = servers.enter_context(serve(endpoints | {"agent-worker-number": number}))
                launchers.append(subprocess.Popen(command, env=variables | found, stdout=subprocess.PIPE, text=True))
            outputs = [launcher.communicate(timeout=120)[0] for launcher in launchers]
        finally:
            for launcher in launchers:
                launcher.kill()
                launcher.wait()
    assert [launcher.returncode for launcher in launchers] == [0, 0], outputs
    for number, output in enumerate(outputs):
        assert f"worker {number} of 2" in output, output
    assert len({re.search(r"weights \w+", output)[0] for output in outputs}) == 1  # type: ignore[index]
