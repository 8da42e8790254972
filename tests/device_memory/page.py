"""Writes the table of docs/sharding.md from what `run.py` has left: FILE PAGE. `make sharding` does both."""

from __future__ import annotations

import json
import platform
import re
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import unisono  # noqa: F401  (before Keras, whose backend it chooses)
from tests.device_memory._transformer import CONFIGURATIONS, LARGE

BEGIN: Final = "<!-- begin: make sharding -->"
END: Final = "<!-- end: make sharding -->"

BEFORE: Final = """A transformer with {parameters:.0f} million parameters ({depth} blocks, width {width}, vocabulary
{vocabulary:,}) is trained with Adam on {rows} rows of {length} tokens, on 8 CPU devices. The table shows MB per
device: the state stored between steps (weights and optimizer state), the temporary memory of a step, and the peak
memory while the model is created and while it is trained."""

COLUMNS: Final = (
    *("Strategy", "State", "Fraction of the whole state", "Temporaries of a step"),
    *("Creating the model", "Training", "Peak relative to mirrored"),
)

AFTER: Final = """The programs are compiled from shapes, and the figures are XLA's own. {made} `make sharding` generates
this table. {versions}."""


def table(results: list[dict[str, Any]]) -> str:
    peaks = {each["name"]: max(each["initialise"], each["step"]) for each in results}
    rows = [_cells(each, peaks[each["name"]] / peaks["mirrored"]) for each in results]
    return "\n".join(f"| {' | '.join(row)} |" for row in (COLUMNS, ["---"] * len(COLUMNS), *rows))


def section(results: list[dict[str, Any]]) -> str:
    """What stands between the markers."""
    for each in results:
        # The counters of metrics are the difference.
        if each["allocated"] is not None and abs(each["allocated"] - each["state"]) > 1000:
            raise ValueError(f"{each['name']}: the shards have {each['allocated']:,} bytes, expected {each['state']:,}")
    others = " and ".join(CONFIGURATIONS[each["name"]].title for each in results if each["allocated"] is None)
    made = "The model was also created, and the shards on a device have the sizes in the column *State*."
    made += f" This was not done under {others}, because the machine did not have enough memory." if others else ""
    versions = f"Python {platform.python_version()}, JAX {version('jax')}, Keras {version('keras')}"
    before = BEFORE.format(parameters=results[0]["parameters"] / 1e6, **vars(LARGE))
    after = AFTER.format(made=made, versions=versions)
    parts = [textwrap.fill(before, 120), table(results), textwrap.fill(after, 120)]
    return f"{BEGIN}\n" + "\n\n".join(parts) + f"\n{END}"


def _cells(result: dict[str, Any], relative: float) -> list[str]:
    return [
        CONFIGURATIONS[result["name"]].title,
        *(f"{result['state'] / 1e6:,.0f}", f"{result['state'] / result['whole']:.3f}"),
        *(f"{result[name] / 1e6:,.0f}" for name in ("temporaries", "initialise", "step")),
        f"{relative:.2f}",
    ]


def main(results: Path, target: Path) -> None:
    found = section([json.loads(line) for line in results.read_text().splitlines()])
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    page = target.read_text()
    if not pattern.search(page):
        raise ValueError(f"{target} has no section between {BEGIN} and {END}. Add the two markers.")
    target.write_text(pattern.sub(lambda _: found, page))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
