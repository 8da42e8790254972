"""Values that differ from replica to replica."""

from unisono._src.replicas.values._for_program import as_program_input, fits_one_program
from unisono._src.replicas.values._held import Separate, Sharded, Storage, Unsplit
from unisono._src.replicas.values._leaves import flatten_with_none
from unisono._src.replicas.values._on_devices import can_be_on_device, is_host_only, put_on_devices
from unisono._src.replicas.values._packed import apply_packed
from unisono._src.replicas.values._parts import aggregate, aggregate_on_devices, spread, spread_on_devices
from unisono._src.replicas.values._per_replica import DistributedValues, PerReplica, PerReplicaSpec
from unisono._src.replicas.values._regroup import regroup
