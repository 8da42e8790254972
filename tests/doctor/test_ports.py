"""Addresses of a cluster, with real sockets on loopback."""

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from unisono_launch.doctor import _ports
from unisono_launch.doctor._finding import Finding
from unisono_launch.doctor._ports import check_ports


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def check(*workers: str, index: int) -> Finding:
    config = {"cluster": {"worker": list(workers)}, "task": {"type": "worker", "index": index}}
    return check_ports({"TF_CONFIG": json.dumps(config)})


def address(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return address(server)


def test_alone_no_port_is_needed() -> None:
    assert check_ports({}).status == "ok"


def test_the_chief_can_listen_at_a_free_port() -> None:
    own = free_address()
    found = check(own, "b:1", index=0)
    assert (found.status, found.facts) == ("ok", {"own_address": own, "own_address_can_be_bound": True})


def test_the_chiefs_port_is_taken(listener: socket.socket) -> None:
    found = check(address(listener), "b:1", index=0)
    assert found.status == "error"
    assert "cannot be bound: Address already in use" in found.text
    assert f"'sport = :{listener.getsockname()[1]}'" in (found.remedy or "")


def test_the_chiefs_address_is_another_machines() -> None:
    found = check("192.0.2.1:2222", "b:1", index=0)
    assert found.status == "error"
    assert "192.0.2.1 is not this machine" in (found.remedy or "")


def test_a_worker_reaches_a_chief_that_listens(listener: socket.socket) -> None:
    found = check(address(listener), free_address(), index=1)
    assert found.status == "ok"
    assert found.facts["coordinator_answers"]
    assert found.facts["own_address_can_be_bound"]


def test_a_chief_that_has_not_started_yet_is_no_fault() -> None:
    found = check(free_address(), free_address(), index=1)
    assert (found.status, found.facts["coordinator_answers"]) == ("ok", False)
    assert "as long as worker 0 has not started" in found.text


def test_a_worker_that_is_on_another_machine_than_it_believes_is_warned(listener: socket.socket) -> None:
    found = check(address(listener), "192.0.2.1:2222", index=1)
    assert found.status == "warning"
    assert "192.0.2.1 is not this machine" in (found.remedy or "")


def test_a_host_that_cannot_be_resolved_is_an_error() -> None:
    found = check("chief.invalid:2222", free_address(), index=1)
    assert (found.status, found.facts["coordinator_resolves"]) == ("error", False)
    assert "getent hosts chief.invalid" in (found.remedy or "")


def test_a_host_that_does_not_answer_is_an_error_after_a_short_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ports, "_CONNECT_SECONDS", 0.3)
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)  # Linux passes over callers once the queue is full, as a firewall does
        for caller in (first, second):
            caller.setblocking(False)
            caller.connect_ex(full.getsockname())
        found = check(address(full), free_address(), index=1)
    assert (found.status, found.facts["coordinator_resolves"]) == ("error", True)
    assert "cannot be reached: timed out" in found.text
    assert "nc -vz 127.0.0.1" in (found.remedy or "")


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    monkeypatch.setattr(_ports, "_RESOLVE_SECONDS", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(30))
    found = check("a:1", "b:1", index=1)
    released.set()
    assert found.status == "error"
    assert "no answer about the name a within 0.1 seconds" in found.text


def test_a_cluster_that_cannot_be_read_is_left_to_its_own_check() -> None:
    found = check_ports({"TF_CONFIG": "{"})
    assert (found.status, found.remedy) == ("warning", "First fix `cluster`.")
