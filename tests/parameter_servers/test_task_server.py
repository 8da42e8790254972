"""Who may connect to a task, and that strangers do not disturb it."""

from __future__ import annotations

import os
import socket
import time

import keras
import numpy as np
import pytest

import unisono
from tests.parameter_servers._cluster import cluster, free_addresses
from unisono._src.parameter_servers import ParameterServerStrategy, Server
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
