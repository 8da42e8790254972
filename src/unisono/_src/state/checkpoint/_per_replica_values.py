"""Per-replica values of variables with synchronization=on_read, such as those of metrics, beside the aggregated value.

The aggregated value is stored under the name of the variable, and is all that another number of replicas can use. The
same number gets its per-replica values back: sums that are taken in another order differ in the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jax
import numpy as np

from unisono._src.devices import Placement
from unisono._src.keras_hooks import get_owner, get_stored_value, is_on_read, num_replica_values, set_stored_value

_SUFFIX: Final = "@replicas"


def per_replica_name(name: str) -> str:
    """The name under which the per-replica values of a variable are stored."""
    return f"{name}{_SUFFIX}"


def is_per_replica_name(name: str) -> bool:
    """Whether an array of this name holds per-replica values."""
    return name.endswith(_SUFFIX)


def gather_per_replica_values(variables: Mapping[str, Any]) -> dict[str, jax.Array]:
    """The per-replica values of those that have some, readable on every process. All processes have to call this."""
    return {
        per_replica_name(name): _placement(each).gather(get_stored_value(each))
        for name, each in variables.items()
        if is_on_read(each)
    }


def restore_per_replica_values(name: str, variable: Any, arrays: Mapping[str, Any]) -> None:
    """Gives ``variable``, whose aggregated value is restored, its per-replica values, if as many are stored."""
    values = arrays.get(per_replica_name(name))
    if values is None or not is_on_read(variable) or values.shape != (num_replica_values(variable), *variable.shape):
        return
    host = np.array(values)
    set_stored_value(
        variable, jax.make_array_from_callback(host.shape, _placement(variable).sharded_rows, lambda at: host[at])
    )


def _placement(variable: Any) -> Placement:
    owner = get_owner(variable)
    assert owner is not None, "only variables of a strategy have per-replica values"
    return owner.placement
