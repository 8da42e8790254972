"""On which node each task of an `srun` step runs, by `srun --distribution` (`-m`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from unisono_launch.cluster._variables import read_int

Place = tuple[str, int]
"""A host, and the number of a task among those of that host."""


def place_ranks(tasks: Mapping[str, int], environ: Mapping[str, str]) -> list[Place | None]:
    """Where each rank runs; None for those that this process cannot know.

    `-m arbitrary` takes a host for each task from a file. A process that cannot read the file (`srun -w hosts.txt` does
    not name it) knows the tasks of its own node only.

    >>> place_ranks({"n1": 2, "n2": 1}, {"SLURM_DISTRIBUTION": "plane", "SLURM_DIST_PLANESIZE": "1"})
    [('n1', 0), ('n2', 0), ('n1', 1)]
    """
    distribution = environ.get("SLURM_DISTRIBUTION", "")
    if distribution.startswith("arbitrary") and len(tasks) > 1:
        return _places_in_host_file(tasks, environ) or _places_on_own_node(sum(tasks.values()), environ)
    if distribution.startswith("plane"):
        return list(_deal(tasks, read_int(environ, "SLURM_DIST_PLANESIZE", least=1)))
    if distribution.startswith("cyclic"):
        return list(_deal(tasks, 1))
    return [(host, slot) for host, count in tasks.items() for slot in range(count)]  # "block": node after node


def correct_own_place(places: list[Place | None], rank: int, environ: Mapping[str, str]) -> list[Place | None]:
    """`places`, unless SLURM has placed this very task elsewhere: then only what this process knows for certain."""
    host, slot = environ.get("SLURMD_NODENAME"), environ.get("SLURM_LOCALID")
    if not host or not slot or rank >= len(places) or places[rank] == (host, int(slot)):
        return places
    return _places_on_own_node(len(places), environ)


def _deal(tasks: Mapping[str, int], size: int) -> list[Place]:
    """`size` tasks to each host in turn, until each has its number."""
    places: list[Place] = []
    given = dict.fromkeys(tasks, 0)
    while len(places) < sum(tasks.values()):
        for host, count in tasks.items():
            slots = range(given[host], min(given[host] + size, count))
            places += [(host, slot) for slot in slots]
            given[host] += len(slots)
    return places


def _places_in_host_file(tasks: Mapping[str, int], environ: Mapping[str, str]) -> list[Place | None]:
    """Empty if there is no file, or if it does not have the tasks that SLURM counts: then it has changed."""
    try:
        hosts = Path(environ.get("SLURM_SUBMIT_DIR", ""), environ["SLURM_HOSTFILE"]).read_text().split()
    except (KeyError, OSError):
        return []
    if any(hosts.count(host) != count for host, count in tasks.items()) or len(hosts) != sum(tasks.values()):
        return []
    return [(host, hosts[:rank].count(host)) for rank, host in enumerate(hosts)]


def _places_on_own_node(num_tasks: int, environ: Mapping[str, str]) -> list[Place | None]:
    """`SLURM_GTIDS` lists the ranks of this node."""
    places: list[Place | None] = [None] * num_tasks
    host = environ.get("SLURMD_NODENAME", "")
    ranks = [int(rank) for rank in environ.get("SLURM_GTIDS", "").split(",") if rank.isdecimal()]
    for slot, rank in enumerate(ranks):
        if host and rank < num_tasks:
            places[rank] = (host, slot)
    return places
