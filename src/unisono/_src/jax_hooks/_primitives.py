"""Checks that JAX has the primitives whose names the passes over traced programs look for.

The names are given to `hooks.require_primitives` at the top of each module. Checked against JAX 0.10.2, 0.11.2 and
0.12.0.1: every primitive that can be compiled has a rule in one of the two tables.
"""

from __future__ import annotations

from jax.interpreters import mlir

from unisono._src import hooks


def check_primitives() -> None:
    """Refuses a JAX that lacks one of them."""
    why = "tells which primitives there are"
    hooks.require(mlir, "_lowerings", expects="type dict", why=why)
    hooks.require(mlir, "_platform_specific_lowerings", expects="type defaultdict", why=why)
    hooks.check_primitives(installed_primitives())


def installed_primitives() -> frozenset[str]:
    """The names of all primitives that JAX can compile, on any platform."""
    tables = (mlir._lowerings, *mlir._platform_specific_lowerings.values())
    return frozenset(primitive.name for table in tables for primitive in table)
