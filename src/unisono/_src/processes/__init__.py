"""The processes of a job: joining them, host-side all-gather, preemption notices, progress for the launcher."""

from unisono._src.processes._exchange import exchanged, from_chief, seeds_of_chief, told_by_all, told_by_chief
from unisono._src.processes._preemption import Notice, Preempted
from unisono._src.processes._processes import Processes, join, processes
from unisono._src.processes._progress import report
from unisono._src.processes._rounds import Rounds
