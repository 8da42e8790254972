"""The command `unisono`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from unisono_launch.engines import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code. `run` never imports JAX: only its workers do."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["run"]:
        return run(given[1:])
    # Imported here: `run` needs neither, and the last one imports JAX and Keras.
    if given[:1] == ["doctor"]:  # it must be able to say that unisono cannot be imported
        from unisono_launch.doctor import main as doctor

        return doctor(given[1:])
    if given[:1] and given[0].endswith(".py"):
        print(f"unisono: {given[0]!r} is a script. Type: unisono run {' '.join(given)}", file=sys.stderr)
        return 2
    from unisono._src.cli import main as other_commands

    return other_commands(given)
