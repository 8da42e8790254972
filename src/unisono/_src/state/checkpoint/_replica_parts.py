"""Variables that hold a part for each replica, as those of metrics do, beyond the whole that all of them have.

The whole is what is stored under the name of such a variable, and is all that another number of replicas can use. The
same number gets its parts back: sums that are taken in another order are other sums, in the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import jax
import numpy as np

from unisono._src.devices import Placement
from unisono._src.keras_hooks import get_owner, get_stored_value, is_on_read, num_replica_values, set_stored_value

_SUFFIX: Final = "@replicas"


def parts_name(name: str) -> str:
    """Where the parts of a variable are stored."""
    return f"{name}{_SUFFIX}"


def are_parts(name: str) -> bool:
    """Whether an array of this name holds parts."""
    return name.endswith(_SUFFIX)


def parts_of(variables: Mapping[str, Any]) -> dict[str, jax.Array]:
    """The parts of those that have some, readable on every process. All of them have to call this."""
    return {
        parts_name(name): _placement(each).gather(get_stored_value(each))
        for name, each in variables.items()
        if is_on_read(each)
    }


def restore_parts(name: str, variable: Any, arrays: Mapping[str, Any]) -> None:
    """Gives ``variable``, which has its whole already, its parts, if they are stored and of as many replicas."""
    parts = arrays.get(parts_name(name))
    if parts is None or not is_on_read(variable) or parts.shape != (num_replica_values(variable), *variable.shape):
        return
    host = np.array(parts)
    set_stored_value(
        variable, jax.make_array_from_callback(host.shape, _placement(variable).sharded_rows, lambda at: host[at])
    )


def _placement(variable: Any) -> Placement:
    owner = get_owner(variable)
    assert owner is not None, "only variables of a strategy have parts"
    return owner.placement
