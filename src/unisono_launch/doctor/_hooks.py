"""The list of all hooks: what Unisono replaces, adds or relies on in Keras and JAX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from unisono_launch.doctor._probe_process import COMMAND, start_probe

_SECONDS: Final = 120.0  # to import Keras, JAX and the tf namespace, perhaps from a network disk


def fetch_hooks(environ: Mapping[str, str], command: Sequence[str] = COMMAND) -> list[dict[str, Any]]:
    """All hooks with those of `unisono.tf`, from a process that imports both; `RuntimeError` if it cannot."""
    with start_probe(environ, [*command, "import", "hooks"]) as ask:
        imported = ask("import", _SECONDS)
        answer = ask("hooks", _SECONDS) if imported.facts is not None else imported
    if answer.facts is None:
        raise RuntimeError(
            f"The hooks cannot be listed, because Unisono cannot be imported.\n{answer.error}\n"
            "What is wrong says: unisono doctor"
        )
    hooks: list[dict[str, Any]] = answer.facts["hooks"]
    return hooks
