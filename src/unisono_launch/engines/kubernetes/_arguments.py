"""Parses the command line of `unisono run --on kubernetes` into :class:`KubernetesOptions`."""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Sequence
from typing import Final

from unisono_launch.engines.kubernetes._options import KubernetesOptions
from unisono_launch.launch import CommandParser, UsageError, script_stem, split_program

_USAGE: Final = "unisono run --on kubernetes --image IMAGE [options] (script.py | -m module) [arguments of the script]"

_EPILOG: Final = """\
The script is a file of the image. Every pod runs `unisono run` on it.

examples:
  unisono run --on kubernetes --image trainer:1 -N 2 --gpus-per-node 8 --volume-claim runs --dry-run train.py
  unisono run --on kubernetes --image trainer:1 -N 2 --kind jobset --name mnist --volume-claim runs train.py --lr 0.1

docs/kubernetes.md says what the cluster needs.
"""


def parse(arguments: Sequence[str]) -> KubernetesOptions:
    """Parses the arguments without `--on kubernetes`; raises :class:`UsageError`, or `SystemExit` for `--help`.

    >>> parse(["--image", "trainer:1", "-N", "2", "--name", "mnist", "-n", "gpu", "train.py"]).launcher_flags
    ('-n', 'gpu')
    """
    parser = _parser()
    flags, program = split_program(parser, list(arguments))
    values = vars(parser.parse_args(flags))
    if not program:
        raise UsageError(f"No script was given. Type: {_USAGE}")
    if values["image"] is None:
        raise UsageError(f"No image was given: the pods need one with your script and unisono. Type: {_USAGE}")
    launcher_flags: list[str] = []
    for flag, value in (("-n", values.pop("num_workers")), ("--devices", values.pop("devices"))):
        launcher_flags += [] if value is None else [flag, value]
    launcher_flags += ["--sharded"] if values.pop("sharded") else []
    launcher_flags += ["--as-tensorflow"] if values.pop("as_tensorflow") else []
    values["name"] = _default_name(program) if values["name"] is None else values["name"]
    values["env"] = tuple(values["env"])
    return KubernetesOptions(program=tuple(program), launcher_flags=tuple(launcher_flags), **values)


def _parser() -> argparse.ArgumentParser:
    parser = CommandParser(
        prog="unisono run --on kubernetes",
        usage=_USAGE,
        description="Trains in the pods of a Kubeflow TrainJob, or of a JobSet: prints it, or applies it with kubectl "
        "and follows it.",
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add("--image", metavar="I", help="image of the pods, with your script and unisono")
    add("-N", "--nnodes", dest="num_nodes", type=_whole("-N"), default=1, metavar="N", help="pods (default: 1)")
    add("--gpus-per-node", type=_whole("--gpus-per-node"), default=0, metavar="G", help="GPUs of each pod (default: 0)")
    add(
        "--kind",
        choices=("trainjob", "jobset"),
        default="trainjob",
        help="trainjob: needs Kubeflow Trainer 2.2 or newer; jobset: needs the JobSet controller (default: trainjob)",
    )
    add("--namespace", metavar="NS", help="namespace of the job (default: that of kubectl's context)")
    add("--name", metavar="NAME", help="name of the job and of its run folder (default: script name and time)")
    add(
        "--max-restarts",
        "--max_restarts",
        type=_whole("--max-restarts"),
        metavar="R",
        help="how often all pods are started again after a failure; preemptions do not count (default: 0)",
    )
    add(
        "--volume-claim",
        metavar="CLAIM[:MOUNT]",
        help="PersistentVolumeClaim that all pods can write to, and its folder in the pods (default: /runs). The run "
        "folder is in it, and survives restarts",
    )
    add(
        "--runtime",
        metavar="NAME",
        help="a ClusterTrainingRuntime of the cluster, such as jax-distributed. It decides about restarts (default: a "
        "TrainingRuntime that is made for this job)",
    )
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable in the pods; may be repeated")
    add(
        "--grace",
        type=_whole("--grace"),
        default=100,
        metavar="SECONDS",
        help="time to save after SIGTERM (default: 100). Kubernetes kills a pod 20 seconds later",
    )
    add("--run-dir", "--run_dir", metavar="DIR", help="run folder in the pods (default: MOUNT/NAME)")
    add(
        "-n",
        "--nproc-per-node",
        "--nproc_per_node",
        dest="num_workers",
        type=_num_workers,
        metavar="N",
        help="workers per pod, as on one machine (default: 1)",
    )
    add("--devices", metavar="D", help="devices of each pod, as on one machine (default: all GPUs)")
    add("--sharded", action="store_true", help="as on one machine")
    add("--as-tensorflow", "--as_tensorflow", action="store_true", help="as on one machine")
    add("--dry-run", "--dry_run", action="store_true", help="print the manifest and do nothing else")
    return parser


def _whole(flag: str) -> Callable[[str], int]:
    """Reads a whole number; the message names the flag."""

    def read(text: str) -> int:
        try:
            return int(text)
        except ValueError:
            advice = "Kubernetes keeps the number of pods: give one" if ":" in text else "Give one"
            raise UsageError(f"{flag} {text} is not a whole number. {advice}, as in {flag} 2.") from None

    return read


def _num_workers(text: str) -> str:
    if text in ("auto", "gpu") or (text.isdecimal() and int(text) > 0):
        return text
    raise UsageError(f"-n {text} is not a number of workers per pod. Give one, as in -n 2, or -n auto, or -n gpu.")


def _default_name(program: Sequence[str]) -> str:
    """The script and the time, as a name of pods.

    >>> _default_name(["-m", "package.My_train"])[:9]
    'my-train-'
    """
    letters = re.sub(r"[^a-z0-9]+", "-", script_stem(program).lower()).strip("-")[:20].strip("-")
    letters = letters if letters[:1].isalpha() else f"job-{letters}".strip("-")
    return f"{letters}-{time.strftime('%Y%m%d-%H%M%S')}"
