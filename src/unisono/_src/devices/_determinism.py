"""The same bits in every run, on GPUs too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import jax

from unisono._src.devices._started import check_jax_not_started

_FLAG: Final = "--xla_gpu_deterministic_ops=true"

TOO_LATE = """deterministic() has to be called before JAX starts: directly after the imports, before arrays, datasets,
strategies and models are made."""

_asked = False


def deterministic() -> None:
    """From here on, two runs of one program give the same bits, on GPUs too.

    XLA then takes no GPU operations whose sums depend on which thread comes first. It is not the default, since some of
    those are faster. A training with `resume=` also keeps its compiled programs in the folder of the run: XLA chooses
    among kernels by the clock, and a new process must not choose others. On CPUs and TPUs nothing changes.

    ```python
    import unisono

    unisono.config.deterministic()
    ```
    """
    global _asked
    check_jax_not_started(TOO_LATE)
    if _FLAG not in os.environ.get("XLA_FLAGS", "").split():
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAG}".strip()
    _asked = True


def is_deterministic() -> bool:
    """Whether :func:`deterministic` was called."""
    return _asked


def cache_compiled_programs(folder: Path) -> None:
    """Compiled programs are stored there, and found again by later processes."""
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
