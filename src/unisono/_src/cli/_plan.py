"""`unisono plan`: what a script's training step needs, and what it would take on more devices. Trains nothing."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import jax
from rich.console import Console

from unisono._src.core import read_environment
from unisono._src.devices import ensure_cpu_devices
from unisono._src.planning._plan import PlanOptions, ResourcePlan, count_cores, make_plan
from unisono._src.planning._plan_text import print_plan
from unisono._src.planning._script import NoFitError, run_until_fit

_WIDTH_WITHOUT_TERMINAL: Final = 120
# So that exchange between CPU devices can be measured.
_MEASURED_CPU_DEVICES: Final = 8


def plan(arguments: Sequence[str]) -> int:
    """Runs a script up to its `fit`, prints the plan, and returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="unisono plan",
        description="Runs a script up to its first model.fit, compiles the training step instead of training, and "
        "prints its memory, the largest batch, and predicted step times: on up to 1024 devices, or on as many CPU "
        "devices as this machine has cores. Code after this call to fit does not run.",
        epilog="All other arguments, and those after --, are the script's.",
        allow_abbrev=False,
    )
    parser.add_argument("script", type=Path, help="a Python script that calls model.fit")
    parser.add_argument("--devices", type=int, metavar="N", help="number of devices over which the batch is split")
    parser.add_argument(
        "--bandwidth",
        metavar="NAME",
        help="nvlink4, infiniband-ndr, 100gbe, ...; a rate such as 25GB/s; measure; or measure-processes",
    )
    parser.add_argument("--latency", type=float, metavar="US", help="microseconds per message between devices")
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory that a device may use, such as 16GB (default: 95 %% of what it reports)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON; the script's output goes to stderr")
    options, rest = parser.parse_known_args(arguments)
    if not options.script.is_file():
        parser.error(f"{options.script}: no such file.")
    if options.devices is not None and options.devices < 1:
        parser.error(f"--devices {options.devices}: at least 1.")
    script_arguments = rest[1:] if rest[:1] == ["--"] else rest
    asked = PlanOptions(
        options.devices,
        options.bandwidth,
        None if options.latency is None else options.latency * 1e-6,
        options.memory,
    )
    choose_devices = _prepare_devices(options.devices, options.bandwidth)
    output = contextlib.redirect_stdout(sys.stderr) if options.json else contextlib.nullcontext()
    try:
        with output:
            found: ResourcePlan = run_until_fit(
                options.script, script_arguments, lambda model, given: make_plan(model, given, asked), choose_devices
            )
    except (NoFitError, RuntimeError, TypeError, ValueError) as error:
        if not _is_ours(error):
            raise
        print(error, file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found.to_json(), indent=2))
    else:
        print_plan(found, Console(width=None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL))
    return 0


def _prepare_devices(asked: int | None, bandwidth: str | None) -> Any:
    """Makes CPU devices to measure with; returns the function that leaves the script those that it would have."""
    expected = asked or read_environment().cpu_devices or 1
    if bandwidth == "measure-processes":
        # A process has one device, and as many threads as cores. With more devices, XLA would have more threads here.
        expected = number = min(expected, count_cores())
    else:
        number = max(expected, count_cores(), _MEASURED_CPU_DEVICES)
    ensure_cpu_devices(number)
    made = jax.config.values["jax_num_cpu_devices"]

    def choose(devices: list[Any]) -> list[Any]:
        is_own_number = jax.config.values["jax_num_cpu_devices"] == made  # the script has not set another
        return devices[:expected] if devices[0].platform == "cpu" and is_own_number else devices[:asked]

    return choose


def _is_ours(error: BaseException) -> bool:
    """Whether the message was written for the user of this command, and needs no traceback."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback is not None and "unisono/_src/planning" in traceback.tb_frame.f_code.co_filename.replace("\\", "/")
