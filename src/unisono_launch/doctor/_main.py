"""Arguments of `unisono doctor`, and its checks in their order."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from unisono_launch.doctor import (
    _backend,
    _cluster,
    _datasets,
    _engines,
    _extras,
    _machine,
    _ports,
    _strategy,
    _versions,
)
from unisono_launch.doctor._finding import Finding, worst
from unisono_launch.doctor._probe_checks import PROBE_CHECKS, fetch_hooks, run_probe_check
from unisono_launch.doctor._probe_process import start_probe
from unisono_launch.doctor._report import findings_to_json, hooks_to_json, show_findings, show_hooks
from unisono_launch.doctor._run_check import run_check


def main(arguments: Sequence[str] | None = None) -> int:
    """Checks everything and reports; returns 1 if training would fail, else 0."""
    parser = argparse.ArgumentParser(
        prog="unisono doctor",
        description="Checks everything that training needs. Exit code: 1 if training would fail, 0 otherwise.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object (see docs/doctor.md)")
    parser.add_argument(
        "--hooks", action="store_true", help="list what Unisono replaces in Keras, JAX and Python, and why"
    )
    options = parser.parse_args(arguments)
    plain = options.json or importlib.util.find_spec("rich") is None  # where rich is missing, a finding says so
    return _report_hooks(plain) if options.hooks else _report_findings(plain)


def run_checks(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The finding of each check, when it is there. JAX starts in its own process meanwhile."""
    checks: list[tuple[str, Callable[[], Finding]]] = [
        (_machine.NAME, _machine.check_machine),
        (_versions.NAME, _versions.check_versions),
        (_extras.NAME, _extras.check_extras),
        (_backend.NAME, functools.partial(_backend.check_backend, environ)),
        (_strategy.NAME, functools.partial(_strategy.check_strategy, environ)),
        (_datasets.NAME, functools.partial(_datasets.check_datasets, environ)),
        (_engines.NAME, functools.partial(_engines.check_engines, environ)),
        (_cluster.NAME, functools.partial(_cluster.check_cluster, environ)),
        (_ports.NAME, functools.partial(_ports.check_ports, environ)),
    ]
    with start_probe(environ) as ask:
        for name, check in checks:
            yield run_check(name, check)
        for probe_check in PROBE_CHECKS:
            run = functools.partial(run_probe_check, probe_check, ask, environ)
            yield run_check(probe_check.name, run, 2 * probe_check.seconds)


def _report_findings(plain: bool) -> int:
    findings = run_checks(dict(os.environ))
    if plain:
        found = list(findings)
        print(findings_to_json(found))
    else:
        found = show_findings(findings)
    return 1 if worst(finding.status for finding in found) == "error" else 0


def _report_hooks(plain: bool) -> int:
    try:
        hooks = fetch_hooks(dict(os.environ))
    except RuntimeError as error:
        print(f"unisono doctor: {error}", file=sys.stderr)
        return 1
    if plain:
        print(hooks_to_json(hooks))
    else:
        show_hooks(hooks)
    return 0
