"""Values that differ from replica to replica."""

from unisono.values._on_devices import on_devices as on_devices
from unisono.values._on_devices import stays_on_host as stays_on_host
from unisono.values._per_replica import DistributedValues as DistributedValues
from unisono.values._per_replica import PerReplica as PerReplica
from unisono.values._per_replica import PerReplicaSpec as PerReplicaSpec
from unisono.values._regroup import regroup as regroup
