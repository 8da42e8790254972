"""Lists the hooks that do not fit the installed Keras and JAX, each with what is expected and what was found, and what
Unisono imports from inside of them that is not there:

python -m tests.keras_hooks.mismatches
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"  # Keras is imported below, before Unisono

from .missing_imports import replace_missing_imports
from .uninstalled import import_without_hooks


def main() -> int:
    """Prints the list; returns 1 if there are some."""
    missing = replace_missing_imports(Path(__file__).parents[2] / "src/unisono")
    install_all = import_without_hooks()
    from unisono._src import hooks

    with hooks.collect_mismatches() as found:
        install_all()
    summary = f"{len(found)} of {len(hooks.registered_hooks())} hooks do not fit; missing imports: {len(missing)}."
    print("\n\n".join([*missing, *found, summary]))
    return bool(missing or found)


if __name__ == "__main__":
    sys.exit(main())
