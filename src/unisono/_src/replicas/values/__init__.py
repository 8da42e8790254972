"""Values that differ from replica to replica."""

from unisono._src.replicas.values._for_program import fits_program, for_program
from unisono._src.replicas.values._held import Each, Held, Rows, Together
from unisono._src.replicas.values._leaves import leaves_and_tree
from unisono._src.replicas.values._on_devices import moves, on_devices, stays_on_host
from unisono._src.replicas.values._packed import packed
from unisono._src.replicas.values._parts import parts, placed_parts, placed_whole, whole
from unisono._src.replicas.values._per_replica import DistributedValues, PerReplica, PerReplicaSpec
from unisono._src.replicas.values._regroup import regroup
