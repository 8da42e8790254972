"""What strangers do at a port: each attack is a function that makes one hostile connection."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, get_args

from unisono_launch.connection import make_proof
from unisono_launch.connection._secret import Role

Hello = dict[str, Any]
Attack = Callable[["Attacker"], None]

_MAX_HELD: Final = 100  # connections that one thread leaves open
_NUM_THREADS: Final = 3
_ROLES: Final[tuple[Role, ...]] = get_args(Role)
_PAUSE: Final = 0.003  # seconds between two connections of a thread: what is attacked shares its cores with the attack

OTHER_PROTOCOLS: Final = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    b"SSH-2.0-OpenSSH_9.6\r\n",
    b"\x00\x00\x00\x85\xffSMBr\x00\x00\x00\x00\x18\x53\xc8",
)
NUMBERS: Final = ("9" * 4000, "-1", "0", "1e400", "-1e400", "NaN", "1.0", "1e-5", str(2**63), "-" + "9" * 400)
VALUES: Final = (
    None,
    True,
    False,
    0,
    -1,
    10**30,
    1.5,
    "",
    "1",
    "x" * 3000,
    [],
    [1],
    [[[]]],
    {},
    {"a": []},
    "\u202e\x1b[2J",
)


class Attacker:
    """One thread that makes connections of one kind, one after the other.

    Args:
        address: the port that is attacked.
        hello: the message that a peer sends that belongs there, without a proof.
        secret: of the job; used for proofs that are right for another connection, as if they had been recorded.
        seed: of the random choices.
    """

    def __init__(self, address: tuple[str, int], hello: Hello, secret: str, seed: int) -> None:
        self.hello, self.secret, self.random = hello, secret, random.Random(seed)
        self.held: deque[socket.socket] = deque()
        self._address = address
        self.role: Role = "worker" if "index" in hello else "joining launcher" if "node" in hello else "task client"

    def connect(self, *, receive_buffer: int | None = None) -> socket.socket:
        """A connection, which stays open for some time if the attack does not close it."""
        connection = socket.socket()
        self.held.append(connection)
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(2)
        connection.connect(self._address)
        return connection

    def close(self, *, keep: int) -> None:
        """Closes all but the newest connections."""
        while len(self.held) > keep:
            self.held.popleft().close()

    def challenge_of(self, connection: socket.socket) -> str:
        """The nonce that the server has sent; empty if it has sent something else, as a port of JAX does."""
        connection.settimeout(0.3)
        try:
            return str(json.loads(connection.recv(4096))["nonce"])
        except (KeyError, OSError, TypeError, ValueError):
            return ""

    def send(self, connection: socket.socket, data: bytes) -> socket.socket:
        connection.settimeout(0.5)  # gloo does not read all of it: the next connection must not wait for that
        with contextlib.suppress(OSError):  # the server may have hung up
            connection.sendall(data)
        return connection

    def say(self, connection: socket.socket, **changes: Any) -> socket.socket:
        return self.send(connection, json.dumps(self.hello | changes).encode() + b"\n")


def silent(by: Attacker) -> None:
    by.connect()


def slow_drip(by: Attacker) -> None:
    """A byte to each connection that is open: each gets one every second or so."""
    by.connect()
    for connection in tuple(by.held):
        by.send(connection, b" ")
    time.sleep(0.01)


def random_bytes(by: Attacker) -> None:
    by.send(by.connect(), by.random.randbytes(by.random.choice((1, 20, 4096, 70_000))))


def other_protocols(by: Attacker) -> None:
    by.send(by.connect(), by.random.choice(OTHER_PROTOCOLS))


def deep_json(by: Attacker) -> None:
    depth = by.random.choice((500, 1300, 4000, 60_000))
    by.send(by.connect(), by.random.choice((b"[", b'{"a":', b'{"alike":[')) * depth + b"\n")


def huge_line(by: Attacker) -> None:
    by.send(by.connect(), b'{"type": "' + b"x" * 2_000_000 + by.random.choice((b"", b'"}\n')))


def many_messages(by: Attacker) -> None:
    by.send(by.connect(), by.random.choice((b"{}\n", b"\n", b'{"type":"hello"}\n')) * 20_000)


def surrogates(by: Attacker) -> None:
    text = json.dumps(dict.fromkeys(by.hello, "@") | {"proof": "@"})
    half = by.random.choice(("\\ud800", "\\udfff\\ud800", "\\u0000", "\\ufeff"))
    by.send(by.connect(), text.replace("@", half).encode() + b"\n")


def wrong_types(by: Attacker) -> None:
    field = by.random.choice([*by.hello, "proof", "nonce"])
    by.say(by.connect(), **{field: by.random.choice(VALUES)})


def missing_fields(by: Attacker) -> None:
    kept = {name: value for name, value in by.hello.items() if by.random.random() < 0.6}
    by.send(by.connect(), json.dumps(kept).encode() + b"\n")


def odd_numbers(by: Attacker) -> None:
    text = json.dumps({name: "@" if isinstance(value, int) else value for name, value in by.hello.items()})
    by.send(by.connect(), text.replace('"@"', by.random.choice(NUMBERS)).encode() + b"\n")


def half_closed(by: Attacker) -> None:
    connection = by.send(by.connect(), by.random.choice((b"", b'{"type": "hel', b"{}\n")))
    with contextlib.suppress(OSError):
        connection.shutdown(by.random.choice((socket.SHUT_WR, socket.SHUT_RD)))


def reset(by: Attacker) -> None:
    connection = by.connect()
    if by.random.random() < 0.5:
        by.say(connection, nonce="5f", proof="00")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def flood(by: Attacker) -> None:
    for _ in range(20):
        by.connect().close()


def never_reads(by: Attacker) -> None:
    by.say(by.connect(receive_buffer=1), nonce="5f", proof="00")


def wrong_proof(by: Attacker) -> None:
    connection = by.connect()
    challenge = by.challenge_of(connection)
    guess = make_proof("a guess", by.random.choice(_ROLES), challenge, "5f")
    by.say(connection, nonce="5f", proof=guess)


def no_proof(by: Attacker) -> None:
    by.say(by.connect(), nonce="5f")


def replayed_hello(by: Attacker) -> None:
    """The proof is right, for the challenge of another connection."""
    challenge = by.challenge_of(by.connect())
    by.say(by.connect(), nonce="5f", proof=make_proof(by.secret, by.role, challenge, "5f"))


def proof_of_another_role(by: Attacker) -> None:
    """The proof is right, for another port of the job, or for the other side of the connection."""
    connection = by.connect()
    role = by.random.choice([each for each in _ROLES if each != by.role])
    proof = make_proof(by.secret, role, by.challenge_of(connection), "5f")
    by.say(connection, nonce="5f", proof=proof)


def other_job(by: Attacker) -> None:
    connection = by.connect()
    challenge = by.challenge_of(connection)
    proof = make_proof("that of another job", by.role, challenge, "5f")
    other = {"nnodes": "1:9", "workers": 8, "alike": {"JAX": "0.1", "Keras": "2.0", "the number of workers": 9}}
    by.say(connection, nonce="5f", proof=proof, **{name: other[name] for name in other if name in by.hello})


def every_rank(by: Attacker) -> None:
    ranks = {"index": (-1, 0, 1, 2, 999), "node": (-1, 0, 1, 2, 999), "role": ("chief", "worker", "ps", "")}
    changes = {name: by.random.choice(values) for name, values in ranks.items() if name in by.hello}
    by.say(by.connect(), nonce="5f", proof="00" * 32, **changes)


def mutated_hello(by: Attacker) -> None:
    data = bytearray(json.dumps(by.hello | {"nonce": "5f", "proof": "00" * 32}).encode() + b"\n")
    for _ in range(by.random.randint(1, 6)):
        data[by.random.randrange(len(data))] = by.random.randrange(256)
    by.send(by.connect(), bytes(data))


ATTACKS: Final[dict[str, Attack]] = {
    attack.__name__.replace("_", " "): attack
    for attack in (
        silent,
        slow_drip,
        random_bytes,
        other_protocols,
        deep_json,
        huge_line,
        many_messages,
        surrogates,
        wrong_types,
        missing_fields,
        odd_numbers,
        half_closed,
        reset,
        flood,
        never_reads,
        wrong_proof,
        no_proof,
        replayed_hello,
        proof_of_another_role,
        other_job,
        every_rank,
        mutated_hello,
    )
}


def everything(by: Attacker) -> None:
    by.random.choice(tuple(ATTACKS.values()))(by)


class Attackers:
    """Threads that attack a port, from the beginning of the block to its end. `count` connections were made."""

    def __init__(self, address: tuple[str, int], attack: Attack, hello: Hello, secret: str) -> None:
        self.count = 0
        self._address, self._attack, self._hello, self._secret = address, attack, hello, secret
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(seed,)) for seed in range(_NUM_THREADS)]

    def __enter__(self) -> Attackers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, count: int, seconds: float = 30) -> None:
        """Waits until so many more connections were made."""
        target, deadline = self.count + count, time.monotonic() + seconds
        while self.count < target:
            assert time.monotonic() < deadline, f"only {self.count} of {target} connections in {seconds} s"
            time.sleep(0.01)

    def _run(self, seed: int) -> None:
        attacker = Attacker(self._address, self._hello, self._secret, seed)
        while not self._stop.is_set():
            try:
                self._attack(attacker)
                self.count += 1
            except OSError:  # nothing listens there at the moment
                time.sleep(0.02)
            attacker.close(keep=_MAX_HELD)
            time.sleep(_PAUSE)
        attacker.close(keep=0)
