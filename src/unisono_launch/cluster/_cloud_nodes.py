"""SkyPilot and dstack: the nodes that one task was started on, once on each."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from unisono_launch.cluster._address import derive_port, join_address
from unisono_launch.cluster._membership import Membership, membership_of_task
from unisono_launch.cluster._ranked import name_workers
from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec
from unisono_launch.cluster._variables import find_inner_launcher, read_int


class _NodesResolver(ClusterResolver):
    """The nodes of a task by their addresses. One process on each trains; `unisono run` starts more of them.

    The port follows from the name of the task, which all nodes know, so that two tasks on one node do not mix.
    """

    _SYSTEM: ClassVar[str]
    _RANK: ClassVar[str]
    _COUNT: ClassVar[str]
    _ADDRESSES: ClassVar[str]
    """All nodes in the order of their ranks, a line each …"""
    _FIRST_ADDRESS: ClassVar[str | None] = None
    """… or where that is missing: the first of them."""
    _TASK: ClassVar[str]
    _VARIABLES: ClassVar[tuple[str, ...]]

    def __init__(self, *, rpc_layer: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ
        self._rpc_layer = rpc_layer
        self._task_type = "worker"
        self._task_id = read_int(environ, self._RANK)

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        if not environ.get(cls._RANK) or not environ.get(cls._COUNT):
            return False, f"{cls._RANK} is not set: not a task of {cls._SYSTEM}"
        inner = find_inner_launcher(environ, outer=cls._SYSTEM)
        if inner:
            return False, inner
        return environ[
            cls._COUNT
        ] != "1", f"node {environ[cls._RANK]} of {environ[cls._COUNT]} of a task of {cls._SYSTEM}"

    def cluster_spec(self) -> ClusterSpec:
        """All nodes, as workers."""
        count = read_int(self._environ, self._COUNT, least=1)
        hosts = self._environ.get(self._ADDRESSES, "").split()
        first = self._environ.get(self._FIRST_ADDRESS) if self._FIRST_ADDRESS else None
        port = derive_port(zlib.crc32(self._environ.get(self._TASK, "").encode()))
        if not hosts and first:
            unknown = [f"worker-{rank}.invalid:0" for rank in range(1, count)]
            return ClusterSpec({"worker": [join_address(first, port), *unknown]})
        if len(hosts) != count:
            raise ValueError(
                f"{self._ADDRESSES} has {len(hosts)} addresses ({', '.join(hosts) or 'none'}), and {self._COUNT} is "
                f"{count}. Expected an address for each node, as {self._SYSTEM} sets them."
            )
        return ClusterSpec({"worker": [join_address(host, port) for host in hosts]})

    def membership(self) -> Membership:
        """Which process this is among those that train together."""
        source = ", ".join(name for name in self._VARIABLES if self._environ.get(name))
        found = membership_of_task(self.cluster_spec(), self.task_type, self.task_id, source=source)
        if self._environ.get(self._ADDRESSES):
            return found
        return replace(found, names=name_workers(found.num_processes, found.coordinator))


class SkyPilotClusterResolver(_NodesResolver):
    """Reads the variables that SkyPilot sets for the command of a task on each of its nodes.

    >>> environ = {
    ...     "SKYPILOT_NODE_RANK": "1", "SKYPILOT_NUM_NODES": "2", "SKYPILOT_NODE_IPS": "10.0.0.4\\n10.0.0.5",
    ...     "SKYPILOT_TASK_ID": "sky-2026-01-31-12-00-00-000000_mycluster_1",
    ... }
    >>> SkyPilotClusterResolver(environ=environ).membership().name
    'worker 1 at 10.0.0.5:63507'
    """

    _SYSTEM = "SkyPilot"
    _RANK = "SKYPILOT_NODE_RANK"
    _COUNT = "SKYPILOT_NUM_NODES"
    _ADDRESSES = "SKYPILOT_NODE_IPS"
    _TASK = "SKYPILOT_TASK_ID"
    _VARIABLES = (_RANK, _COUNT, _ADDRESSES, _TASK)


class DstackClusterResolver(_NodesResolver):
    """Reads the variables that dstack sets for the commands of a task on each of its nodes.

    Versions before 0.18.25 name the first node only.

    >>> environ = {"DSTACK_NODE_RANK": "1", "DSTACK_NODES_NUM": "2", "DSTACK_MASTER_NODE_IP": "10.0.0.4"}
    >>> DstackClusterResolver(environ=environ).membership().coordinator
    '10.0.0.4:61440'
    """

    _SYSTEM = "dstack"
    _RANK = "DSTACK_NODE_RANK"
    _COUNT = "DSTACK_NODES_NUM"
    _ADDRESSES = "DSTACK_NODES_IPS"
    _FIRST_ADDRESS = "DSTACK_MASTER_NODE_IP"
    _TASK = "DSTACK_RUN_NAME"
    _VARIABLES = (_RANK, _COUNT, _ADDRESSES, _FIRST_ADDRESS, _TASK)
