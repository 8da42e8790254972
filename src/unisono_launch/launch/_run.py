"""`unisono run` on this machine: which role this launcher has in its job."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Final

from unisono_launch.launch._arguments import parse
from unisono_launch.launch._context import LauncherContext, discover
from unisono_launch.launch._coordinated_group import CoordinatedGroup
from unisono_launch.launch._job import Job
from unisono_launch.launch._joining_launcher import JoiningLauncher
from unisono_launch.launch._options import SizeRange, UsageError
from unisono_launch.launch._standalone_group import StandaloneGroup
from unisono_launch.worker import ExitCode

# Options that people write behind the script, where they have no effect. A script may have others of the same name.
_NEVER_OF_A_SCRIPT: Final = frozenset(
    {"-n", "--nproc-per-node", "--nproc_per_node", "--max-restarts", "--as-tensorflow"}
)


def run_here(arguments: Sequence[str]) -> int:
    """Runs the command on this machine, with the arguments after `unisono run`; returns the exit code."""
    options = parse(arguments)
    misplaced = next((word for word in options.program[1:] if word in _NEVER_OF_A_SCRIPT), None)
    if misplaced is not None and options.num_workers == 1:
        print(
            f"unisono: {misplaced} stands after the script and is passed to it. If it is meant for unisono run, type: "
            f"unisono run {misplaced} … {options.program[0]}",
            file=sys.stderr,
        )
    context = discover(options, dict(os.environ))
    try:
        return _choose_role(context).run()
    finally:
        context.screen.close(context.events)


def report_errors(command: Callable[[], int]) -> int:
    """Runs a command; prints its errors, and returns the exit code for them."""
    try:
        return command()
    except UsageError as error:
        print(f"unisono run: {error}", file=sys.stderr)
    except KeyboardInterrupt:  # before any worker was started, or after all have ended
        return ExitCode.INTERRUPTED
    except Exception:  # not 1, which is the script's
        traceback.print_exc()
    return ExitCode.LAUNCHER


def _choose_role(context: LauncherContext) -> Job | JoiningLauncher:
    nnodes = context.options.nnodes
    if not isinstance(nnodes, SizeRange):
        return Job(context, StandaloneGroup(context))
    if context.machines.rank == 0:
        return Job(context, CoordinatedGroup(context, nnodes))
    return JoiningLauncher(context, nnodes)
