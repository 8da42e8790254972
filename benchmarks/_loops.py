"""Cases and targets of the benchmark of custom training loops."""

from __future__ import annotations

from _cases import HAND_WRITTEN, TENSORFLOW, UNISONO, Case, Target, Workload

EAGER = "unisono-eager"

_TARGETS = (Target(HAND_WRITTEN, 1.5), Target(TENSORFLOW, 1 / 2))


def _loop(replicas: int, *, steps: int) -> Workload:
    return Workload(network="mlp", platform="cpu", replicas=replicas, global_batch_size=32, steps=steps, epochs=1)


def _in_a_function(replicas: int, targets: tuple[Target, ...]) -> Case:
    return Case(
        name=str(replicas),
        workload=_loop(replicas, steps=600),
        contenders=(UNISONO, HAND_WRITTEN, TENSORFLOW),
        targets=targets,
    )


def _eagerly(replicas: int) -> Case:
    """Shows what a function gains; eager steps are many times slower, so a round has few of them."""
    return Case(name=f"eager-{replicas}", workload=_loop(replicas, steps=20), contenders=(UNISONO, EAGER), targets=())


def _on_a_gpu(name: str, targets: tuple[Target, ...], *, feeds: bool) -> Case:
    work = Workload(network="mlp", platform="gpu", replicas=1, global_batch_size=64, steps=937, epochs=2, feeds=feeds)
    return Case(name=name, workload=work, contenders=(UNISONO, HAND_WRITTEN), targets=targets)


CASES = (
    _in_a_function(1, _TARGETS),
    _in_a_function(2, _TARGETS),
    _in_a_function(4, ()),  # without targets: more replicas than many machines have cores
    _eagerly(1),
    _eagerly(2),
    _on_a_gpu("gpu", (Target(HAND_WRITTEN, 1.5),), feeds=False),
    _on_a_gpu("gpu-input", (Target(HAND_WRITTEN, 1),), feeds=True),
)
