"""The processes of a job: joining them, host-side collectives, preemption notices, progress for the launcher."""

from unisono._src.processes._consensus import Consensus
from unisono._src.processes._host_collectives import (
    all_gather_host, all_gather_json, broadcast_from_chief, broadcast_seeds_from_chief, run_on_chief,
)
from unisono._src.processes._preemption_notice import (
    Preempted, PreemptionNotice, is_preemption_handled, request_preemption,
)
from unisono._src.processes._processes import (
    Processes, adopt_joined_jax, check_joined, join_processes, processes,
)
from unisono._src.processes._progress import report_progress, run_dir_of_worker
from unisono._src.processes._rendezvous import bind_address
from unisono._src.processes._script_exit import end_at_once_on_exit, note_exit
