"""The rendezvous of workers, each a thread here: nothing of it needs JAX."""

import json
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from unisono._src.processes._rendezvous import Rendezvous, wait_for_workers

VERSIONS = {"JAX": "1.0", "the number of workers": 3}
Join = Callable[..., "Future[str]"]


@pytest.fixture
def address() -> tuple[str, int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()


@pytest.fixture
def join(address: tuple[str, int]):
    """Starts a worker of three; its result is the address by which it is reached."""
    names = ("worker 0", "worker 1", "worker 2")
    with ThreadPoolExecutor() as pool:

        def join(index: int, must_match: dict = VERSIONS, seconds: float = 10.0) -> "Future[str]":
            rendezvous = Rendezvous("{}:{}".format(*address), index, names, seconds)
            return pool.submit(wait_for_workers, rendezvous, must_match)

        yield join


def call(address: tuple[str, int]) -> socket.socket:
    """A stranger's connection, once the chief listens."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(address, timeout=5)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def test_all_workers_learn_their_address_in_any_order(join: Join) -> None:
    assert [worker.result() for worker in [join(2), join(0), join(1)]] == ["127.0.0.1"] * 3


NOISE = {
    "deeply nested": b"[" * 60000 + b"\n",
    "no object where one is expected": b'{"version": 1, "index": 1, "alike": []}\n',
    "no number": b'{"version": 1, "index": "1", "alike": {}}\n',
    "another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "an unfinished message": b'{"version": 1',
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_strangers_do_not_disturb(join: Join, address: tuple[str, int], noise: bytes) -> None:
    chief = join(0)
    with call(address) as stranger:
        stranger.sendall(noise)
        assert [worker.result() for worker in [join(1), join(2), chief]] == ["127.0.0.1"] * 3


def test_a_stranger_that_sends_a_byte_now_and_then_does_not_prolong_the_wait(
    join: Join, address: tuple[str, int]
) -> None:
    began = time.monotonic()
    chief = join(0, seconds=1.0)
    with call(address) as stranger:
        while not chief.done():
            stranger.sendall(b" ")
            time.sleep(0.05)
    assert time.monotonic() - began < 4
    assert isinstance(chief.exception(), TimeoutError)


def test_missing_workers_are_named_to_all_that_connected(join: Join) -> None:
    for worker in [join(0, seconds=0.5), join(2)]:
        with pytest.raises(TimeoutError, match=r"1 of 3 workers did not connect within 0 seconds: worker 1\."):
            worker.result()


def test_a_worker_that_does_not_fit_is_an_error_of_all(join: Join) -> None:
    for worker in [join(0), join(1, VERSIONS | {"JAX": "2.0"})]:
        with pytest.raises(ValueError, match=r"JAX is '2\.0' for worker 1 and '1\.0' for worker 0"):
            worker.result()


def test_two_workers_of_one_number_are_an_error(join: Join, address: tuple[str, int]) -> None:
    hello = json.dumps({"version": 1, "index": 1, "alike": VERSIONS}).encode() + b"\n"
    chief = join(0)
    with call(address) as first, call(address) as second:
        first.sendall(hello)
        second.sendall(hello)
        with pytest.raises(ValueError, match="Two workers say that they are worker 1"):
            chief.result()
        assert "Two workers" in json.loads(first.recv(4096) or second.recv(4096))["message"]


def test_a_worker_that_was_restarted_while_the_chief_waits_may_connect_again(
    join: Join, address: tuple[str, int]
) -> None:
    chief = join(0)
    with call(address) as killed:
        killed.sendall(json.dumps({"version": 1, "index": 1, "alike": VERSIONS}).encode() + b"\n")
        time.sleep(0.2)
    assert [worker.result() for worker in [join(1), join(2), chief]] == ["127.0.0.1"] * 3


def test_without_a_chief_its_address_is_named(join: Join, address: tuple[str, int]) -> None:
    with pytest.raises(TimeoutError, match=f"worker 1 could not reach 127.0.0.1:{address[1]}, the address of worker 0"):
        join(1, seconds=0.3).result()
