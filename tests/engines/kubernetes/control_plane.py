"""A Kubernetes control plane on this machine: etcd, the API server, and the controllers of Job, JobSet and TrainJob.

The executables are in `.venvs/kubernetes`, where they are not installed by any lock: they are built from the sources of
Kubernetes, JobSet and Kubeflow Trainer. The folder has

- `etcd`, `kube-apiserver`, `kube-controller-manager`: as released;
- `jobset-controller`, `trainer-controller`: the controllers and webhooks of both projects with the `main` in the folder
  `controllers`, which takes the certificate from the folder CERT_DIR and the port of the webhooks from WEBHOOK_PORT,
  instead of from the cluster (Trainer was tried without its plugins for gang scheduling, Flux and its status server);
- `crds/*.yaml`, `webhooks/*.yaml`: of both projects, from the folders with these names in their sources.

There is no kubelet and no network: :mod:`tests.engines.kubernetes.node` runs the pods as processes of this machine.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / ".venvs" / "kubernetes"
EXECUTABLES = ("etcd", "kube-apiserver", "kube-controller-manager", "jobset-controller", "trainer-controller")
DEADLINE = 120.0


def find_obstacle() -> str | None:
    """Why there can be no control plane here, or None."""
    missing = [name for name in EXECUTABLES if not os.access(FOLDER / name, os.X_OK)]
    if missing:
        return f"no {', '.join(missing)} in .venvs/kubernetes; control_plane.py says what they are"
    missing = [name for name in ("kubectl", "openssl", "unshare") if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)} on the PATH"
    return None if os.geteuid() == 0 else "only root can give pods host names of their own"


@contextmanager
def start_control_plane(folder: Path) -> Iterator[dict[str, str]]:
    """Starts it with its files in `folder`; gives the environment for kubectl, and stops everything at the end."""
    etcd, peers, api, kubelet, jobset, trainer = _find_ports(6)
    _make_certificate(folder)
    (folder / "tokens.csv").write_text("admin,admin,admin,system:masters\n")
    config = folder / "kubeconfig"
    config.write_text(yaml.safe_dump(_make_config(f"https://127.0.0.1:{api}")))
    commands = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # pods run the `unisono` of this environment
    environ = os.environ | {"KUBECONFIG": str(config), "PATH": commands}
    with ExitStack() as processes:

        def start(*command: str, **more: str) -> None:
            processes.enter_context(_run_until_exit(command, folder, environ | more))

        address = f"http://127.0.0.1:{etcd}"
        start(
            *(str(FOLDER / "etcd"), "--data-dir", str(folder / "etcd"), "--listen-client-urls", address),
            *("--advertise-client-urls", address, "--listen-peer-urls", f"http://127.0.0.1:{peers}"),
        )
        start(
            *(str(FOLDER / "kube-apiserver"), "--etcd-servers", address, "--secure-port", str(api)),
            *("--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none"),
            *("--authorization-mode", "AlwaysAllow", "--token-auth-file", str(folder / "tokens.csv")),
            *("--service-account-issuer", "https://127.0.0.1", "--service-account-key-file", str(folder / "tls.key")),
            *(
                "--service-account-signing-key-file",
                str(folder / "tls.key"),
                "--service-cluster-ip-range",
                "10.77.0.0/16",
            ),
            *("--disable-admission-plugins", "ServiceAccount", "--cert-dir", str(folder / "api")),
        )
        wait_for(lambda: kubectl(environ, "get", "--raw", "/readyz", check=False) == "ok", "the API server")
        start(
            *(str(FOLDER / "kube-controller-manager"), "--kubeconfig", str(config), "--leader-elect=false"),
            *("--controllers", "job-controller,garbage-collector-controller", "--cert-dir", str(folder / "manager")),
        )
        kubectl(environ, "apply", "--server-side", "-f", str(FOLDER / "crds"))
        kubectl(environ, "wait", "--for", "condition=Established", "crd", "--all", f"--timeout={DEADLINE:.0f}s")
        for name, port in (("jobset", jobset), ("trainer", trainer)):
            start(str(FOLDER / f"{name}-controller"), CERT_DIR=str(folder), WEBHOOK_PORT=str(port))
            wait_for(lambda port=port: _answers(port), f"the controller of {name}")
            kubectl(environ, "apply", "-f", "-", standard_input=_point_webhooks_here(folder, name, port))
        start(
            sys.executable, "-m", "tests.engines.kubernetes.node", f"https://127.0.0.1:{api}", str(kubelet), str(folder)
        )
        wait_for(lambda: "Ready" in kubectl(environ, "get", "nodes", check=False), "the node")
        yield environ


def kubectl(environ: Mapping[str, str], *arguments: str, standard_input: str = "", check: bool = True) -> str:
    """The output of the real kubectl."""
    result = subprocess.run(
        ["kubectl", *arguments], env=environ, input=standard_input, capture_output=True, text=True, timeout=DEADLINE
    )
    assert not check or result.returncode == 0, f"kubectl {' '.join(arguments)}: {result.stderr}"
    return result.stdout


def wait_for(condition: Callable[[], Any], what: str) -> None:
    """Waits until `condition()` holds."""
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not appear in {DEADLINE} seconds"
        time.sleep(0.2)


@contextmanager
def _run_until_exit(command: tuple[str, ...], folder: Path, environ: Mapping[str, str]) -> Iterator[None]:
    with (folder / f"{Path(command[0]).name}.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _find_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def _make_certificate(folder: Path) -> None:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "tls.key"), "-out", str(folder / "tls.crt")],
        check=True, capture_output=True, timeout=DEADLINE,
    )  # fmt: skip


def _make_config(server: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "test", "user": {"token": "admin"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }


def _point_webhooks_here(folder: Path, name: str, port: int) -> str:
    """The manifests of the webhooks, with the address of a process instead of a Service of the cluster."""
    authority = base64.b64encode((folder / "tls.crt").read_bytes()).decode()
    manifests = list(yaml.safe_load_all((FOLDER / "webhooks" / f"{name}.yaml").read_text()))
    for manifest in manifests:
        manifest["metadata"]["name"] = f"{name}-{manifest['kind'].lower()}"
        for webhook in manifest["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": authority}
    return yaml.safe_dump_all(manifests)
