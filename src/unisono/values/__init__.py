"""Values that differ from replica to replica."""

from unisono.values._for_program import fits_program as fits_program
from unisono.values._for_program import for_program as for_program
from unisono.values._held import Each as Each
from unisono.values._held import Held as Held
from unisono.values._held import Rows as Rows
from unisono.values._held import Together as Together
from unisono.values._leaves import leaves_and_tree as leaves_and_tree
from unisono.values._on_devices import moves as moves
from unisono.values._on_devices import on_devices as on_devices
from unisono.values._on_devices import stays_on_host as stays_on_host
from unisono.values._packed import packed as packed
from unisono.values._parts import parts as parts
from unisono.values._parts import placed_parts as placed_parts
from unisono.values._parts import placed_whole as placed_whole
from unisono.values._parts import whole as whole
from unisono.values._per_replica import DistributedValues as DistributedValues
from unisono.values._per_replica import PerReplica as PerReplica
from unisono.values._per_replica import PerReplicaSpec as PerReplicaSpec
from unisono.values._regroup import regroup as regroup
