"""A Ray cluster whose nodes are processes of this machine, in a process of its own.

Usage: _cluster_process.py NODES CPUS. Reads a line of JSON for each command from the standard input, and answers with
one. When the input ends, for whatever reason, the cluster is shut down.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ray.cluster_utils import Cluster

_MEMORY = {"object_store_memory": 100 * 2**20}

num_nodes, num_cpus = map(int, sys.argv[1:])
# The head runs no workers: nodes that are lost are never the head.
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **_MEMORY})
nodes: dict[str, Any] = {}


def add_node(num_gpus: int = 0) -> str:
    node = cluster.add_node(num_cpus=num_cpus, num_gpus=num_gpus, **_MEMORY)
    nodes[node.node_id] = node
    return str(node.node_id)


def remove_node(node_id: str) -> None:
    cluster.remove_node(nodes.pop(node_id), allow_graceful=False)


def answer(value: Any) -> None:
    print(json.dumps(value), flush=True)


try:
    for _ in range(num_nodes):
        add_node()
    answer({"address": cluster.address, "nodes": list(nodes)})
    for line in sys.stdin:
        command = json.loads(line)
        answer(add_node(command["gpus"]) if "gpus" in command else remove_node(command["remove"]))
finally:
    cluster.shutdown()
