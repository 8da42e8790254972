"""The command `unisono run --on slurm`: the folder of the run, the batch script, sbatch."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from unisono_launch.cluster import SlurmError, call_slurm
from unisono_launch.engines.slurm._arguments import parse
from unisono_launch.engines.slurm._follow import follow
from unisono_launch.engines.slurm._script import NOTICE_MARGIN, BatchScript
from unisono_launch.launch import UsageError, parse_run_options, script_stem
from unisono_launch.worker import ExitCode

_RESOURCES: Final = ("gpus_per_node", "cpus_per_task", "time", "partition", "account", "qos", "constraint", "mem")
_SCRIPT: Final = "job.sh"
_SUBMIT_TIMEOUT: Final = 300.0  # sbatch itself tries again where slurmctld is busy
_SIGNAL_RESOLUTION: Final = 60  # so much earlier SLURM may send the signal: sbatch(1), --signal


def submit(arguments: Sequence[str]) -> int:
    """Runs the command; returns the exit code of the job, or 0 if it is not followed."""
    options = parse(arguments)
    if options.follow is not None:
        return follow(options.follow)
    folder = _choose_folder(options)
    script = write_script(options, folder, Path.cwd())
    if options.dry_run:
        print(script, end="")
        return ExitCode.DONE
    if folder.exists():
        print(f"unisono: {folder} exists: the job continues what was saved there.", file=sys.stderr)
    _create(folder)
    path = folder / _SCRIPT
    path.write_text(script)
    job, _, cluster = _call_sbatch(path).partition(";")
    print(f"unisono: submitted job {job}. Batch script: {path}", file=sys.stderr)
    if cluster:
        print(f"unisono: it is on the cluster {cluster}, and cannot be followed from here.", file=sys.stderr)
    return ExitCode.DONE if options.detach or cluster else follow(job)


def write_script(options: argparse.Namespace, folder: Path, work_dir: Path) -> str:
    """The batch script for the options of the command; raises :class:`UsageError` for those that cannot work."""
    flags = _launcher_flags(options, folder)
    # What the launcher would refuse on the machines of the job is refused here.
    run_options = parse_run_options([*flags, "--grace", str(options.grace), *options.program])
    if not isinstance(run_options.num_workers, int | str) and options.nodes > 1:
        raise UsageError(
            f"-n {options.num_workers} with -N {options.nodes}: every machine has the same number of workers. "
            f"Give one, as in -n {run_options.num_workers.most}."
        )
    _check_time(options.time, options.grace)
    resources = [
        f"--job-name={_job_name(options.name or script_stem(options.program))}",
        f"--nodes={options.nodes}",
        "--ntasks-per-node=1",
    ]
    for name in _RESOURCES:
        value = getattr(options, name)
        if value is not None:
            resources.append(f"--{name.replace('_', '-')}={_quote(str(value))}")
    launcher = "unisono" if options.setup else f"{shlex.quote(sys.executable)} -m unisono_launch"
    return BatchScript(
        title="# Written by `unisono run --on slurm`. To continue the run in another job:    "
        f"sbatch {shlex.quote(str(folder / _SCRIPT))}",
        resources=(*resources, f"--chdir={_quote(str(work_dir))}"),
        output=_quote(f"{folder}/slurm-%j.out".replace("%", "%%").replace("%%j.out", "%j.out")),
        extra=tuple(_extra_option(text) for text in options.sbatch),
        setup=tuple(f"{command} || exit {ExitCode.LAUNCHER.value}" for command in options.setup),
        launcher=launcher,
        flags=tuple(_pair_values(flags)),
        grace=options.grace,
        program=shlex.join(options.program),
        again=shlex.quote(str(folder / _SCRIPT)),
        sets_cpus=options.cpus_per_task is not None,
    ).text()


def _launcher_flags(options: argparse.Namespace, folder: Path) -> list[str]:
    flags = ["--run-dir", str(folder)]
    values = {
        "-n": options.num_workers,
        "--devices": options.devices,
        "--max-restarts": options.max_restarts,
        "--master-port": options.master_port,
    }
    for flag, value in values.items():
        if value is not None:
            flags += [flag, str(value)]
    flags += ["--as-tensorflow"] if options.as_tensorflow else []
    flags += ["--sharded"] if options.sharded else []
    return flags


def _pair_values(flags: list[str]) -> list[str]:
    """Each flag with its value, as text of the shell."""
    pairs: list[str] = []
    for word in flags:
        if word.startswith("-"):
            pairs.append(word)
        else:
            pairs[-1] += f" {shlex.quote(word)}"
    return pairs


def _choose_folder(options: argparse.Namespace) -> Path:
    """`--run-dir`, `runs/--name` or `runs/SCRIPT-TIME`; an absolute path that need not exist."""
    if options.run_dir is not None:
        return Path(options.run_dir).absolute()
    if options.name is not None:
        if not re.fullmatch(r"[\w+-][\w.+-]*", options.name):
            raise UsageError(f"--name {options.name!r} is not a plain name. Give one, as in --name mnist")
        return Path("runs", options.name).absolute()
    name = f"{script_stem(options.program)}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder, number = Path("runs", name), 2
    while folder.exists():
        folder, number = Path("runs", f"{name}-{number}"), number + 1
    return folder.absolute()


def _check_time(limit: str | None, grace: int) -> None:
    """A job that gets its notice when it starts would be requeued for ever."""
    seconds = parse_time_limit(limit or "")
    needed = grace + NOTICE_MARGIN + _SIGNAL_RESOLUTION
    if seconds is not None and seconds <= needed:
        raise UsageError(
            f"--time {limit} leaves no time to train: the workers have {grace} s to save (--grace), and SLURM may send "
            f"its notice {needed} s before the limit. Give more --time, or less --grace."
        )


def parse_time_limit(text: str) -> float | None:
    """The seconds of a time limit of sbatch; None for what is not one, which sbatch refuses itself.

    >>> [parse_time_limit(text) for text in ("90", "2:30", "1:00:00", "1-12", "2-0:30", "soon")]
    [5400.0, 150.0, 3600.0, 129600.0, 174600.0, None]
    """
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text)
    if match is None:
        return None
    days, *parts = match.groups()
    first, second, third = (float(part or 0) for part in parts)
    if days is not None or parts[2] is not None:  # hours first
        return float(days or 0) * 86400 + first * 3600 + second * 60 + third
    return first * 60 + second


def _create(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The folder of the run cannot be created: {error}. Name another: --run-dir DIR") from None


def _call_sbatch(script: Path) -> str:
    try:
        return call_slurm("sbatch", "--parsable", str(script), timeout=_SUBMIT_TIMEOUT).strip()
    except SlurmError as error:
        if "not on the PATH" in str(error):
            raise UsageError(
                "sbatch is not on the PATH. Type the command where you would submit a job, on a login node of the "
                "cluster; --dry-run shows the batch script anywhere."
            ) from None
        raise UsageError(f"sbatch refused the job: {error}\nThe batch script is {script}") from None


def _job_name(name: str) -> str:
    return re.sub(r"[^\w.+-]", "_", name)


def _quote(text: str) -> str:
    if "\n" in text:
        raise UsageError(f"{text!r} has a line break, which an option of sbatch cannot have.")
    return shlex.quote(text)


def _extra_option(text: str) -> str:
    if not re.match(r"--?[A-Za-z]", text) or "\n" in text:
        raise UsageError(f"--sbatch {text!r} is not an option of sbatch. Write one, as in --sbatch=--exclusive")
    return text
