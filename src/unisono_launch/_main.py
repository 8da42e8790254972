"""The command `unisono`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from unisono_launch.launch import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit code. `run` never imports JAX: its workers do, each for itself."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["run"]:
        return run(words[1:])
    # Here, not at the top: `run` needs neither, and the last one imports JAX and Keras.
    if words[:1] == ["doctor"]:  # it must be able to say that unisono cannot be imported
        from unisono_launch.doctor import main as doctor

        return doctor(words[1:])
    from unisono._src.cli import main as other_commands

    return other_commands(words)
