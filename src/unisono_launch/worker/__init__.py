"""What a worker and its launcher share: its status file, exit codes, threads, strategy, the folders of datasets.

Imports nothing.
"""

from unisono_launch.worker._environment import (
    IDX_FOLDERS, STRATEGIES, STRATEGY_VARIABLE, dataset_folders, keras_dataset_cache, num_cpu_threads,
    read_commit_method, read_strategy,
)
from unisono_launch.worker._exit_codes import PREEMPTED, ExitCode
from unisono_launch.worker._status import EVENTS_FILE, EVENTS_VERSION, FAILED, Status, read_status, write_status
