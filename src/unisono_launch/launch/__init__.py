"""`unisono run`: starts the workers of a job on this machine, watches them, ends or restarts them together."""

from unisono_launch.launch._command_line import CommandParser as CommandParser
from unisono_launch.launch._command_line import split_program as split_program
from unisono_launch.launch._command_line import take_engine as take_engine
from unisono_launch.launch._devices import MachineDevices as MachineDevices
from unisono_launch.launch._devices import find_devices as find_devices
from unisono_launch.launch._environment import worker_environment as worker_environment
from unisono_launch.launch._machines import Machines as Machines
from unisono_launch.launch._options import UsageError as UsageError
from unisono_launch.launch._plan import AttemptPlan as AttemptPlan
from unisono_launch.launch._ports import hold_free_ports as hold_free_ports
from unisono_launch.launch._run import report_errors as report_errors
from unisono_launch.launch._run import run_here as run_here
from unisono_launch.worker import FAILED as FAILED
from unisono_launch.worker import PREEMPTED as PREEMPTED
from unisono_launch.worker import ExitCode as ExitCode
from unisono_launch.worker import Status as Status
from unisono_launch.worker import read_status as read_status
from unisono_launch.worker import write_status as write_status
