"""Every gradient is taken twice: operation by operation, and inside a compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import pytest

Mode = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture(params=["eager", "jit"])
def mode(request: pytest.FixtureRequest) -> Mode:
    return jax.jit if request.param == "jit" else lambda function: function
