"""Options of a dataset: how workers share it, and tf.data's hints."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from unisono._src.data.plans._operation import Elements, Operation, PassId, Upstream

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan
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


class DistributeOptions:
    """What `Options.experimental_distribute` holds."""

    __slots__ = ("_auto_shard_policy", "num_devices")

    def __init__(self, auto_shard_policy: AutoShardPolicy | None = None, num_devices: int | None = None) -> None:
        self._auto_shard_policy, self.num_devices = auto_shard_policy, num_devices

    @property
    def auto_shard_policy(self) -> AutoShardPolicy:
        """AUTO if it was not set."""
        return AutoShardPolicy.AUTO if self._auto_shard_policy is None else self._auto_shard_policy

    @auto_shard_policy.setter
    def auto_shard_policy(self, policy: AutoShardPolicy) -> None:
        self._auto_shard_policy = policy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DistributeOptions):
            return NotImplemented
        return (self.auto_shard_policy, self.num_devices) == (other.auto_shard_policy, other.num_devices)

    def __repr__(self) -> str:
        return f"DistributeOptions({self.auto_shard_policy.name}, num_devices={self.num_devices})"


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

    def merge(self, options: Options) -> Options:
        """The members of `options`, and of this where they are not set there.

        >>> Options(deterministic=True).merge(Options(dataset_name="train")).deterministic
        True
        """
        names = [member.name for member in fields(self)]
        return Options(*_merge_members(self, options, names))


def _merge_members(one: Any, later: Any, names: Iterable[str]) -> list[Any]:
    return [_merge(getattr(one, name), getattr(later, name)) for name in names]


def _merge(one: Any, later: Any) -> Any:
    if isinstance(later, DistributeOptions):
        return DistributeOptions(*_merge_members(one, later, DistributeOptions.__slots__))
    is_unset = later is None or (isinstance(later, _AnyAttributes) and not vars(later))
    return one if is_unset else later


def merge_options(plan: Plan) -> Options:
    """The options of a plan and of all plans that it reads. Later ones count, member by member, as in tf.data."""
    merged = Options()
    for member in (plan.source, *plan.operations):
        for each in member.inputs:
            merged = merged.merge(merge_options(each))
        if isinstance(member, WithOptions):
            merged = merged.merge(member.options)
    return merged


class _AnyAttributes:
    """Accepts any attribute: tf.data has dozens of hints, and scripts set them."""


@dataclass(frozen=True, eq=False)
class WithOptions(Operation):
    """The same elements, with options. `merge_options` finds them."""

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
