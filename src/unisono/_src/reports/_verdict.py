"""What limits a run, in words, and what to do about it.

The shares are of the time of all epochs, as the chief's loop saw it. The thresholds are those of the table in
docs/reports.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from unisono._src.core import PARTS
from unisono._src.reports._run import FitRecord

# A part is worth a remedy from this share of the time on.
THRESHOLDS: Final = {
    "input_wait": 0.10,
    "copy": 0.10,
    "compile": 0.25,
    "checkpoint": 0.05,
    "callbacks": 0.10,
    "validation": 0.30,
    "other": 0.20,
}
_SHORT_SECONDS: Final = 5.0


@dataclass(frozen=True)
class RunVerdict:
    """One finding: ``title`` in a few words, ``text`` with the remedy."""

    part: str
    title: str
    text: str


def judge(fit: FitRecord) -> list[RunVerdict]:
    """What takes time besides computing, the largest part first; "compute-bound" if nothing does."""
    parts = fit.seconds_by_part
    total = sum(parts.values())
    if not total:
        return [RunVerdict("none", "no epoch has ended yet", "The parts of the time are known after the first epoch.")]
    shares = {name: seconds / total for name, seconds in parts.items()}
    large = sorted(
        (name for name, threshold in THRESHOLDS.items() if shares[name] >= threshold), key=lambda name: -shares[name]
    )
    found = [_explain(name, shares[name], fit) for name in large]
    if not found:
        found = [
            RunVerdict(
                "compute",
                "compute-bound",
                f"{shares['compute']:.0%} of the time is spent in the compiled steps"
                f"{_includes_all_reduce(fit)}. Larger batches or more devices make it faster; on GPUs and TPUs also "
                'mixed precision: keras.config.set_dtype_policy("mixed_bfloat16").',
            )
        ]
    problems = _find_bad_losses(fit)
    if total < _SHORT_SECONDS:
        problems.append(
            RunVerdict("none", "short run", f"Only {total:.1f} s were recorded: the shares may differ in a longer run.")
        )
    return [*found, *problems]


def _explain(part: str, share: float, fit: FitRecord) -> RunVerdict:
    explain = {
        "input_wait": _explain_input,
        "copy": _explain_copy,
        "compile": _explain_compile,
        "checkpoint": _explain_checkpoint,
        "callbacks": _explain_callbacks,
        "validation": _explain_validation,
        "other": _explain_other,
    }[part]
    words = {"input_wait": "input", "copy": "copy", "callbacks": "callback", "other": "host"}
    title = f"{words.get(part, PARTS[part])}-bound"
    return RunVerdict(part, title, f"{share:.0%} of the time {explain(fit)}")


def _explain_input(fit: FitRecord) -> str:
    given = fit.input
    listed = given.get("in_python")
    in_python = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    if in_python:
        first = in_python[0]
        where = f" in {first['location']}" if first.get("location") else ""
        reason = str(first.get("reason", "")).removesuffix(".")
        return (
            f"waits for {first.get('operation', 'the map')}{where}; it runs in Python because: {reason}. Write it with "
            "keras.ops or jax.numpy, so that it is compiled; or give the map num_parallel_calls=unisono.data.AUTOTUNE "
            "and end the pipeline with .prefetch(2)."
        )
    if "explain" in given:
        return (
            "waits for the dataset, though no map of it runs in Python. Its explain() below says where each operation "
            "runs; .prefetch(2) at the end computes batches ahead, and .cache() keeps what was read."
        )
    if given.get("kind") == "arrays":
        return (
            "waits for rows of the arrays, which are gathered on the host. Arrays that fit are kept on the devices: "
            "pass smaller types (uint8 images, and convert them in the model)."
        )
    return (
        f"waits for batches of the {given.get('kind', 'input')}. A unisono.data.Dataset with .prefetch(2) computes "
        "them in threads, ahead of the steps."
    )


def _explain_copy(fit: FitRecord) -> str:
    return (
        "is spent in sending batches to the devices. Send smaller types (uint8 images, and convert them in the model), "
        'or keep the data there: unisono.config.set_residency("device").'
    )


def _explain_compile(fit: FitRecord) -> str:
    number = len(fit.attempts)
    again = f", in {number} attempts" if number > 1 else ""
    given = fit.input
    if given.get("kind") == "arrays":
        shapes = "a batch_size that divides the number of rows saves the program of the last batch"
    elif "explain" in given:
        shapes = "batch(..., drop_remainder=True) and padded_batch give batches of one shape"
    else:
        shapes = "give all batches one shape"
    return (
        f"is compilation{again}. It is done once for each shape of a batch, so that its share falls the longer you "
        f"train; {shapes}. The next start loads what it finds in the folder that JAX_COMPILATION_CACHE_DIR names; "
        "programs of GPUs and TPUs are stored without it."
    )


def _explain_checkpoint(fit: FitRecord) -> str:
    return (
        "is spent in copying state for checkpoints, or in waiting until the one before is written. Save less often: "
        "resume=unisono.Resume(policy=unisono.checkpoint.EverySeconds(300))."
    )


def _explain_callbacks(fit: FitRecord) -> str:
    return (
        "is spent in callbacks. A callback with batch-level methods makes every step a call of its own; do the work in "
        "on_epoch_end, or every hundredth step."
    )


def _explain_validation(fit: FitRecord) -> str:
    return "is validation. Validate less often (validation_freq=5), on fewer rows, or with larger validation batches."


def _explain_other(fit: FitRecord) -> str:
    return (
        "is spent in none of the parts that are timed: in Python between the steps, or while the process did not run. "
        "Look for other processes on the machine."
    )


def _includes_all_reduce(fit: FitRecord) -> str:
    if fit.num_devices <= 1:
        return ""
    return f", which contain the all-reduce of {fit.num_devices} devices: it cannot be timed by itself"


def _find_bad_losses(fit: FitRecord) -> list[RunVerdict]:
    for line in fit.lines:
        bad = [name for name, value in line.get("metrics", {}).items() if value in ("NaN", "Infinity", "-Infinity")]
        if bad:
            since = f"epoch {line['epoch'] + 1}" if line["kind"] == "epoch" else f"step {line['step']:,}"
            return [
                RunVerdict(
                    "none",
                    "not finite",
                    f"{', '.join(bad)} {'is' if len(bad) == 1 else 'are'} not finite since {since}. Common remedies: a "
                    "lower learning rate, clipnorm= on the optimizer; keras.callbacks.TerminateOnNaN() ends training.",
                )
            ]
    return []
