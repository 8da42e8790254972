"""Which errors mean that another process is lost, and when processes vote."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from unisono._src.processes import Consensus, Processes, _consensus
from unisono._src.processes._processes import _is_broken_connection

GLOO = "UNKNOWN: Gloo all-reduce failed: [external/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer"


@pytest.mark.parametrize(
    ("error", "is_broken"),
    [
        (ValueError(GLOO), True),
        (jax.errors.JaxRuntimeError(GLOO), True),
        (jax.errors.JaxRuntimeError("UNAVAILABLE: the coordination service sent no heartbeat"), True),
        (jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory"), False),
        (ValueError("could not convert string to float: 'heartbeat'"), False),
        (ValueError("no column 'Gloom' in data.csv"), False),
        (RuntimeError(GLOO), False),
    ],
)
def test_only_errors_of_xla_mean_a_lost_peer(error: Exception, is_broken: bool) -> None:
    assert _is_broken_connection(error) == is_broken
    outer = KeyError("x")
    outer.__cause__ = error
    assert _is_broken_connection(outer) == is_broken


def test_calls_of_another_kind_begin_with_a_vote(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next may take seconds where those before took microseconds."""
    monkeypatch.setattr(_consensus, "processes", lambda: Processes(0, ("this one", "another")))
    monkeypatch.setattr(_consensus, "all_gather_host", lambda numbers: np.stack([numbers, [0, 1]]))
    consensus = Consensus()
    votes = [consensus.vote(1) for _ in range(250)]
    assert votes[0] == 1
    assert votes.count(1) >= 3, "also many quick calls are not more than a hundred between two votes"
    assert consensus.vote(1) is None
    consensus.restart()
    assert consensus.vote(1) == 1
