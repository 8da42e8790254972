"""Parses the command line of `unisono run --on slurm`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from unisono_launch.launch import CommandParser, UsageError, split_program

_USAGE: Final = "unisono run --on slurm [options] (script.py | -m module) [arguments of the script]"

_EPILOG: Final = """\
examples:
  unisono run --on slurm -N 2 --gpus-per-node 8 --time 2:00:00 train.py
  unisono run --on slurm -N 2 --setup "source .venv/bin/activate" --dry-run train.py
  unisono run --on slurm --follow 1234

Ctrl-C while the job is followed does not end it. docs/slurm.md has what happens when the job is preempted, reaches its
time limit, loses a machine or is cancelled."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments; `program` is the script with its arguments. Raises :class:`UsageError`."""
    parser = _parser()
    flags, program = split_program(parser, list(arguments))
    options = parser.parse_args(_join_values(flags))
    options.program = tuple(program)
    if options.follow is not None:
        if len(flags) > 2 or program:
            raise UsageError("--follow shows a job that was submitted before. Type only: --on slurm --follow JOB")
        if not options.follow.isdecimal():
            raise UsageError(f"--follow {options.follow} is not the number of a job. squeue --me lists yours.")
    elif not program:
        raise UsageError(f"No script was given. Type: {_USAGE}")
    return options


def _join_values(flags: list[str]) -> list[str]:
    """`--sbatch --exclusive` as `--sbatch=--exclusive`: argparse takes the value for an option otherwise."""
    joined: list[str] = []
    for word in flags:
        if joined and joined[-1] == "--sbatch":
            joined[-1] = f"--sbatch={word}"
        else:
            joined.append(word)
    return joined


def _nodes(text: str) -> int:
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(
        f"-N {text} is not a number of machines. SLURM gives a job a fixed number of them: -N 2. "
        "(docs/launch.md, Elastic machines, has what can be done where their number changes.)"
    )


def _positive(option: str) -> Any:
    def parse_number(text: str) -> int:
        if text.isdecimal() and int(text) > 0:
            return int(text)
        raise UsageError(f"{option} {text} is not a positive whole number. Give one, as in {option} 8")

    return parse_number


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="unisono run --on slurm",
        usage=_USAGE,
        description="Writes a batch script, submits it with sbatch, shows the output of the job until it has ended, "
        "and exits with its code.",
        epilog=_EPILOG,
    )
    _add_resources(parser.add_argument_group("what SLURM gives the job, as in sbatch"))
    _add_launcher(parser.add_argument_group("what unisono run does on each machine"))
    add = parser.add_argument_group("the command").add_argument
    add(
        "--setup",
        action="append",
        default=[],
        metavar="COMMAND",
        help='run before the workers, as in "source .venv/bin/activate"; may be repeated. Without it the job uses the '
        "Python that this command runs with",
    )
    add("--dry-run", "--dry_run", action="store_true", help="print the batch script, and do nothing else")
    add("--detach", action="store_true", help="submit the job and do not follow it")
    add("--follow", metavar="JOB", help="follow a job that was submitted before")
    return parser


def _add_resources(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-N", "--nodes", "--nnodes", type=_nodes, default=1, metavar="N", help="number of machines (default: 1)")
    add("--gpus-per-node", type=_positive("--gpus-per-node"), metavar="G", help="GPUs of each machine")
    add(
        "--cpus-per-task",
        type=_positive("--cpus-per-task"),
        metavar="C",
        help="cores of each machine, for all its workers together (default: SLURM's, which is one)",
    )
    add("--time", metavar="T", help="time limit, as in 2:00:00 (default: that of the partition)")
    add("--partition", metavar="P")
    add("--account", metavar="A")
    add("--qos", metavar="Q")
    add("--constraint", metavar="C", help="features that the machines must have")
    add("--mem", metavar="M", help="memory of each machine, as in 64G")
    add(
        "--sbatch",
        action="append",
        default=[],
        metavar="OPTION",
        help='any other option of sbatch, as in --sbatch "--reservation=class"; may be repeated',
    )


def _add_launcher(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("-n", "--nproc-per-node", "--nproc_per_node", dest="num_workers", metavar="N", help="workers of each machine")
    add("--devices", metavar="D", help="devices of each worker (default: auto)")
    add("--max-restarts", "--max_restarts", type=int, metavar="R", help="restarts after a failure (default: 0)")
    add("--run-dir", "--run_dir", metavar="DIR", help="folder of the run, on a file system that all machines share")
    add("--name", metavar="NAME", help="name of the job and of the run (default: script name and time)")
    add(
        "--grace",
        type=_positive("--grace"),
        default=100,
        metavar="SECONDS",
        help="time that the workers need to save, at most; SLURM gives notice so long before the time limit "
        "(default: 100). It may be shorter in a preemption",
    )
    add("--master-port", "--master_port", type=int, metavar="P", help="port on the first machine")
    add("--as-tensorflow", "--as_tensorflow", action="store_true", help="run an unchanged TensorFlow script")
    add("--sharded", action="store_true", help="divide weights and optimizer state among the devices")
