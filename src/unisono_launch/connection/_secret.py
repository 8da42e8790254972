"""The secret of a job: each side of a connection proves that it knows it, and it is never sent.

It is in the environment (`UNISONO_JOB_SECRET`), never in a command line. The side that listens sends a nonce, the other
one answers with a nonce and a proof, and gets a proof back: HMAC-SHA-256 over both nonces. Launchers and workers use
the same secret; the role in a proof keeps one that was made for one purpose from being used for another.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final, Literal

SECRET_VARIABLE: Final = "UNISONO_JOB_SECRET"

Role = Literal["coordinator launcher", "joining launcher", "chief", "worker", "task server", "task client"]


def new_nonce() -> str:
    """A random number that was never used before."""
    return secrets.token_hex(16)


def make_proof(secret: str, role: Role, challenge: str, nonce: str) -> str | None:
    """Proves knowledge of the secret, for this connection and this role only; None if the job has no secret.

    >>> make_proof("a", "chief", "1", "2") == make_proof("a", "worker", "1", "2")
    False
    """
    if not secret:
        return None
    return hmac.new(secret.encode(), f"{role} {challenge} {nonce}".encode(), hashlib.sha256).hexdigest()


def is_proof(claimed: object, secret: str, role: Role, challenge: str, nonce: object) -> bool:
    """Whether the peer knows the secret. True if the job has none.

    >>> is_proof(make_proof("a", "worker", "1", "2"), "a", "worker", "1", "2")
    True
    """
    expected = make_proof(secret, role, challenge, str(nonce))
    if expected is None:
        return True
    return isinstance(claimed, str) and hmac.compare_digest(claimed.encode(errors="replace"), expected.encode())
