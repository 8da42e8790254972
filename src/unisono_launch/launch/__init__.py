"""`unisono run`: starts the workers of a job on this machine, watches them, ends or restarts them together."""

from unisono_launch.launch._run import run as run
from unisono_launch.worker import FAILED as FAILED
from unisono_launch.worker import PREEMPTED as PREEMPTED
from unisono_launch.worker import ExitCode as ExitCode
from unisono_launch.worker import Status as Status
from unisono_launch.worker import read_status as read_status
from unisono_launch.worker import write_status as write_status
