"""Whose fault it was, by what the workers say. The texts are JAX 0.10.2's."""

import pytest

from unisono_launch.launch._diagnosis import WorkerOutcome, find_cause

GLOO = """Traceback (most recent call last):
  File "train.py", line 16, in <module>
    float(f(x))
ValueError: UNKNOWN: Gloo all-reduce failed: [external/gloo/gloo/transport/tcp/pair.cc:547] Connection closed by peer
"""
FATAL = """F1115 10:09:37.073102   22484 client.h:80] Terminating process because the JAX distributed service detected \
fatal errors. This most likely indicates that another task died; see the other task logs for more details.
"""
SILENT = (
    FATAL
    + "absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n{}\nThe tasks\n"
)
OWN = "Traceback (most recent call last):\n  File ...\nValueError: shapes (3,) and (4,) do not match\n"


def outcome(rank: int, code: int, at: float, errors: str = "", **more) -> WorkerOutcome:
    return WorkerOutcome(rank=rank, code=code, ended_at=at, errors=errors, **more)


CASES = {
    "all ended well": ([outcome(0, 0, 1), outcome(1, 0, 2)], None),
    "ended by us": ([outcome(0, 0, 1), outcome(1, -15, 2, stop_requested=True)], None),
    "the first in time": ([outcome(0, 1, 2, OWN), outcome(1, 1, 1, OWN)], (1, 1)),
    "killed": ([outcome(0, 1, 1.2, GLOO), outcome(1, -9, 1.0)], (1, 69)),
    "killed, and reported late": ([outcome(0, 1, 1.0, GLOO), outcome(1, -9, 1.3)], (1, 69)),
    "the coordinator was killed": ([outcome(0, -9, 1.0), outcome(1, -6, 1.3, FATAL + GLOO)], (0, 69)),
    "an own error among victims": ([outcome(0, -6, 1.0, FATAL), outcome(1, 1, 1.1, OWN)], (1, 1)),
    "a crash by itself": ([outcome(0, -6, 1.0, "double free or corruption"), outcome(1, 1, 1.2, GLOO)], (0, 69)),
    "lost a peer, by its code": ([outcome(0, 69, 1.0), outcome(1, 3, 1.5, OWN)], (1, 3)),
    "stopped": ([outcome(0, -6, 1.0, FATAL), outcome(1, -9, 5.0, stop_requested=True, suspended=True)], (1, 124)),
    "stuck, by name": (
        [
            outcome(0, -6, 1.0, SILENT.format(2)),
            outcome(1, -9, 5, stop_requested=True, outlasted_peers=True),
            outcome(2, -9, 5, stop_requested=True, outlasted_peers=True),
        ],
        (2, 124),
    ),
    "stuck, the only one left": (
        [outcome(0, -6, 1.0, FATAL + "RPC: Heartbeat"), outcome(1, -9, 5, stop_requested=True, outlasted_peers=True)],
        (1, 124),
    ),
    "lost on another machine": ([outcome(0, -6, 1.0, SILENT.format(7)), outcome(1, -6, 1.1, FATAL)], (7, 69)),
    "lost somewhere": ([outcome(0, -6, 1.0, FATAL), outcome(1, -6, 1.1, FATAL)], (0, 69)),
    "a connection of the script": ([outcome(0, 1, 1.0, "OSError: Connection reset by peer"), outcome(1, 0, 3)], (0, 1)),
    "preempted": ([outcome(0, 75, 1.0), outcome(1, 1, 1.1, GLOO)], (0, 75)),
    "lost with its machine": (
        [outcome(0, 1, 1.2, GLOO), outcome(1, -9, 1.0, description="was lost with its machine")],
        (1, 69),
    ),
    "left with its machine": ([outcome(0, 75, 1.2), outcome(1, 75, 1.0, description="left with its machine")], (1, 75)),
    "failed before it was preempted": ([outcome(0, 75, 2.0), outcome(1, 1, 1.0, OWN)], (1, 1)),
}


@pytest.mark.parametrize(("accounts", "expected"), CASES.values(), ids=CASES)
def test_the_cause_is_found(accounts, expected):
    cause = find_cause(accounts)
    assert (None if cause is None else (cause.rank, cause.code)) == expected


# Whether a worker of known number was lost: after which a job may continue with fewer.
LOSSES = {
    "killed": True,
    "the coordinator was killed": True,
    "a crash by itself": True,
    "stopped": True,
    "stuck, by name": True,
    "lost on another machine": True,
    "lost with its machine": True,
    "lost somewhere": False,
    "the first in time": False,
    "a connection of the script": False,
    "preempted": False,
    "left with its machine": False,
}


@pytest.mark.parametrize("case", LOSSES)
def test_only_a_worker_that_is_known_to_be_gone_is_a_loss(case):
    cause = find_cause(CASES[case][0])
    assert cause is not None
    assert cause.is_loss == LOSSES[case]
