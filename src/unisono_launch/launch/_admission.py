"""Who may take part in a job of changing size: launchers that fit, and that know its secret if it has one.

The secret is in the environment (`UNISONO_JOB_SECRET`), never in a command line, and never travels: both sides show
that they know it by an HMAC over two numbers that each has drawn for this connection. Who does not know it can neither
join nor lead. It does not hide what is said; nothing that launchers say is secret.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from unisono_launch.launch._protocol import VERSION

SECRET: Final = "UNISONO_JOB_SECRET"

_Role = Literal["leader", "member"]


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the launchers of a job must have in common.

    >>> terms = Terms(nnodes="1:3", num_seats=3, workers=2, secret="")
    >>> terms.objection({"type": "hello", "version": 1, "node": 1, "nnodes": "1:3", "workers": 4, "nonce": "5f"})
    '4 workers there and 2 here. Give the same -n on all machines.'
    """

    nnodes: str
    num_seats: int
    """How many machines there can be, the leader's included."""
    workers: int
    """On each machine."""
    secret: str
    """Empty: there is none."""

    def knows_secret(self, hello: Mapping[str, Any], challenge: str) -> bool:
        """Whether who says this knows the secret, if there is one."""
        return not self.secret or is_proof(
            hello.get("proof"), self.secret, "member", challenge, str(hello.get("nonce"))
        )

    def objection(self, hello: Mapping[str, Any]) -> str | None:
        """Why who says this cannot take part; None if it can."""
        if hello.get("type") != "hello" or hello.get("version") != VERSION or not isinstance(hello.get("nonce"), str):
            return f"launchers of this job speak version {VERSION} of Unisono's protocol."
        node = hello.get("node")
        if not isinstance(node, int) or not 0 < node < self.num_seats:
            return f"there is no machine {node}. Give --node-rank 1 to {self.num_seats - 1}."
        if (nnodes := hello.get("nnodes")) != self.nnodes:
            return f"--nnodes is {nnodes} there and {self.nnodes} here. Give the same on all machines."
        if (workers := hello.get("workers")) != self.workers:
            return f"{workers} workers there and {self.workers} here. Give the same -n on all machines."
        return None


def new_nonce() -> str:
    """A number that nobody can have seen before."""
    return secrets.token_hex(16)


def proof(secret: str, role: _Role, challenge: str, nonce: str) -> str:
    """Shows that one knows the secret, for this connection only. Roles differ, so that no answer can be sent back.

    >>> proof("a", "leader", "1", "2") == proof("a", "member", "1", "2")
    False
    """
    return hmac.new(secret.encode(), f"{role} {challenge} {nonce}".encode(), hashlib.sha256).hexdigest()


def is_proof(told: object, secret: str, role: _Role, challenge: str, nonce: str) -> bool:
    """Whether the other side knows the secret."""
    return isinstance(told, str) and hmac.compare_digest(told.encode(), proof(secret, role, challenge, nonce).encode())
