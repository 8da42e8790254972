"""The checks that need JAX: what the facts that the probe process reports mean; and the list of hooks from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.doctor._devices import judge_devices
from unisono_launch.doctor._finding import Finding, format_count
from unisono_launch.doctor._probe_process import COMMAND, Answer, Ask, start_probe

_HOOKS_SECONDS: Final = 120.0  # to import Keras, JAX and the tf namespace, perhaps from a network disk


@dataclass(frozen=True, kw_only=True)
class ProbeCheck:
    """A check whose facts come from the probe process."""

    name: str
    seconds: float
    """How long it may take."""
    judge: Callable[[dict[str, Any], Mapping[str, str]], Finding]
    remedy: str
    """What to do if it raises, dies or hangs."""


def run_probe_check(check: ProbeCheck, ask: Ask, environ: Mapping[str, str]) -> Finding:
    """Waits for the check and judges it."""
    return judge_answer(check, ask(check.name, check.seconds), environ)


def judge_answer(check: ProbeCheck, answer: Answer, environ: Mapping[str, str]) -> Finding:
    """What an answer means."""
    if answer.untried:
        return Finding(
            check.name, "warning", f"Not tried: `{answer.untried}` failed.", f"First fix `{answer.untried}`."
        )
    if answer.facts is None:
        return Finding(check.name, "error", answer.error or "No answer.", check.remedy, {"details": answer.details})
    return check.judge(answer.facts, environ)


def _judge_import(facts: dict[str, Any], environ: Mapping[str, str]) -> Finding:
    del environ
    text = f"unisono {facts['unisono']} with Keras on {facts['keras_backend']}, in {facts['seconds']:.1f} s"
    return Finding("import", "ok", text, None, facts)


def _judge_all_reduce(facts: dict[str, Any], environ: Mapping[str, str]) -> Finding:
    del environ
    what = f"{facts['num_bytes'] / 1e6:g} MB over {format_count(facts['num_devices'], 'device')}"
    if facts["correct"]:
        text = f"{what} in {facts['milliseconds']:.2g} ms, the sum is right"
        return Finding("all_reduce", "ok", text, None, facts)
    remedy = "Train on one device, and report this. On GPUs try: export NCCL_P2P_DISABLE=1"
    return Finding("all_reduce", "error", f"{what} gave a wrong sum.", remedy, facts)


def _judge_training(facts: dict[str, Any], environ: Mapping[str, str]) -> Finding:
    del environ
    what = f"a step of fit on {format_count(facts['num_replicas'], 'replica')}"
    if facts["correct"]:
        return Finding("training", "ok", f"{what}, compiled and run in {facts['seconds']:.1f} s", None, facts)
    text = f"{what} gave weights that differ from the right ones by {facts['difference']:.1e}."
    return Finding("training", "error", text, "Report it with the output of: unisono doctor --json", facts)


PROBE_CHECKS: Final = (
    ProbeCheck(
        name="import",
        seconds=120,  # Keras and JAX are thousands of files, perhaps on a network disk
        judge=_judge_import,
        remedy="Do what the message says. To see all of it: python -c 'import unisono'",
    ),
    ProbeCheck(
        name="devices",
        seconds=90,
        judge=judge_devices,
        remedy="What does JAX say alone? python -c 'import jax; print(jax.devices())'   "
        "If another process holds the device, end it. In a TPU pod, start the doctor on all machines at once. "
        "To train without the device: export JAX_PLATFORMS=cpu",
    ),
    ProbeCheck(
        name="all_reduce",
        seconds=60,  # NCCL takes its time to find the links between many GPUs
        judge=_judge_all_reduce,
        remedy="On GPUs see what NCCL says: NCCL_DEBUG=INFO unisono doctor --json   "
        "On CPU devices give XLA more threads: export NPROC=N, twice the devices.",
    ),
    ProbeCheck(
        name="training",
        seconds=120,
        judge=_judge_training,
        remedy="All of the error is in `unisono doctor --json`, at findings.training.facts.details. Report it.",
    ),
)


def fetch_hooks(environ: Mapping[str, str], command: Sequence[str] = COMMAND) -> list[dict[str, Any]]:
    """All hooks with those of `unisono.tf`, from a process that imports both; `RuntimeError` if it cannot."""
    with start_probe(environ, [*command, "import", "hooks"]) as ask:
        imported = ask("import", _HOOKS_SECONDS)
        answer = ask("hooks", _HOOKS_SECONDS) if imported.facts is not None else imported
    if answer.facts is None:
        raise RuntimeError(
            f"The hooks cannot be listed, because Unisono cannot be imported.\n{answer.error}\n"
            "What is wrong says: unisono doctor"
        )
    hooks: list[dict[str, Any]] = answer.facts["hooks"]
    return hooks
