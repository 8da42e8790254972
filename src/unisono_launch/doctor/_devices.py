"""What JAX's devices mean for training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from unisono_launch._install_command import install_command
from unisono_launch.cluster import has_tpu_files, num_driver_gpus
from unisono_launch.doctor._finding import Finding, format_count, format_gigabytes
from unisono_launch.worker import num_cpu_threads

NAME = "devices"

# Which devices there are, and how many threads CPU devices have.
_VARIABLES: Final = (
    "JAX_PLATFORMS",
    "CUDA_VISIBLE_DEVICES",
    "UNISONO_CPU_DEVICES",
    "JAX_NUM_CPU_DEVICES",
    "XLA_FLAGS",
    "NPROC",
)

_FEW_THREADS = """{devices} CPU devices have {threads} threads in all: programs that all-reduce over them can wait for \
each other for ever."""


def judge_devices(facts: dict[str, Any], environ: Mapping[str, str], root: Path = Path("/")) -> Finding:
    """The devices that JAX sees; those that it should see; whether CPU devices have enough threads."""
    variables = {name: environ[name] for name in _VARIABLES if name in environ}
    facts = facts | {"variables": variables}
    text = _describe(facts["devices"])
    if variables:
        text += f" ({' '.join(f'{name}={value}' for name, value in variables.items())})"
    problem_and_remedy = (
        _find_unseen(environ, root) or _find_thread_problem(facts) if facts["platform"] == "cpu" else None
    )
    if problem_and_remedy is None:
        return Finding(NAME, "ok", text, None, facts)
    problem, remedy = problem_and_remedy
    return Finding(NAME, "warning", f"{text}\n{problem}", remedy, facts)


def _describe(devices: list[dict[str, Any]]) -> str:
    """A line for each kind: 'gpu:0 to gpu:7: NVIDIA H200, 106 GB for JAX each'."""
    kinds: dict[tuple[str, int | None], list[str]] = {}
    for device in devices:
        kinds.setdefault((device["kind"], device["memory_bytes"]), []).append(device["name"])
    lines = []
    for (kind, memory), names in kinds.items():
        each = " each" if len(names) > 1 else ""
        size = f", {format_gigabytes(memory)} for JAX{each}" if memory else ""
        row = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        lines.append(row if kind == "cpu" else f"{row}: {kind}{size}")
    return "\n".join(lines)


def _find_unseen(environ: Mapping[str, str], root: Path) -> tuple[str, str] | None:
    """Accelerators that JAX does not see though no variable hides them; what to type to see them."""
    if environ.get("JAX_PLATFORMS"):
        return None
    num_gpus = num_driver_gpus(root)
    if num_gpus and "CUDA_VISIBLE_DEVICES" not in environ:
        what = f"The NVIDIA driver has {format_count(num_gpus, 'GPU')}, and JAX sees none."
        check = "python -c 'import jax; jax.devices(\"gpu\")'"
        return what, f"{install_command('cuda')}   # if it stays so: {check}"
    if has_tpu_files(root):
        return "This machine has a TPU, and JAX sees none.", install_command("tpu")
    return None


def _find_thread_problem(facts: dict[str, Any]) -> tuple[str, str] | None:
    """The rule of `num_cpu_threads`.

    `UNISONO_CPU_DEVICES` and `set_cpu_devices` follow it by themselves; JAX's own ways to several CPU devices do not.
    It is no error: 3,000 steps on 8 devices and 2 cores were seen to end with NPROC=2.
    """
    devices, threads = facts["num_cpu_devices"], facts["num_cpu_threads"]
    if devices < 2 or threads >= 2 * devices:
        return None
    remedy = f"export NPROC={num_cpu_threads(devices)}   # or let Unisono do it: export UNISONO_CPU_DEVICES={devices}"
    return _FEW_THREADS.format(devices=devices, threads=threads), remedy
