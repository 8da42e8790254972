"""Parses the command line of `unisono run --on ray`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from unisono_launch.engines.ray._devices import RayDevices
from unisono_launch.launch import CommandParser, LaunchOptions, SizeRange, UsageError, parse_size, split_program
from unisono_launch.worker import ExitCode

_USAGE: Final = "unisono run --on ray [options] (script.py | -m module) [arguments of the script]"

_EPILOG: Final = (
    """\
examples:
  unisono run --on ray -n 2 --devices gpu:1 train.py --lr 0.1        two workers with one GPU each
  unisono run --on ray -n 2:4 --devices gpu:8 train.py               as many as Ray has room for, from two to four
  unisono run --on ray -n 2 --devices cpu:4 --max-restarts 3 train.py
  unisono run --on ray -n 4 --devices tpu:v6e:4x4 train.py           the four machines of a TPU slice
  ray job submit --address http://head:8265 --working-dir . -- unisono run --on ray -n 2 train.py

exit codes:
  """
    + ", ".join(f"{code.value} {code.name.lower()}" for code in ExitCode)
    + """ (see docs/launch.md and docs/ray.md)"""
)


@dataclass(frozen=True, kw_only=True)
class RayOptions:
    """The options of `unisono run --on ray`."""

    job: LaunchOptions
    """Those that it has on one machine too."""
    devices: RayDevices
    address: str | None
    """Of the cluster, from `--address` or `RAY_ADDRESS`; None: the cluster of this machine, else a new one on it."""

    @property
    def workers(self) -> SizeRange:
        """The least and the most number of workers."""
        number = self.job.num_workers
        if isinstance(number, SizeRange):
            return number
        assert isinstance(number, int)
        return SizeRange(number, number)


def parse(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> RayOptions:
    """Parses the arguments without `--on ray`; raises :class:`UsageError`, or `SystemExit` for `--help`."""
    parser = _parser()
    flags, program = split_program(parser, list(arguments))
    values = vars(parser.parse_args(flags))
    if not program:
        raise UsageError(f"No script was given. Type: {_USAGE}")
    address, devices = values.pop("address"), RayDevices.parse(values.pop("devices"))
    address, source = (environ.get("RAY_ADDRESS"), "RAY_ADDRESS=") if address is None else (address, "--address ")
    if address is not None and address.startswith("ray://"):
        raise UsageError(
            f"{source}{address}: a Ray client cannot watch a job. Run the command on a machine of the cluster with "
            "--address auto, or from outside by: ray job submit --working-dir . -- unisono run --on ray …"
        )
    options = RayOptions(job=LaunchOptions(program=tuple(program), **values), devices=devices, address=address)
    if devices.kind == "tpu" and devices.topology is None and options.workers.most > 1:
        raise UsageError(
            "Several workers with TPUs are the machines of a slice, which Ray finds by its kind. "
            "Write, for instance: --devices tpu:v6e:4x4"
        )
    return options


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="unisono run --on ray",
        usage=_USAGE,
        description="Runs a job on a Ray cluster: Ray places one worker per bundle of resources, restarts them after a "
        "failure and changes their number; each is watched as on one machine.",
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add("--address", metavar="A", help="of the cluster (default: RAY_ADDRESS, else the cluster of this machine)")
    add(
        "-n",
        "--num-workers",
        dest="num_workers",
        type=_num_workers,
        default=1,
        metavar="N",
        help="number of workers in all (default: 1). MIN:MAX: as many as there is room for",
    )
    add(
        "--devices",
        default="auto",
        metavar="D",
        help="of each worker. cpu:K: K CPU devices, and K of Ray's CPUs; gpu:K: K GPUs; tpu:v6e:4x4: a machine of such "
        "a slice; auto: gpu:1 if the cluster has GPUs, else cpu:1 (default: auto)",
    )
    add(
        "--max-restarts",
        "--max_restarts",
        type=int,
        metavar="R",
        help="how often Ray restarts all workers after a failure (default: 0; with MIN:MAX, 3)",
    )
    add(
        "--run-dir",
        "--run_dir",
        metavar="DIR",
        help="folder for logs and what the script saves, on a file system that all nodes share (default: runs/NAME)",
    )
    add("--name", metavar="NAME", help="name of the run (default: script name and time)")
    add(
        "--grace",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time between a notice (Ctrl-C, SIGTERM, a node that drains) and SIGKILL (default: 10)",
    )
    add("--as-tensorflow", "--as_tensorflow", action="store_true", help="as without --on")
    add("--sharded", action="store_true", help="as without --on")
    return parser


def _num_workers(text: str) -> int | SizeRange:
    try:
        return parse_size(text)
    except ValueError:
        raise UsageError(
            f"-n {text} is not a number of workers. Give one, as in -n 2, or -n 2:4 for two to four."
        ) from None
