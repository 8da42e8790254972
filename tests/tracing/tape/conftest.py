"""Every gradient is taken twice: operation by operation, and inside a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import pytest

Mode = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture(params=["eager", "jit"])
def mode(request: pytest.FixtureRequest) -> Mode:
    return jax.jit if request.param == "jit" else lambda function: function


@pytest.fixture(autouse=True, scope="package")
def quick_compilation() -> Iterator[None]:
    """Some two thousand operations are compiled here, each to run once: it saves a quarter of the time."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)
