"""Workers, and what starts them. So far that is only `LocalProcesses`, on this machine."""

from unisono_launch.launch.workers._local_processes import LocalProcesses
from unisono_launch.launch.workers._watchdog import JOB_VARIABLE
from unisono_launch.launch.workers._worker import Worker, WorkerStarter, WorkerExit
