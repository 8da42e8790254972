"""Writes docs/attacks.md from what `pytest --attack-results=FILE` has left: FILE PAGE. `make attacks` does both.

Runs add to the file. Of an attack that was tried several times the last one counts.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import textwrap
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.attacks._attacks import ATTACKS

INTRODUCTION: Final = """# Attacks

Strangers who do not know the secret of a job cannot end it, delay it or change its result through Unisono's ports.
`make attacks` generates this page. It runs jobs with `UNISONO_JOB_SECRET`, and makes hostile connections of one kind to
their ports, from three threads for each port, each with up to 100 connections open. The table counts the connections
made before the next phase began.

The attackers do not know the secret, but *replayed hello* and *proof of another role* send recorded proofs. (A *hello*
is the message with which a launcher, a worker or a client of a parameter server introduces itself; the proof in it
shows that it knows the secret.) Weights, optimizer state and losses are compared with those of an undisturbed job.
*Bit-equal* means that no bit differs and that no worker was restarted. *Seconds added* is how much longer the job took
than the undisturbed job, excluding the time in which the test made it wait. The attackers, and possibly other programs,
use the same cores as the job, so this figure is only as accurate as the times of the undisturbed job are reproducible.
"""

LAUNCHERS: Final = """## Workers that train together

Two launchers with one worker each (`unisono run --nnodes 1:2`) are attacked at these ports:

1. the launchers' port, while the first launcher waits for the second one;
2. the workers' port, while worker 0 waits for worker 1;
3. the launchers' port, while the workers train;
4. the workers' port, where JAX's coordinator listens by then, while the workers train;
5. and 6. the ports of worker 0 and worker 1 on which gloo sums the gradients, while they train.

Attacks on a port continue until the job ends, except those on gloo, which end with their phase.

The ports in 4 to 6 belong to JAX, which does not authenticate its peers. They withstand the attacks listed here, none
of which speaks their protocols. An attack that does can end the job. So can one that has time: gloo never closes the
connection of a stranger, and aborts its process when that has no file descriptors left. Workers raise their limit of
open files to the hard limit (`ulimit -Hn`), so that it takes more connections than that. See
[Security](launch.md#security) for the network that you need.
"""

SERVERS: Final = """## Parameter servers

A chief, a worker and two [parameter servers](parameter-servers.md) are attacked at these ports, until the job ends:

1. the port of a parameter server, while it waits for the chief;
2. the port of the worker, while it waits for the chief;
3. the port of the parameter server, while the job trains;
4. the port of the worker, while the job trains.

With one worker, the steps of asynchronous training run one after the other, so that results can be compared bit by bit.
"""

PHASES: Final = {
    "two launchers": (
        "launchers, while one waits",
        "workers, while worker 0 waits",
        "launchers, in training",
        "JAX's coordinator, in training",
        "gloo of worker 0, in training",
        "gloo of worker 1, in training",
    ),
    "parameter servers": (
        "parameter server, while it waits",
        "worker, while it waits",
        "parameter server, in training",
        "worker, in training",
    ),
}

MEANINGS: Final = {
    "silent": "connects and says nothing",
    "slow drip": "a byte now and then, without end",
    "random bytes": "1 to 70,000 of them",
    "other protocols": "HTTP, HTTP/2, TLS, SSH, SMB",
    "deep json": "objects and lists, nested up to 60,000 deep",
    "huge line": "2 MB in one message",
    "many messages": "20,000 small messages at once",
    "surrogates": "text that is not valid Unicode, in each field",
    "wrong types": "a value of another type in a field of the hello",
    "missing fields": "a hello without some of its fields",
    "odd numbers": "4,000 digits, NaN, infinity, negative numbers, fractions",
    "half closed": "closes one direction, after half a message or none",
    "reset": "resets the connection, at once or after a hello",
    "flood": "connects and closes, 20 times in a row",
    "never reads": "a receive buffer of a few bytes that is never read",
    "wrong proof": "the proof of another secret",
    "no proof": "a hello without a proof",
    "replayed hello": "a proof that was right for another connection",
    "proof of another role": "a proof that is right for another port, or for the server",
    "other job": "a launcher, worker or client of a job with another secret and other versions",
    "every rank": "claims ranks and roles that are taken, free or not there",
    "mutated hello": "a hello in which some bytes were replaced",
    "everything": "all of these in random order",
}


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page. Attacks that were not tried are in it, as such."""
    versions = (
        f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}, JAX {version('jax')}, "
        f"Keras {version('keras')}."
    )
    parts = [INTRODUCTION, textwrap.fill(versions, 120) + "\n"]
    parts += [LAUNCHERS, *_results(rows, "two launchers"), SERVERS, *_results(rows, "parameter servers")]
    return "\n".join(parts)


def _results(rows: Sequence[dict[str, Any]], job: str) -> tuple[str, str]:
    """The summary and the table of a job."""
    tried = {row["attack"]: row for row in rows if row["job"] == job}
    names = [*ATTACKS, "everything"]
    held = sum(tried.get(name, {}).get("outcome") == "passed" for name in names)
    undisturbed = sorted({row["undisturbed"] for row in tried.values() if "undisturbed" in row})
    total = sum(sum(row.get("connections", {}).values()) for row in tried.values())
    summary = f"**{held} of {len(names)} kinds of attack: finished, bit-equal.** {total:,} hostile connections."
    if undisturbed:
        summary += f" The undisturbed job took {undisturbed[0]:g} to {undisturbed[-1]:g} s."
    numbers = range(1, len(PHASES[job]) + 1)
    head = ("attack", "what it does", *map(str, numbers), "finished", "result", "seconds added")
    lines = [_line(name, tried.get(name, {}), PHASES[job]) for name in names]
    table = "".join(f"| {' | '.join(map(str, line))} |\n" for line in (head, ["---"] * len(head), *lines))
    return textwrap.fill(summary, 120) + "\n", table


def _line(name: str, row: dict[str, Any], phases: Sequence[str]) -> list[Any]:
    counts = [row.get("connections", {}).get(phase, "") for phase in phases]
    result = {"passed": "bit-equal", "failed": "**failed**"}.get(row.get("outcome", ""), "not tried")
    finished = {True: "yes", False: "**no**"}.get(row.get("finished", ""), "")  # type: ignore[call-overload]
    return [name, MEANINGS[name], *counts, finished, result, row.get("added", "")]


def main(results: Path, target: Path) -> None:
    target.write_text(page([json.loads(line) for line in results.read_text().splitlines()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
