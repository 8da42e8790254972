"""`unisono run`: starts the workers of a job on this machine, watches them, ends or restarts them together.

Engines (`unisono_launch.engines`) use the parts.
"""

from unisono_launch.launch._allocation import WorkerAllocator
from unisono_launch.launch._arguments import parse as parse_run_options
from unisono_launch.launch._attempt import AttemptResult, run_attempt
from unisono_launch.launch._background_screen import BackgroundScreen
from unisono_launch.launch._command_line import CommandParser, parse_size, split_program, take_engine
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._devices import MachineDevices, find_devices
from unisono_launch.launch._diagnosis import FailureCause, WorkerOutcome, find_cause
from unisono_launch.launch._environment import worker_environment
from unisono_launch.launch._events import (
    STOP_SIGNALS, EndingElsewhere, EndingReason, Event, Events, SignalReceived, StopRequestedError,
    ThreadCrashed, exit_code_after, signals_as_events, stop_signals_raised,
)
from unisono_launch.launch._failure_report import describe_failure, headline, shorten_path
from unisono_launch.launch._machines import Machines
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._ports import hold_free_ports
from unisono_launch.launch._protocol import MachineReport, report_from_json, report_to_json
from unisono_launch.launch._run import report_errors, run_here
from unisono_launch.launch._run_folder import make_run_folder, script_stem
from unisono_launch.launch._screen import Screen, TerminalScreen
from unisono_launch.launch.workers import LocalProcesses
from unisono_launch.worker import FAILED, PREEMPTED, ExitCode, Status, read_status, write_status
