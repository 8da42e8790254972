"""Stands in for a kubelet: runs the pods of the API server as processes of this machine, and serves their logs.

    python -m tests.engines.kubernetes.node https://127.0.0.1:6443 PORT FOLDER

It binds pods to its one node, starts their command with their environment, reports their state, sends SIGTERM to pods
that are deleted and SIGKILL after their grace period. Volumes and images are ignored: a mount path is a folder here.
The host names of pods are in an /etc/hosts that only they see. It ends with its parent, and its pods with it.
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

NODE = "node"


class ApiServer:
    """Requests to the API server."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._context = ssl._create_unverified_context()

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, as JSON gives it. A PATCH is a merge patch."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(
            self._address + path,
            None if body is None else json.dumps(body).encode(),
            {"Content-Type": kind, "Authorization": "Bearer admin"},
            method=method,
        )
        with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:
            return json.load(answer)


class Pod:
    """A pod as a process."""

    def __init__(self, api: ApiServer, manifest: Any, folder: Path) -> None:
        self._api = api
        self._container = manifest["spec"]["containers"][0]
        self._path = path_of(manifest)
        self._kill_at: float | None = None
        self.has_ended = False
        self.started_at = now()
        metadata = manifest["metadata"]
        environ = {name: os.environ[name] for name in ("PATH", "HOME")} | {"JAX_PLATFORMS": "cpu"}
        environ["HOSTNAME"] = manifest["spec"].get("hostname", metadata["name"])
        for variable in self._container.get("env", []):
            environ[variable["name"]] = _read_variable(variable, metadata)
        in_pod = f'mount --bind {folder / "hosts"} /etc/hosts; exec "$@"'
        log = folder / f"{metadata['name']}.log"
        log.touch()
        self._process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", in_pod, "sh", *self._container["command"]],
            cwd=folder / "image",
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._log = threading.Thread(target=_store_with_times, args=(self._process.stdout, log), daemon=True)
        self._log.start()
        self._report("Running", {"running": {"startedAt": self.started_at}})

    def terminate(self, grace: float) -> None:
        """SIGTERM now, and SIGKILL after `grace` seconds."""
        if self._kill_at is None:
            self._process.terminate()
            self._kill_at = time.monotonic() + grace

    def kill(self) -> None:
        """SIGKILL to the pod's processes; `unisono run` ends its own workers."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def watch(self) -> None:
        """Reports the end of the process, once."""
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self.kill()
        code = self._process.poll()
        if code is None or self.has_ended:
            return
        self._log.join(5)
        self.has_ended = True
        code = 128 - code if code < 0 else code
        ended = {"exitCode": code, "startedAt": self.started_at, "finishedAt": now()}
        self._report("Failed" if code else "Succeeded", {"terminated": ended})

    def _report(self, phase: str, state: Any) -> None:
        status = {"name": self._container["name"], "image": "", "imageID": "", "restartCount": 0, "state": state}
        known = self._api.call("GET", self._path)["status"].get("conditions", [])  # DisruptionTarget, say
        conditions = [one for one in known if one["type"] != "Ready"]
        conditions.append({"type": "Ready", "status": str(phase == "Running")})
        ready = status | {"ready": phase == "Running"}
        body = {"status": {"phase": phase, "conditions": conditions, "containerStatuses": [ready]}}
        self._api.call("PATCH", f"{self._path}/status", body)


class Node:
    """All pods."""

    def __init__(self, api: ApiServer, folder: Path) -> None:
        self._api = api
        self._folder = folder
        self._pods: dict[str, Pod] = {}

    def run(self) -> None:
        """Until the parent has ended."""
        parent = os.getppid()
        try:
            while os.getppid() == parent:
                for manifest in self._api.call("GET", "/api/v1/pods")["items"]:
                    try:
                        self._advance(manifest)
                    except urllib.error.HTTPError as error:  # deleted in the meantime
                        print(error, error.read().decode(), flush=True)
                time.sleep(0.2)
        finally:
            for pod in self._pods.values():
                pod.kill()

    def _advance(self, manifest: Any) -> None:
        metadata, path = manifest["metadata"], path_of(manifest)
        pod = self._pods.get(metadata["uid"])
        is_deleted = "deletionTimestamp" in metadata
        if not manifest["spec"].get("nodeName"):
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": metadata["name"]}, "target": target}
            self._api.call("POST", f"{path}/binding", binding)
        elif pod is None and not is_deleted:
            self._pods[metadata["uid"]] = Pod(self._api, manifest, self._folder)
        elif pod is not None:
            if is_deleted:
                pod.terminate(metadata.get("deletionGracePeriodSeconds", 30))
            pod.watch()
        if is_deleted and (pod is None or pod.has_ended):
            self._api.call("DELETE", f"{path}?gracePeriodSeconds=0")


def serve_logs(api: ApiServer, folder: Path, port: int) -> None:
    """Answers `kubectl logs`, which the API server passes on to the node."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:  # /containerLogs/<namespace>/<pod>/<container>?follow=true&timestamps=true
            path = urllib.parse.urlsplit(self.path)
            query = dict(urllib.parse.parse_qsl(path.query))
            _, _, namespace, name, *_ = path.path.split("/")
            since = query.get("sinceTime", "")[: len("2026-01-01T12:00:00")].encode()
            self.send_response(200)
            self.end_headers()
            with (folder / f"{name}.log").open("rb") as log:
                is_running = True
                while is_running:
                    is_running = "follow" in query and _is_running(api, namespace, name)
                    for line in log:
                        if line >= since:
                            self.wfile.write(line if "timestamps" in query else line.partition(b" ")[2])
                    self.wfile.flush()
                    time.sleep(0.2)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def _store_with_times(output: IO[bytes], path: Path) -> None:
    """As a container runtime does: each line with its time in front."""
    with output, path.open("ab", buffering=0) as log:
        for line in output:
            seconds, rest = divmod(time.time_ns(), 10**9)
            log.write(f"{now(seconds)[:-1]}.{rest:09}Z ".encode() + line)


def path_of(manifest: Any) -> str:
    """The path of a pod in the API."""
    return f"/api/v1/namespaces/{manifest['metadata']['namespace']}/pods/{manifest['metadata']['name']}"


def now(seconds: float | None = None) -> str:
    """The time, as the API writes it; or another one."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _is_running(api: ApiServer, namespace: str, name: str) -> bool:
    try:
        return bool(api.call("GET", f"/api/v1/namespaces/{namespace}/pods/{name}")["status"]["phase"] == "Running")
    except urllib.error.HTTPError:
        return False


def _read_variable(variable: Any, metadata: Any) -> str:
    if "value" in variable:
        return str(variable["value"])
    section, _, key = variable["valueFrom"]["fieldRef"]["fieldPath"].removeprefix("metadata.").partition("['")
    return str(metadata[section][key.removesuffix("']")])


def main(address: str, port: int, folder: Path) -> None:
    api = ApiServer(address)
    serve_logs(api, folder, port)
    api.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}})
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        "conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": now(), "lastTransitionTime": now()}],
    }
    api.call("PATCH", f"/api/v1/nodes/{NODE}/status", {"status": status})
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Node(api, folder).run()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
