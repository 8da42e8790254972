"""Arguments of `unisono doctor`, and its checks in their order."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from unisono_launch.doctor import _backend, _cluster, _datasets, _extras, _machine, _ports, _versions
from unisono_launch.doctor._examine import examine
from unisono_launch.doctor._finding import Finding, worst
from unisono_launch.doctor._probed import STAGES, check_stage
from unisono_launch.doctor._probing import probing
from unisono_launch.doctor._report import as_json, show


def main(arguments: Sequence[str] | None = None) -> int:
    """Looks at everything and reports; returns 1 if training would fail, else 0."""
    parser = argparse.ArgumentParser(
        prog="unisono doctor",
        description="Looks at everything that training needs. Exit code 1: training would fail. Warnings do not count.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, described in docs/doctor.md")
    asked = parser.parse_args(arguments)
    findings = examine_all(dict(os.environ))
    if asked.json or importlib.util.find_spec("rich") is None:  # where rich is missing, a finding says so
        found = list(findings)
        print(as_json(found))
    else:
        found = show(findings)
    return 1 if worst(finding.status for finding in found) == "error" else 0


def examine_all(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The finding of each check, when it is there. JAX starts in its own process meanwhile."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        (_machine.NAME, _machine.check_machine),
        (_versions.NAME, _versions.check_versions),
        (_extras.NAME, _extras.check_extras),
        (_backend.NAME, functools.partial(_backend.check_backend, environ)),
        (_datasets.NAME, functools.partial(_datasets.check_datasets, environ)),
        (_cluster.NAME, functools.partial(_cluster.check_cluster, environ)),
        (_ports.NAME, functools.partial(_ports.check_ports, environ)),
    ]
    with probing(environ) as ask:
        for name, check in checks:
            yield examine(name, check)
        for stage in STAGES:
            yield examine(stage.name, functools.partial(check_stage, stage, ask, environ), 2 * stage.seconds)
