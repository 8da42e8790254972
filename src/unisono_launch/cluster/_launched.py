"""`UNISONO_CLUSTER`: what `unisono run` sets for the processes that it starts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from unisono_launch.cluster._membership import Membership
from unisono_launch.cluster._ranked import RankedResolver
from unisono_launch.cluster._tf_config import TFConfigClusterResolver
from unisono_launch.cluster._variables import CLUSTER

_VERSION: Final = 1

_EXAMPLE = (
    '{"version": 1, "coordinator": "127.0.0.1:41000", "num_processes": 2, "process_id": 0, '
    '"names": ["worker 0 on hosta", "worker 1 on hosta"], "local": {"rank": 0, "size": 2}}'
)


class LaunchedClusterResolver(RankedResolver):
    """Reads the variable that `unisono run` sets. Unknown keys are ignored: newer launchers may set them.

    >>> environ = {"UNISONO_CLUSTER": _EXAMPLE}
    >>> LaunchedClusterResolver(environ=environ).membership().names
    ('worker 0 on hosta', 'worker 1 on hosta')
    """

    _VARIABLES: ClassVar[tuple[str, ...]] = (CLUSTER,)

    def __init__(self, *, rpc_layer: str | None = None, environ: Mapping[str, str] = os.environ) -> None:
        super().__init__(_membership(environ.get(CLUSTER, "")), rpc_layer)
        self._environ = environ

    @classmethod
    def _look(cls, environ: Mapping[str, str]) -> tuple[bool, str]:
        """Whether `environ` has a cluster of this kind, and why."""
        if not environ.get(CLUSTER):
            return False, f"{CLUSTER} is not set: not started by `unisono run`"
        # To its only worker `unisono run` passes no TF_CONFIG: the script wrote it, for itself or for what it starts.
        if _membership(environ[CLUSTER]).num_processes == 1 and _has_cluster(environ):
            return False, "the only worker of `unisono run`, and the script has set TF_CONFIG since"
        return True, "started by `unisono run`"


def _has_cluster(environ: Mapping[str, str]) -> bool:
    try:
        return TFConfigClusterResolver._look(environ)[0]
    except ValueError:  # its own resolver says what is wrong with it
        return True


def _membership(text: str) -> Membership:
    try:
        content: Any = json.loads(text)
        if content["version"] != _VERSION:
            raise _broken(text, f"version {content['version']!r}, where this Unisono reads version {_VERSION}")
        size, local = content["num_processes"], content.get("local", {"rank": 0, "size": 1})
        return Membership(
            num_processes=_count(size),
            process_id=_count(content["process_id"]),
            coordinator=content["coordinator"],
            names=tuple(map(str, content.get("names") or [f"worker {i}" for i in range(size)])),
            local_rank=_count(local["rank"]),
            local_size=_count(local["size"]),
            source=CLUSTER,
        )
    except json.JSONDecodeError as error:
        raise _broken(text, f"not JSON ({error})") from None
    except KeyError as error:
        raise _broken(text, f"{error} is missing") from None
    except (AttributeError, TypeError) as error:
        raise _broken(text, str(error)) from None


def _count(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _broken(text: str, what: str) -> ValueError:
    return ValueError(
        f"{CLUSTER} cannot be read: {what}. It is {text!r}; `unisono run` sets it, as in {_EXAMPLE}. "
        f"Start the script with the `unisono run` of this installation, or unset {CLUSTER}."
    )
