"""XLA without LLVM's optimizations, for tests that compile much: a process takes up to 40 % less CPU time."""

from __future__ import annotations

import os
from typing import Final

# The Makefile has them too: `make test` compiles so, `make test-all` as users do.
QUICK_COMPILATION: Final = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def compiles_quickly() -> bool:
    """Whether this process does: then a program and its parts may round differently."""
    return QUICK_COMPILATION in os.environ.get("XLA_FLAGS", "")
