"""What mirrored strategies do on this machine, as `UNISONO_STRATEGY` says."""

from __future__ import annotations

from collections.abc import Mapping

from unisono_launch.doctor._finding import Finding
from unisono_launch.worker import STRATEGIES, STRATEGY_VARIABLE, read_strategy

NAME = "strategy"


def check_strategy(environ: Mapping[str, str]) -> Finding:
    """Unisono refuses to be imported with a value that it does not know."""
    variable = environ.get(STRATEGY_VARIABLE) or None
    facts = {"variable": variable}
    try:
        strategy = read_strategy(environ)
    except ValueError as error:
        return Finding(NAME, "error", str(error), f"unset {STRATEGY_VARIABLE}", facts)
    text = f"MirroredStrategy(): {STRATEGIES[strategy]}"
    if variable is None:
        return Finding(NAME, "ok", f"{text}; `unisono run --sharded` divides them", None, facts)
    return Finding(NAME, "ok", f"{text}, by {STRATEGY_VARIABLE}={variable}", None, facts)
