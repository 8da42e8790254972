"""Who may connect to a task, and that strangers do not disturb it."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import jax
import keras
import numpy as np
import pytest

import unisono
from tests.parameter_servers._cluster import cluster, free_addresses
from unisono._src.parameter_servers import ParameterServerStrategy, Server, _task_server
from unisono._src.parameter_servers._arrays import decode_arrays, encode_arrays
from unisono._src.parameter_servers._channel import Channel, RefusedError
from unisono_launch.cluster import ClusterSpec, SimpleClusterResolver
from unisono_launch.connection import PeerLostError


def test_a_task_that_other_machines_reach_needs_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNISONO_JOB_SECRET", raising=False)
    for host in ("0.0.0.0", "192.0.2.1"):
        with pytest.raises(ValueError, match="Set UNISONO_JOB_SECRET"):
            Server({"ps": [f"{host}:2222"]}, "ps", 0)
    monkeypatch.setenv("UNISONO_JOB_SECRET", "one")
    Server({"ps": ["0.0.0.0:2222"]}, "ps", 0, start=False)


def test_only_a_process_that_knows_the_secret_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_JOB_SECRET", "one")
    [worker, ps] = free_addresses(2)
    server = Server({"ps": [ps]}, "ps", 0)
    try:
        Channel.open(ps, "chief", "job").close()
        for other in ("two", ""):
            monkeypatch.setenv("UNISONO_JOB_SECRET", other)
            with pytest.raises(RefusedError, match="another UNISONO_JOB_SECRET"):
                Channel.open(ps, "chief", "job")
            resolver = SimpleClusterResolver(ClusterSpec({"worker": [worker], "ps": [ps]}))
            with pytest.raises(ValueError, match=r"ps 0 of the cluster.*refuses this process"):
                ParameterServerStrategy(resolver)
    finally:
        server.stop()


def test_a_server_that_does_not_know_the_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNISONO_JOB_SECRET", raising=False)
    [address] = free_addresses(1)
    server = Server({"ps": [address]}, "ps", 0)
    try:
        monkeypatch.setenv("UNISONO_JOB_SECRET", "one")
        with pytest.raises(RefusedError, match="another UNISONO_JOB_SECRET"):
            Channel.open(address, "chief", "job")
    finally:
        server.stop()


def test_strangers_do_not_disturb_a_job() -> None:
    with cluster(1, 1) as made:
        with made.strategy.scope():
            total = keras.Variable(0, dtype="int32")
        add = unisono.function(lambda: total.assign_add(1))
        addresses = [*made.strategy.worker_addresses, *made.strategy.servers.addresses]
        strangers = []
        rng = np.random.default_rng(0)
        for number in range(120):
            host, port = addresses[number % 2].split(":")
            stranger = socket.create_connection((host, int(port)), timeout=5)
            strangers.append(stranger)
            kind = number % 4
            try:
                if kind == 0:
                    stranger.sendall(rng.bytes(5000))
                elif kind == 1:
                    stranger.sendall(b'{"type": "hello", "version": 1, "job": [], "nonce": 5}\n')
                elif kind == 2:
                    stranger.sendall(b'{"type": "hello", "version": 1, "job": "x", "nonce": "5"}\n' + os.urandom(64))
            except OSError:
                pass  # it has hung up
            if number % 10 == 0:
                made.coordinator.schedule(add)
        made.coordinator.join()
        assert int(total) == 12
        for stranger in strangers:
            stranger.close()
        made.coordinator.schedule(add).fetch()
        assert int(total) == 13


def test_a_request_that_makes_no_sense_is_answered_with_an_error() -> None:
    [address] = free_addresses(1)
    server = Server({"ps": [address]}, "ps", 0)
    try:
        channel = Channel.open(address, "chief", "job")
        for message in ({"type": "unknown"}, {"type": "read"}, {"type": "update", "updates": [{}]}):
            with pytest.raises(Exception, match="Error"):
                channel.request(message)
        channel.request({"type": "assign", "variables": [3]}, [np.float32([1, 2])])
        answer, arrays = channel.request({"type": "read", "variables": [3], "known": [-1]})
        assert answer["changed"] == [0]
        assert arrays[0].tolist() == [1.0, 2.0]
        # A worker of a job that has no chief here is not served.
        other = Channel.open(address, "worker", "another job")
        with pytest.raises(PeerLostError):
            other.request({"type": "read", "variables": [], "known": []})
        other.close()
        channel.close()
        deadline = time.monotonic() + 5
        while server._stores and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not server._stores  # the job has ended with its chief
    finally:
        server.stop()


def test_arrays_of_all_dtypes_are_sent() -> None:
    arrays = [
        np.arange(6).reshape(2, 3).astype(dtype)
        for dtype in ("float32", "float64", "float16", "int8", "int64", "uint32", "bool", "complex64")
    ]
    arrays += [np.zeros((0, 2), "float32"), np.float32(3), np.asarray(keras.ops.ones((2,), "bfloat16"))]
    arrays.append(np.arange(6, dtype="float32").reshape(2, 3).T)
    specs, buffers = encode_arrays(arrays)
    for found, expected in zip(
        decode_arrays(specs, [memoryview(bytes(each)) for each in buffers]), arrays, strict=True
    ):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    for wrong in ([["float32", [3]]], [["O", [1]]], [["float32", ["a"]]], [3]):
        with pytest.raises(PeerLostError, match="make no sense"):
            decode_arrays(wrong, [memoryview(b"12345678")])


_JOIN = """
import sys, unisono
unisono.parameter_servers.Server({sys.argv[1]: [sys.argv[2]]}, sys.argv[1], 0).join()
"""


@pytest.mark.slow
@pytest.mark.parametrize("job", ["worker", "ps"])
def test_a_task_whose_device_cannot_be_used_ends_at_once(job: str) -> None:
    [address] = free_addresses(1)
    command = [sys.executable, "-c", _JOIN, job, address]
    environment = dict(os.environ, JAX_PLATFORMS="no_such_platform")
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "no_such_platform" in ended.stderr
    assert ("Start parameter servers with JAX_PLATFORMS=cpu" in ended.stderr) == (job == "ps")


def _request_within_seconds(address: str, message: dict[str, Any]) -> Any:
    """The answer to the message, the error if the connection breaks, or None if neither comes."""
    channel = Channel.open(address, "chief", "job")
    found: list[Any] = []

    def ask() -> None:
        try:
            found.append(channel.request(message)[0])
        except PeerLostError as error:
            found.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join(5)
    answer = found[0] if found else None
    channel.close()
    thread.join()
    return answer


def test_a_worker_needs_no_cpu_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """As under JAX_PLATFORMS=cuda."""
    local_devices = jax.local_devices

    def without_cpu(*args: Any, backend: str | None = None, **kwargs: Any) -> Any:
        if backend == "cpu":
            raise RuntimeError("Unknown backend cpu")
        return local_devices(*args, **kwargs)

    monkeypatch.setattr(jax, "local_devices", without_cpu)
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    [worker, ps] = free_addresses(2)
    server = Server({"worker": [worker]}, "worker", 0)
    try:
        assert _request_within_seconds(worker, {"type": "servers", "addresses": []}) == {}
    finally:
        server.stop()
    with pytest.raises(RuntimeError, match="Unknown backend cpu\\nStart parameter servers with JAX_PLATFORMS=cpu"):
        Server({"ps": [ps]}, "ps", 0)


def test_a_connection_that_cannot_be_served_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise MemoryError

    errors: queue.Queue[Any] = queue.Queue()
    monkeypatch.setattr(threading, "excepthook", lambda args: errors.put(args.exc_type))
    monkeypatch.setattr(_task_server, "VariableStore", fail)
    [address] = free_addresses(1)
    server = Server({"ps": [address]}, "ps", 0)
    try:
        assert isinstance(
            _request_within_seconds(address, {"type": "read", "variables": [], "known": []}), PeerLostError
        )
        assert errors.get(timeout=5) is MemoryError
    finally:
        server.stop()


def test_a_task_that_cannot_listen_any_more_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("can't start new thread")

    shown: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: shown.append(str(args.exc_value)))
    monkeypatch.setattr(Server, "_welcome", fail)
    [address] = free_addresses(1)
    server = Server({"ps": [address]}, "ps", 0)
    with pytest.raises(PeerLostError):
        Channel.open(address, "chief", "job")
    assert server._stopped.wait(5)  # `join` would wait for ever
    with pytest.raises(RuntimeError, match="can't start new thread"):
        server.join()
    server.stop()
    assert shown == ["can't start new thread"]
