"""Lists the hooks that do not fit the installed Keras and JAX, each with what is expected and what was found:

python -m tests.keras_hooks.mismatches
"""

from __future__ import annotations

import sys

from .uninstalled import import_without_hooks


def main() -> int:
    """Prints the list; returns 1 if there are some."""
    install_all = import_without_hooks()
    from unisono._src import hooks

    with hooks.collect_mismatches() as found:
        install_all()
    print("\n\n".join([*found, f"{len(found)} of {len(hooks.registered_hooks())} hooks do not fit."]))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
