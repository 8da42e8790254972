"""A placement whose variables are divided among the devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from unisono._src.devices._layout_policies import LayoutDecision, LayoutPolicy, VariableInfo
from unisono._src.devices._placement import Placement


@dataclass(frozen=True, eq=False)
class ShardedPlacement(Placement):
    """Variables are sharded as a policy says, which is asked once for each: afterwards its array is the record.

    Layers compute with a variable that is whole along the axes of the rows, since every replica needs all of it: what
    is sharded over those is gathered where it is read. Along the other axes the devices of one replica divide the work,
    and XLA finds out how. Optimizers compute with the shards.
    """

    policy: LayoutPolicy = field(kw_only=True)

    @property
    def shards_variables(self) -> bool:
        return self.mesh.size > 1

    @property
    def compiler_options(self) -> dict[str, bool | str]:
        """XLA:CPU sums all gradients at once, whole, and gathers weights long before they are used, for more
        parallelism. With these options a step of a transformer with 75.6 MB of weights on 8 devices needs 45 instead
        of 151 MB of temporaries."""
        if self.platform != "cpu" or self.mesh.size == 1:
            return super().compiler_options
        return {
            **super().compiler_options,
            "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
            "xla_disable_hlo_passes": "cpu-all-reduce-combiner",
        }

    def decide(self, variable: VariableInfo) -> LayoutDecision:
        """How a variable is stored, and why."""
        return self.policy.decide(variable)

    def check_layouts(self) -> None:
        self.policy.check_used()

    def layout(self, variable: Any) -> NamedSharding:
        sharding = getattr(variable, "sharding", None)  # of an array, or of a `jax.ShapeDtypeStruct`
        if isinstance(sharding, NamedSharding) and sharding.mesh == self.mesh:
            return sharding
        if not isinstance(variable, VariableInfo):
            variable = VariableInfo(tuple(getattr(variable, "shape", variable)))
        return NamedSharding(self.mesh, self.policy.decide(variable).spec)

    def read_layout(self, stored: NamedSharding) -> NamedSharding:
        def without_rows(entry: Any) -> Any:
            axes = entry if isinstance(entry, tuple) else (entry,)
            kept = tuple(axis for axis in axes if axis is not None and axis not in self.row_axes)
            return kept or None

        return NamedSharding(self.mesh, PartitionSpec(*map(without_rows, stored.spec)))

    def update_layout(self, variable: VariableInfo) -> NamedSharding | None:
        slot = VariableInfo(variable.shape, f"{variable.path}_slot", of_optimizer=True, slot_of=variable)
        return NamedSharding(self.mesh, self.policy.decide(slot).spec)
