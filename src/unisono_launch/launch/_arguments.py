"""Parses the command line of `unisono run` into :class:`LaunchOptions`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final, Literal

from unisono_launch.launch._command_line import CommandParser, parse_size, split_program
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError
from unisono_launch.worker import ExitCode

_USAGE: Final = "unisono run [options] (script.py | -m module) [arguments of the script]"

_EPILOG: Final = (
    """\
examples:
  unisono run train.py --lr 0.1                         one worker with all devices of this machine
  unisono run -n 4 --devices cpu:2 train.py             four workers with two CPU devices each
  unisono run -n 4 --devices gpu:0,1,2,3 train.py       four workers with one GPU each
  unisono run -n 2:4 train.py                           four workers, or fewer if some are lost permanently
  unisono run --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 --name mnist train.py      on the first of two machines
  srun unisono run train.py                             SLURM, one task per machine; the rest is detected
  unisono run --as-tensorflow script.py                 a script written for TensorFlow
  unisono run --sharded train.py                        a model that is larger than a device, the script unchanged

on the machines of an engine, each with options of its own:
  unisono run --on ray --help
  unisono run --on slurm --help
  unisono run --on kubernetes --help

exit codes:
  """
    + ", ".join(f"{code.value} {code.name.lower()}" for code in ExitCode)
    + """ (see docs/launch.md)"""
)


def parse(arguments: Sequence[str]) -> LaunchOptions:
    """Parses the arguments of `unisono run`; raises :class:`UsageError`, or `SystemExit` for `--help`.

    >>> parse(["-n", "2", "-m", "timeit", "--", "--number", "1"]).program
    ('-m', 'timeit', '--number', '1')
    """
    parser = _parser()
    flags, program = split_program(parser, list(arguments))
    values = vars(parser.parse_args(flags))
    if not program:
        raise UsageError(f"No script was given. Type: {_USAGE}")
    return LaunchOptions(program=tuple(program), **values)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="unisono run",
        usage=_USAGE,
        description="Starts the workers of a job on this machine, shows their output, and stops or restarts them "
        "together.",
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add(
        "-n",
        "--nproc-per-node",
        "--nproc_per_node",
        dest="num_workers",
        type=_num_workers,
        default=1,
        metavar="N",
        help="number of workers on this machine (default: 1). MIN:MAX: fewer if some are lost permanently; "
        "auto: one per GPU, or one if there is no GPU; gpu: one per GPU",
    )
    add(
        "--devices",
        default="auto",
        metavar="D",
        help="cpu:K: K CPU devices per worker; gpu:0,1: these GPUs, divided among the workers; "
        "auto: all GPUs, divided, or one CPU device per worker if there is no GPU (default: auto)",
    )
    add(
        "--nnodes",
        type=_nnodes,
        metavar="N",
        help="number of machines (default: from the cluster, otherwise 1). MIN:MAX: the number may change",
    )
    add("--node-rank", "--node_rank", type=int, metavar="R", help="rank of this machine, starting at 0")
    add("--master-addr", "--master_addr", metavar="A", help="address of the first machine")
    add(
        "--master-port",
        "--master_port",
        type=int,
        metavar="P",
        help="port on the first machine (default: from the cluster, otherwise 29500)",
    )
    add(
        "--max-restarts",
        "--max_restarts",
        type=int,
        metavar="R",
        help="how often all workers are restarted after a failure (default: 0; with MIN:MAX, 3)",
    )
    add(
        "--join-window",
        "--join_window",
        type=float,
        default=120.0,
        metavar="SECONDS",
        help="how long --nnodes MIN:MAX waits for machines before each attempt (default: 120)",
    )
    add(
        "--run-dir",
        "--run_dir",
        metavar="DIR",
        help="folder for logs, records and checkpoints (default: runs/NAME)",
    )
    add("--name", metavar="NAME", help="name of the run (default: script name and time)")
    add(
        "--grace",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="time between Ctrl-C or SIGTERM and SIGKILL (default: 10)",
    )
    add(
        "--as-tensorflow",
        "--as_tensorflow",
        action="store_true",
        help="run an unchanged TensorFlow script: `import tensorflow` imports unisono.tf",
    )
    add(
        "--sharded",
        action="store_true",
        help="MirroredStrategy and MultiWorkerMirroredStrategy divide weights and optimizer state among the devices, "
        "like FullyShardedStrategy (sets UNISONO_STRATEGY=sharded)",
    )
    return parser


def _num_workers(text: str) -> int | SizeRange | Literal["auto", "gpu"]:
    if text == "auto":
        return "auto"
    if text == "gpu":
        return "gpu"
    try:
        return parse_size(text)
    except ValueError:
        raise UsageError(
            f"-n {text} is not a number of workers. Give one, as in -n 2, or -n auto, or -n 1:2 for one or two."
        ) from None


def _nnodes(text: str) -> int | SizeRange:
    try:
        return parse_size(text)
    except ValueError:
        raise UsageError(
            f"--nnodes {text} is not a number of machines. Give one, as in --nnodes 2, or --nnodes 1:2 for one or two."
        ) from None
