"""Values that differ from replica to replica."""

from unisono._src.replicas.values._aggregation import aggregate, aggregate_on_devices, spread, spread_on_devices
from unisono._src.replicas.values._on_devices import can_be_on_device, is_host_only, put_on_devices
from unisono._src.replicas.values._packing import apply_packed
from unisono._src.replicas.values._per_replica import (
    DistributedValues, PerReplica, PerReplicaSpec, flatten_with_none, regroup,
)
from unisono._src.replicas.values._program_input import as_program_input, check_alike, fits_one_program
from unisono._src.replicas.values._storage import Separate, Sharded, Storage, Unsplit
