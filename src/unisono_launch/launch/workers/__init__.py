"""Workers and the engines that start them. The only engine so far starts processes on this machine."""

from unisono_launch.launch.workers._local_processes import LocalProcesses
from unisono_launch.launch.workers._watchdog import JOB_VARIABLE
from unisono_launch.launch.workers._worker import Worker, WorkerEngine, WorkerExit
