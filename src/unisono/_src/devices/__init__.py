"""The machine as JAX sees it: devices by name, several CPU devices, and the placement of arrays on devices."""

from unisono._src.devices._compilation_cache import (
    remove_unused_folders,
    report_loaded_programs,
    use_cache,
    use_user_cache,
    user_cache_folder,
)
from unisono._src.devices._devices import (
    all_devices, default_devices, device_kind, device_name, resolve_devices, select_devices,
)
from unisono._src.devices._in_flight_calls import InFlightCalls, is_computed
from unisono._src.devices._layout_policies import (
    LayoutDecision, LayoutPolicy, ShardByMap, ShardLargestDim, VariableInfo,
)
from unisono._src.devices._physical import gpu_model, num_cpu_devices, num_gpus, restrict_gpus
from unisono._src.devices._placement import Placement, ReleasableArrays
from unisono._src.devices._settings import (
    copies_fit, deterministic, is_deterministic, residency, sequence_padding, set_residency, set_sequence_padding,
    set_sync_check, SequencePadding, sync_check,
)
from unisono._src.devices._sharded_placement import ShardedPlacement
from unisono._src.devices._shards import copy_to_host, is_sharded, is_sharded_over_processes
from unisono._src.devices._startup import (
    check_jax_not_started, check_not_forked, ensure_cpu_devices, has_jax_started, set_cpu_devices,
)
