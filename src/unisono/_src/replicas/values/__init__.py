"""Values that differ from replica to replica."""

from unisono._src.replicas.values._for_program import fits_one_program, as_program_input
from unisono._src.replicas.values._held import Separate, Storage, Sharded, Unsplit
from unisono._src.replicas.values._leaves import flatten_with_none
from unisono._src.replicas.values._on_devices import can_be_on_device, put_on_devices, is_host_only
from unisono._src.replicas.values._packed import apply_packed
from unisono._src.replicas.values._parts import spread, spread_on_devices, aggregate_on_devices, aggregate
from unisono._src.replicas.values._per_replica import DistributedValues, PerReplica, PerReplicaSpec
from unisono._src.replicas.values._regroup import regroup
