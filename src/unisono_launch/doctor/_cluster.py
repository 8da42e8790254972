"""The cluster that this process is in, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from unisono_launch.cluster import (
    Membership,
    TFConfigClusterResolver,
    detect,
    explain_detection,
    has_parameter_servers,
    membership,
)
from unisono_launch.doctor._finding import Finding

NAME = "cluster"

_PARAMETER_SERVERS: Final = (
    "TF_CONFIG has parameter servers: tasks of ParameterServerStrategy, each started by itself, and not the workers of "
    "MultiWorkerMirroredStrategy"
)


def check_cluster(environ: Mapping[str, str]) -> Finding:
    """Which processes train together, from which variables; and every kind that was looked for, in order."""
    steps = explain_detection(environ)
    taken = next((step.kind for step in steps if step.found), None)
    order = [
        {"kind": step.kind, "found": step.found, "taken": step.kind == taken, "reason": step.reason} for step in steps
    ]
    facts: dict[str, Any] = {"taken": taken, "order": order, "variables": {}, "membership": None}
    facts["variables"] = {
        name: value for step in steps if step.found for name, value in step.variables.items() if value is not None
    }
    try:
        found = find_membership(environ)
    except (RuntimeError, ValueError) as error:
        variables = next(step.variables for step in steps if step.found)
        names = " ".join(name for name, value in variables.items() if value is not None and name != "HOSTNAME")
        remedy = f"Correct it, or train on this machine alone: unset {names}"
        return Finding(NAME, "error", f"{taken} was found and cannot be used: {error}", remedy, facts)
    if found is None:
        text = _PARAMETER_SERVERS if taken == "TF_CONFIG" else "none: this process trains alone"
        return Finding(NAME, "ok", text + _describe_order(order), None, facts)
    facts["membership"] = {
        "name": found.name,
        "role": found.role,
        "process_id": found.process_id,
        "num_processes": found.num_processes,
        "coordinator": found.coordinator,
        "local_rank": found.local_rank,
        "local_size": found.local_size,
    }
    where = f", coordinator at {found.coordinator}" if found.coordinator else ""
    text = f"{found.name}, process {found.process_id} of {found.num_processes}{where}; from {found.source}"
    return Finding(NAME, "ok", text + _describe_order(order), None, facts)


def find_membership(environ: Mapping[str, str]) -> Membership | None:
    """Which process of its cluster this is; None: it is alone, or a task of a cluster with parameter servers.

    Raises what the cluster's resolver raises.
    """
    resolver = detect(dict(environ))  # a copy: SLURM's resolver divides GPUs by setting a variable
    if isinstance(resolver, TFConfigClusterResolver) and has_parameter_servers(environ):
        return None
    return None if resolver is None else membership(resolver)


def _describe_order(order: list[dict[str, Any]]) -> str:
    lines = []
    for number, step in enumerate(order, 1):
        mark = " (used)" if step["taken"] else " (found, but not the first)" if step["found"] else ""
        lines.append(f"{number}. {step['kind']}{mark}: {step['reason']}")
    return "\n" + "\n".join(lines)
