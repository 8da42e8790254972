"""The machine as JAX sees it: devices by name, several CPU devices, and where arrays live."""

from unisono.runtime._cpu_devices import set_cpu_devices as set_cpu_devices
from unisono.runtime._devices import all_devices as all_devices
from unisono.runtime._devices import default_devices as default_devices
from unisono.runtime._devices import device_name as device_name
from unisono.runtime._devices import resolve_devices as resolve_devices
from unisono.runtime._exchange import exchanged as exchanged
from unisono.runtime._exchange import from_chief as from_chief
from unisono.runtime._exchange import seeds_of_chief as seeds_of_chief
from unisono.runtime._exchange import told_by_all as told_by_all
from unisono.runtime._exchange import told_by_chief as told_by_chief
from unisono.runtime._launches import Launches as Launches
from unisono.runtime._memory import copies_fit as copies_fit
from unisono.runtime._memory import residency as residency
from unisono.runtime._memory import set_residency as set_residency
from unisono.runtime._placement import Copies as Copies
from unisono.runtime._placement import Placement as Placement
from unisono.runtime._preemption import Notice as Notice
from unisono.runtime._preemption import Preempted as Preempted
from unisono.runtime._processes import Processes as Processes
from unisono.runtime._processes import join as join
from unisono.runtime._processes import processes as processes
from unisono.runtime._progress import report as report
from unisono.runtime._rounds import Rounds as Rounds
from unisono.runtime._sync_check import set_sync_check as set_sync_check
from unisono.runtime._sync_check import sync_check as sync_check
