"""`Server`: a task of a cluster, which listens at its address and serves the chief.

A worker runs programs, a parameter server holds variables. It runs in threads of this process, whose script then has
nothing else to do: `server.join()` waits until the process is ended.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax

from unisono._src.core import read_environment
from unisono._src.parameter_servers._arrays import Array
from unisono._src.parameter_servers._channel import VERSION, WRONG_SECRET, RequestError, receive, send
from unisono._src.parameter_servers._closure_runner import ClosureRunner
from unisono._src.parameter_servers._exported import platform_of
from unisono._src.parameter_servers._variable_store import VariableStore
from unisono._src.processes import bind_address
from unisono_launch.cluster import ClusterSpec, split_address
from unisono_launch.connection import (
    Connection,
    FrameConnection,
    Listener,
    Lost,
    Message,
    Opened,
    PeerLostError,
    Received,
    is_proof,
    make_proof,
    new_nonce,
)

NO_SECRET = """Server: {address} can be reached from other machines, and whoever connects to it can run programs here
and read the variables. Set UNISONO_JOB_SECRET to the same long random text in the environment of all processes of the
job, from the output of `openssl rand -hex 32`, say."""

NO_TASK = """Server: job_name={job!r} and task_index={index!r} are no task of the cluster, which has {tasks}."""

ONLY_TASKS = """Server: a {job!r} runs no server. Start servers for the tasks of "worker" and "ps" only; the chief's
script makes the ParameterServerStrategy, an evaluator's reads checkpoints."""

NO_CPU = """Server: a parameter server holds its variables on the CPU, which JAX cannot use in this process: {error}
Start parameter servers with JAX_PLATFORMS=cpu in their environment."""

_SERVED: Final = ("worker", "ps")

_Handler = Callable[[Message, Sequence[Array], bytes], tuple[Message, Sequence[Any]]]


class Server:
    """A worker or a parameter server, in this process.

    ```python
    resolver = unisono.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        server = unisono.parameter_servers.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id)
        server.join()  # for as long as the process lives
    ```

    Args:
        server_or_cluster_def: the cluster: a `ClusterSpec`, or a dictionary of lists of addresses.
        job_name: "worker" or "ps"; may be left out if the cluster has one task only.
        task_index: which of them.
        protocol: accepted, without effect.
        config: accepted, without effect.
        start: whether to listen at once.
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: Any = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        del protocol, config
        self._spec = ClusterSpec(server_or_cluster_def)
        self._job_name, self._task_index = _find_task(self._spec, job_name, task_index)
        self._address = self._spec.task_address(self._job_name, self._task_index)
        self._secret = read_environment().job_secret
        if not self._secret and not _is_loopback(split_address(self._address)[0]):
            raise ValueError(NO_SECRET.format(address=self._address))
        self._listener: Listener | None = None
        self._thread: threading.Thread | None = None
        self._device: Any = None
        self._error: BaseException | None = None
        self._challenges: dict[Connection, str] = {}
        self._lock = threading.Lock()
        self._stores: dict[str, VariableStore] = {}
        self._open: set[FrameConnection] = set()
        self._stopped = threading.Event()
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A worker at a free port of this machine, alone in its cluster."""
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        return Server({"worker": [f"localhost:{port}"]}, "worker", 0, config=config, start=start)

    @property
    def target(self) -> str:
        """The address, as TensorFlow 1's sessions wanted it."""
        return f"grpc://{self._address}"

    @property
    def server_def(self) -> dict[str, Any]:
        """The cluster and which of its tasks this is."""
        return {"cluster": self._spec.as_dict(), "job_name": self._job_name, "task_index": self._task_index}

    def start(self) -> None:
        """Listens at the address of the task. Raises an error if the device of the task cannot be used."""
        if self._listener is not None:
            return
        self._device = _find_device(self._job_name)
        host, port = split_address(bind_address(self._address))
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = Listener(socket.create_server((host, port), family=family, backlog=128))
        name = f"{self._job_name} {self._task_index}"
        self._thread = threading.Thread(
            target=self._accept, args=(self._listener,), name=f"unisono {name}", daemon=True
        )
        self._thread.start()

    def join(self) -> None:
        """Waits for as long as the process lives. Raises the error of a task that cannot listen any more."""
        self._stopped.wait()
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Ends the task: closes all connections."""
        if not self._stopped.is_set():
            self._stopped.set()
            if self._listener is not None:
                self._listener.wake()
        if self._thread is not None:
            self._thread.join()

    def _accept(self, listener: Listener) -> None:
        try:
            while not self._stopped.is_set():
                for event in listener.events(listener.wait(1.0)):
                    self._handle_event(listener, event)
        except BaseException as error:  # `join` raises it: without this thread the task cannot be reached
            self._error = error
            self._stopped.set()
            raise
        finally:
            listener.close()
            with self._lock:
                for frames in self._open:
                    frames.shut_down()

    def _handle_event(self, listener: Listener, event: Opened | Received | Lost) -> None:
        if isinstance(event, Opened):
            challenge = self._challenges[event.connection] = new_nonce()
            with contextlib.suppress(PeerLostError):
                event.connection.send({"type": "challenge", "nonce": challenge})
        elif isinstance(event, Received):
            self._welcome(listener, event.connection, event.message)
        else:
            self._challenges.pop(event.connection, None)

    def _welcome(self, listener: Listener, connection: Connection, hello: Message) -> None:
        challenge, nonce, job = self._challenges.pop(connection, ""), hello.get("nonce"), hello.get("job")
        proves = bool(challenge) and is_proof(hello.get("proof"), self._secret, "task client", challenge, nonce)
        why = WRONG_SECRET if not proves else None
        if why is None and (hello.get("version") != VERSION or not isinstance(job, str)):
            why = f"it speaks version {VERSION} of Unisono's protocol, as the same version of Unisono does"
        try:
            if why is not None:
                connection.send({"type": "refused", "why": why})
                listener.let_leave(connection)
                return
            proof = make_proof(self._secret, "task server", challenge, str(nonce))
            platform = platform_of(self._device)
            connection.send({"type": "welcome", "proof": proof, "platform": platform, "task": self._job_name})
            frames = FrameConnection(listener.release(connection))
            with self._lock:
                self._open.add(frames)
            threading.Thread(
                target=self._serve, args=(frames, job, hello.get("role") == "chief"), name="unisono task", daemon=True
            ).start()
        except PeerLostError:
            listener.drop(connection)

    def _serve(self, frames: FrameConnection, job: str, is_chief: bool) -> None:
        """Answers the requests of one peer until it hangs up. With the chief, its job ends."""
        try:
            serve = self._serve_worker if self._job_name == "worker" else self._serve_store
            with contextlib.suppress(PeerLostError):
                serve(frames, job, is_chief)
        finally:  # after any error: the peer waits without a time limit
            with self._lock:
                self._open.discard(frames)
            frames.close()

    def _serve_worker(self, frames: FrameConnection, job: str, is_chief: bool) -> None:
        runner = ClosureRunner(job, self._device)
        try:
            while is_chief:
                _answer(frames, runner.handle)
        finally:
            runner.close()

    def _serve_store(self, frames: FrameConnection, job: str, is_chief: bool) -> None:
        with self._lock:
            if is_chief:
                self._stores.setdefault(job, VariableStore())
            store = self._stores.get(job)
        try:
            while store is not None:
                _answer(frames, store.handle)
        finally:
            if is_chief:
                with self._lock:
                    self._stores.pop(job, None)


def _answer(frames: FrameConnection, handle: _Handler) -> None:
    message, arrays, data = receive(frames)
    try:
        answer, results = handle(message, arrays, data)
    except RequestError as error:
        answer, results = {"error": str(error), "kind": error.kind}, ()
    except Exception as error:
        # Whatever it was, it belongs to the program that ran, so to the chief's script; the task keeps running.
        text = "".join(traceback.format_exception_only(error)).strip()
        answer, results = {"error": text, "kind": type(error).__name__}, ()
    send(frames, answer, results)


def _find_device(job: str) -> Any:
    if job == "worker":
        return jax.local_devices()[0]
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError as error:
        raise RuntimeError(NO_CPU.format(error=error)) from error


def _find_task(spec: ClusterSpec, job: str | None, index: int | None) -> tuple[str, int]:
    tasks = [(name, number) for name in spec.jobs for number in spec.task_indices(name)]
    matching = [task for task in tasks if job in (None, task[0]) and index in (None, task[1])]
    if len(matching) != 1:
        raise ValueError(NO_TASK.format(job=job, index=index, tasks=", ".join(f"{name} {i}" for name, i in tasks)))
    if matching[0][0] not in _SERVED:
        raise ValueError(ONLY_TASKS.format(job=matching[0][0]))
    return matching[0]


def _is_loopback(host: str) -> bool:
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)
