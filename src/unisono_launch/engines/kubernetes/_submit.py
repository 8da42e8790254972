"""The command `unisono run --on kubernetes`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from unisono_launch.engines.kubernetes._arguments import parse
from unisono_launch.engines.kubernetes._follow import follow
from unisono_launch.engines.kubernetes._job_set import make_job_set
from unisono_launch.engines.kubernetes._kubectl import Kubectl, KubectlError
from unisono_launch.engines.kubernetes._options import KubernetesOptions
from unisono_launch.engines.kubernetes._train_job import make_train_job
from unisono_launch.engines.kubernetes._yaml import dump
from unisono_launch.launch import UsageError

_NO_SUCH_KIND: Final = "doesn't have a resource type"
_ADVICE: Final = {
    "trainjob": ". Kubeflow Trainer is not installed there: https://trainer.kubeflow.org. With the JobSet controller "
    "alone, write --kind jobset",
    "jobset": ". The JobSet controller is not installed there: https://jobset.sigs.k8s.io",
}


def submit(arguments: Sequence[str]) -> int:
    """Prints the manifest (`--dry-run`), or applies it and follows the job; returns the exit code."""
    options = parse(arguments)
    text = dump(_make_manifests(options))
    try:
        text.encode()
    except UnicodeEncodeError as error:  # a byte of the command line that is not UTF-8
        raise UsageError(f"{error.object!r} cannot be part of a manifest: {error}. Give it as UTF-8.") from None
    for note in _find_notes(options):
        print(f"unisono: {note}", file=sys.stderr)
    if options.dry_run:
        print(text, end="")
        return 0
    kubectl = Kubectl.find(options.namespace)
    target = f"{options.kind}/{options.name}"
    try:
        _apply(kubectl, target, text)
    except KubectlError as error:
        raise UsageError(f"{error}{_ADVICE[options.kind] if _NO_SUCH_KIND in str(error) else ''}") from None
    return follow(kubectl, target)


def _apply(kubectl: Kubectl, target: str, text: str) -> None:
    if kubectl.read("get", target, "--ignore-not-found", "-o", "name").strip():
        raise UsageError(
            f"{target} is in the cluster already. Give another --name; or, to continue from its checkpoints, delete it "
            f"and start again: {kubectl.quote('delete', target)}"
        )
    print(kubectl.read("apply", "-f", "-", standard_input=text), end="", file=sys.stderr)


def _make_manifests(options: KubernetesOptions) -> list[dict[str, Any]]:
    return make_train_job(options) if options.kind == "trainjob" else [make_job_set(options)]


def _find_notes(options: KubernetesOptions) -> list[str]:
    """What the user should know about this job, and may not expect."""
    notes = []
    if options.runtime is not None:
        notes.append(
            f"the runtime {options.runtime} decides how often the job is restarted. Under Kubeflow's own "
            "jax-distributed a preemption (exit code 75) counts as a failure. Without --runtime it does not."
        )
    if options.claim is None and options.run_dir is None:
        notes.append(
            "the run folder is inside the pods and is lost with them, so a restart begins at the first step. Keep it "
            "with --volume-claim CLAIM, or let the script save elsewhere."
        )
    return notes
