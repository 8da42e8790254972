"""`unisono run`: which part this launcher has in its job."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping, Sequence

from unisono_launch.launch._arguments import parse
from unisono_launch.launch._here import look_around
from unisono_launch.launch._job import Job
from unisono_launch.launch._leader import Leader
from unisono_launch.launch._member import Member
from unisono_launch.launch._one_launcher import OneLauncher
from unisono_launch.launch._options import Options, Span, UsageError
from unisono_launch.worker import ExitCode


def run(arguments: Sequence[str]) -> int:
    """Runs the command with the words after `unisono run`; returns the exit code."""
    try:
        return _run(parse(arguments), dict(os.environ))
    except UsageError as error:
        print(f"unisono run: {error}", file=sys.stderr)
    except KeyboardInterrupt:  # before any worker was started, or after all have ended
        return ExitCode.INTERRUPTED
    except Exception:  # not 1, which is the script's
        traceback.print_exc()
    return ExitCode.LAUNCHER


def _run(options: Options, environ: Mapping[str, str]) -> int:
    here = look_around(options, environ)
    if not isinstance(options.nnodes, Span):
        return Job(here, OneLauncher(here)).run()
    if here.machines.rank == 0:
        return Job(here, Leader(here, options.nnodes)).run()
    return Member(here, options.nnodes).run()
