"""What a worker and its launcher both know: how far it is, how it ends, how many threads it needs, where data lies.

Imports nothing.
"""

from unisono_launch.worker._cpu_threads import num_cpu_threads as num_cpu_threads
from unisono_launch.worker._dataset_folders import IDX_FOLDERS as IDX_FOLDERS
from unisono_launch.worker._dataset_folders import dataset_folders as dataset_folders
from unisono_launch.worker._dataset_folders import keras_dataset_cache as keras_dataset_cache
from unisono_launch.worker._exit_codes import PREEMPTED as PREEMPTED
from unisono_launch.worker._exit_codes import ExitCode as ExitCode
from unisono_launch.worker._status import FAILED as FAILED
from unisono_launch.worker._status import Status as Status
from unisono_launch.worker._status import read_status as read_status
from unisono_launch.worker._status import write_status as write_status
