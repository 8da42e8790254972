"""The environment variables that Unisono defines about clusters, and how numbers are read from any variable.

| variable            | who sets it           | what it says                                                |
|---------------------|-----------------------|-------------------------------------------------------------|
| `UNISONO_CLUSTER`   | `unisono run`         | the whole group and this process's place in it, as JSON     |
| `UNISONO_NUM_NODES` | a Kubernetes manifest | how many pods of the indexed Job train together             |
| `UNISONO_SUBDOMAIN` | a Kubernetes manifest | the headless Service through which the pods find each other |
| `UNISONO_FAKE_TPU`  | who has no TPU        | so many CPU devices stand for TPU cores                     |

Variables of other systems (`TF_CONFIG`, `SLURM_…`, `OMPI_…`, torchrun's, `TPU_…`) are named in the file of their kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLUSTER: Final = "UNISONO_CLUSTER"
NUM_NODES: Final = "UNISONO_NUM_NODES"
SUBDOMAIN: Final = "UNISONO_SUBDOMAIN"
FAKE_TPU: Final = "UNISONO_FAKE_TPU"


def whole_number(environ: Mapping[str, str], name: str, *, least: int = 0, default: int | None = None) -> int:
    """The value of variable `name` as a number of at least `least`; `default` if it is not set.

    >>> whole_number({"RANK": "3"}, "RANK")
    3
    """
    text = environ.get(name)
    if not text:
        if default is None:
            raise ValueError(f"{name} is not set. Expected a whole number of at least {least}.")
        return default
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"{name}={text!r} is not a whole number of at least {least}.")
    return int(text)


def fake_tpu_cores(environ: Mapping[str, str]) -> int | None:
    """How many CPU devices stand for TPU cores; None: none do."""
    return whole_number(environ, FAKE_TPU, least=1) if environ.get(FAKE_TPU) else None
