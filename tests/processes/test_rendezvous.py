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

        def join(index: int, must_match: dict = VERSIONS, seconds: float = 10.0, secret: str = "") -> "Future[str]":
            rendezvous = Rendezvous("{}:{}".format(*address), index, names, seconds, secret)
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


def say_hello(peer: socket.socket, **content: object) -> None:
    """Sends what a worker sends, without a proof."""
    peer.recv(4096)  # the challenge
    hello = {"type": "hello", "version": 2, "index": 1, "alike": VERSIONS, "nonce": "5f", "proof": None}
    peer.sendall(json.dumps(hello | content).encode() + b"\n")


@pytest.mark.parametrize("secret", ["", "that of the job"])
def test_all_workers_learn_their_address_in_any_order(join: Join, secret: str) -> None:
    workers = [join(index, secret=secret) for index in (2, 0, 1)]
    assert [worker.result() for worker in workers] == ["127.0.0.1"] * 3


NOISE = {
    "deeply nested": b"[" * 60000 + b"\n",
    "no object where one is expected": b'{"version": 2, "index": 1, "alike": []}\n',
    "no number": b'{"version": 2, "index": "1", "alike": {}}\n',
    "another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "an unfinished message": b'{"version": 1',
}


@pytest.mark.parametrize("noise", NOISE.values(), ids=NOISE)
def test_strangers_do_not_disturb(join: Join, address: tuple[str, int], noise: bytes) -> None:
    chief = join(0)
    with call(address) as stranger:
        stranger.sendall(noise)
        assert [worker.result() for worker in [join(1), join(2), chief]] == ["127.0.0.1"] * 3


@pytest.mark.slow
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


def test_a_worker_that_does_not_fit_is_an_error_of_all_if_it_knows_the_secret(join: Join) -> None:
    for worker in [join(0, secret="a"), join(1, VERSIONS | {"JAX": "2.0"}, secret="a")]:
        with pytest.raises(ValueError, match=r"JAX is '2\.0' for worker 1 and '1\.0' for worker 0"):
            worker.result()


def test_without_a_secret_one_that_does_not_fit_is_refused_and_the_chief_waits_on(
    join: Join, address: tuple[str, int], capfd: pytest.CaptureFixture[str]
) -> None:
    chief = join(0)
    with pytest.raises(ValueError, match=r"JAX is '2\.0' for worker 1 and '1\.0' for worker 0"):
        join(1, VERSIONS | {"JAX": "2.0"}).result()
    larger = tuple(f"worker {number}" for number in range(4))
    with pytest.raises(ValueError, match="A worker says that it is number 3, and there are 3, counted from 0"):
        wait_for_workers(Rendezvous("{}:{}".format(*address), 3, larger, 10.0), VERSIONS)
    assert [worker.result() for worker in [join(1), join(2), chief]] == ["127.0.0.1"] * 3
    assert capfd.readouterr().err.count("a process at 127.0.0.1 was refused, and the chief waits on: The workers") == 1


def test_refusals_are_in_the_error_of_a_chief_that_has_waited_in_vain(join: Join) -> None:
    chief = join(0, seconds=1.0)
    assert isinstance(join(1, VERSIONS | {"JAX": "2.0"}).exception(), ValueError)
    with pytest.raises(
        TimeoutError, match=r"A process at 127\.0\.0\.1 was refused: The workers do not fit together: JAX"
    ):
        chief.result()


def test_two_workers_of_one_number_are_an_error_if_they_know_the_secret(join: Join) -> None:
    three = [join(0, secret="a"), join(1, secret="a"), join(1, secret="a")]
    for worker in three:
        with pytest.raises(ValueError, match="Two workers say that they are worker 1"):
            worker.result()


def test_without_a_secret_the_second_of_one_number_waits_until_the_place_is_free(
    join: Join, address: tuple[str, int]
) -> None:
    chief = join(0)
    with call(address) as stranger:
        say_hello(stranger)
        second = join(1)
        time.sleep(0.3)
        assert not chief.done()
        assert not second.done()
    assert [worker.result() for worker in [second, join(2), chief]] == ["127.0.0.1"] * 3


def test_a_worker_that_was_restarted_while_the_chief_waits_may_connect_again(
    join: Join, address: tuple[str, int]
) -> None:
    chief = join(0)
    with call(address) as killed:
        say_hello(killed)
        time.sleep(0.2)
    assert [worker.result() for worker in [join(1), join(2), chief]] == ["127.0.0.1"] * 3


@pytest.mark.parametrize("theirs", ["another", ""])
def test_a_worker_without_the_secret_is_refused_and_the_others_join(join: Join, theirs: str) -> None:
    chief = join(0, secret="ours")
    with pytest.raises(ValueError, match="UNISONO_JOB_SECRET is not that of worker 0"):
        join(1, secret=theirs).result()
    three = [join(1, secret="ours"), join(2, secret="ours"), chief]
    assert [worker.result() for worker in three] == ["127.0.0.1"] * 3


def test_a_chief_without_the_secret_is_not_believed(join: Join) -> None:
    three = [join(0, seconds=2.0), join(1, secret="ours"), join(2)]
    with pytest.raises(ValueError, match=r"127\.0\.0\.1:\d+ does not know UNISONO_JOB_SECRET"):
        three[1].result()
    three[0].exception()


def test_the_secret_is_never_sent(address: tuple[str, int]) -> None:
    with socket.create_server(address) as listening, ThreadPoolExecutor(1) as pool:
        rendezvous = Rendezvous("{}:{}".format(*address), 1, ("worker 0", "worker 1"), 5.0, "swordfish")
        worker = pool.submit(wait_for_workers, rendezvous, VERSIONS)
        peer, _ = listening.accept()
        with peer:
            peer.sendall(b'{"type": "challenge", "version": 2, "nonce": "5f"}\n')
            hello = peer.recv(4096)
            peer.sendall(b'{"type": "welcome", "proof": null}\n')
            assert isinstance(worker.exception(), ValueError)
    assert b"swordfish" not in hello
    assert len(json.loads(hello)["proof"]) == 64


def test_without_a_chief_its_address_is_named(join: Join, address: tuple[str, int]) -> None:
    with pytest.raises(TimeoutError, match=f"worker 1 could not reach 127.0.0.1:{address[1]}, the address of worker 0"):
        join(1, seconds=0.3).result()
