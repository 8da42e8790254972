"""Options of a dataset: how workers share it, and tf.data's hints."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._operation import Elements, Operation, PassId, Upstream

if TYPE_CHECKING:
    from unisono._src.data.plans._row_plan import RowPlan


class AutoShardPolicy(enum.IntEnum):
    """How the input of training on several workers is shared among them.

    DATA: each worker keeps its part of every global batch. AUTO means DATA, so the order of the data does not depend on
    the number of workers. FILE: each worker reads some of the files. OFF: every worker trains on all data it reads.
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@dataclass(slots=True)
class DistributeOptions:
    """What `Options.experimental_distribute` holds."""

    auto_shard_policy: AutoShardPolicy = AutoShardPolicy.AUTO
    num_devices: int | None = None


@dataclass(slots=True)
class Options:
    """Set its members, then `dataset.with_options(options)`.

    `experimental_distribute.auto_shard_policy` decides how workers share the data. The other members are tf.data's
    and change nothing here: the order is always deterministic and threads are always bounded.

    >>> options = Options()
    >>> options.experimental_distribute.auto_shard_policy = AutoShardPolicy.DATA
    """

    experimental_distribute: DistributeOptions = field(default_factory=DistributeOptions)
    deterministic: bool | None = None
    experimental_deterministic: bool | None = None
    experimental_slack: bool | None = None
    experimental_external_state_policy: Any = None
    experimental_symbolic_checkpoint: bool | None = None
    experimental_warm_start: bool | None = None
    dataset_name: str | None = None
    framework_type: Any = None
    experimental_optimization: Any = field(default_factory=lambda: _AnyAttributes())
    experimental_threading: Any = field(default_factory=lambda: _AnyAttributes())
    autotune: Any = field(default_factory=lambda: _AnyAttributes())
    threading: Any = field(default_factory=lambda: _AnyAttributes())


class _AnyAttributes:
    """Accepts any attribute: tf.data has dozens of hints, and scripts set them."""


@dataclass(frozen=True, eq=False)
class WithOptions(Operation):
    """The same elements, with options. The last options of a plan count."""

    keeps_random_access = True
    commutes_with_maps = True
    only_reorders = True

    options: Options

    def __post_init__(self) -> None:
        if not isinstance(self.options, Options):
            raise TypeError(
                f"with_options: expected unisono.data.Options, got {type(self.options).__name__}. "
                f"Write options = Options(), set its members, and pass it."
            )

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return upstream.open(pass_id)

    def on_rows(self, rows: RowPlan) -> RowPlan:
        return rows

    def __str__(self) -> str:
        return f"with_options({self.options.experimental_distribute.auto_shard_policy.name})"
