"""Compiled programs: one per kind of step, form and shape of batch, kept with the model until it is compiled again.

A step has two forms. *loop*: any number of steps in one call, the number being an argument of the call, so that it
changes neither the program nor a bit of the result. *plain*: one step per call. Which one is used follows from
the step and the platform alone (:func:`_choose_form`), never from a clock: two runs of one job must choose alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.core import active_fit_facts, measure
from unisono._src.data.feed import StepChunk
from unisono._src.devices import Placement
from unisono._src.jax_hooks import (
    combine_row_sums,
    count_matmul_flops,
    gather_where_used,
    has_convolutions,
    keep_recomputation,
    keep_rows_major,
    make_partitionable,
    reuse_logits,
    untranspose_matmuls,
)
from unisono._src.keras_hooks import MetricsView, is_traced, metrics_view, use_lowerings
from unisono._src.training._custom_steps import forget_steps
from unisono._src.training._epoch_reset import EpochReset
from unisono._src.training._step_variables import StepVariables
from unisono._src.training._steps import Kind, Step, make_step
from unisono._src.training._steps_per_call import StepsPerCall

Form = Literal["plain", "loop", "eager"]
Read = Callable[[Any, Any], Any]  # the batch of a step, from the operands of the program and the number of the step

# At most this many steps of `predict` share a call: their outputs are held until it ends.
_PREDICT_STEPS: Final = 32

# A call takes about 0.3 ms of the host. This takes about 0.5 ms on an H200, and longer on slower GPUs.
_LARGE_STEP_FLOPS: Final = 2e11

_ATTRIBUTE = "_unisono_compiled"


@dataclass(frozen=True, eq=False)
class Program:
    """One compiled program.

    Attributes:
        kind: "train", "test" or "predict".
        form: "plain", "loop", or "eager" for models compiled with `run_eagerly` or without `jit_compile`.
        max_steps: the most steps one call can run.
        product_flops: floating-point operations of the products and convolutions of one step, on all devices together.
    """

    kind: Kind
    form: Form
    max_steps: int
    _call: Callable[..., Any]
    product_flops: float = 0.0

    def __call__(self, carry: Any, operands: Any, start: int, count: int) -> tuple[Any, Any]:
        """Runs steps ``start`` to ``start + count`` of what ``operands`` hold; ``carry`` is donated.

        Returns the new carry and the result of the last step; for "predict" the outputs of all steps, stacked.
        """
        return self._call(carry, operands, np.int32(start), np.int32(count))  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """The program as XLA optimised it; empty when nothing is compiled."""
        return (self._call.as_text() or "") if isinstance(self._call, jax.stages.Compiled) else ""

    @property
    def memory(self) -> Any:
        """The bytes that the program uses on a device, as XLA says; None when nothing is compiled.

        See `jax.stages.Compiled.memory_analysis`.
        """
        return self._call.memory_analysis() if isinstance(self._call, jax.stages.Compiled) else None

    @property
    def cost(self) -> dict[str, float]:
        """What XLA counts in the program, "bytes accessed" among it; a loop counts as one iteration.

        On GPUs it does not count what libraries compute, so that its "flops" lack most products.

        See `jax.stages.Compiled.cost_analysis`.
        """
        return dict(self._call.cost_analysis() or {}) if isinstance(self._call, jax.stages.Compiled) else {}


def block_size(placement: Placement) -> int:
    """How many steps of a loop run without a check of its end.

    A GPU asks the host after every iteration of a loop whose length it does not know beforehand, which costs 0.015 ms
    an iteration: as much as half of a small network's step. Iterations of 32 steps each, of known number, hide it, and
    change no bit (checked on an H200 against single steps). On CPU there is nothing to gain, and twice as much to
    compile.
    """
    return 1 if placement.platform == "cpu" else 32


def programs(model: Any) -> list[Program]:
    """The programs compiled so far for ``model``: what ran, in which form, and its text."""
    return list(_compiled(model).programs.values())


def forget_programs(model: Any) -> None:
    """After `model.compile`, what was traced before is stale."""
    object.__setattr__(model, _ATTRIBUTE, _Compiled())
    forget_steps(model)


def steps_per_call_for(model: Any, kind: Kind, batch_spec: Any, placement: Placement) -> StepsPerCall:
    """The number of steps per call for batches of this shape, as it was when they ran last."""
    settled = _compiled(model).settled
    steps_per_call = StepsPerCall(block=block_size(placement), across_processes=placement.spans_processes)
    return settled.setdefault((kind, _signature(batch_spec)), steps_per_call)


def epoch_reset_for(model: Any, placement: Placement) -> EpochReset:
    """The reset at the start of an epoch of the model; compiled once for as many metrics as it has now."""
    resets = _compiled(model).epoch_resets
    return resets.setdefault(len(model.metrics_variables), EpochReset(model, placement))


def program_for(
    model: Any, kind: Kind, placement: Placement, variables: StepVariables, carry: Any, chunk: StepChunk
) -> Program:
    """The program for this chunk, compiled now if there is none yet. ``carry`` holds the values of ``variables``."""
    cache = _compiled(model).programs
    key = (kind, chunk.is_regular, chunk.reader, _signature(carry), _signature(chunk.operands))
    if key not in cache:
        with measure("compile_seconds"):
            cache[key] = build_program(model, kind, placement, variables, carry, chunk)
        facts = active_fit_facts()
        if facts is not None:
            facts.add(programs=1)
    return cache[key]


class _Compiled:
    """What is kept with a model until `model.compile` is called again."""

    def __init__(self) -> None:
        self.programs: dict[Any, Program] = {}
        self.settled: dict[Any, StepsPerCall] = {}
        self.epoch_resets: dict[int, EpochReset] = {}


def _compiled(model: Any) -> _Compiled:
    if not hasattr(model, _ATTRIBUTE):
        object.__setattr__(model, _ATTRIBUTE, _Compiled())
    compiled: _Compiled = getattr(model, _ATTRIBUTE)
    return compiled


def _signature(nest: Any) -> Any:
    leaves, tree = jax.tree.flatten(nest)
    return tree, tuple((leaf.shape, leaf.dtype) for leaf in leaves)


def build_program(
    model: Any, kind: Kind, placement: Placement, variables: StepVariables, carry: Any, chunk: StepChunk
) -> Program:
    """A program for this chunk, compiled now. The leaves of ``carry`` and of the operands may be structs of shapes."""
    placement.check_layouts()
    compiled = is_traced(model)
    view = metrics_view(model, f"{kind}_step") if compiled and kind != "predict" else None
    step = make_step(model, kind, placement, variables, compiled=compiled, view=view)
    if not compiled:
        return Program(kind, "eager", 1, _plain_call(step, chunk.reader.read, stacked=kind == "predict"))
    # Keras's Python code runs once, here; both forms are made of its trace. The program must not keep a reference to
    # the chunk, whose operands may be all of the training data.
    with use_lowerings(placement.platform):
        structs = jax.tree.map(_struct, (carry, chunk.operands))
        reading, batch = jax.make_jaxpr(chunk.reader.read, return_shape=True)(structs[1], np.int32(0))
        jaxpr, shapes = jax.make_jaxpr(step, return_shape=True)(structs[0], batch)
    is_large = _is_large(placement, jaxpr)
    form = _choose_form(placement, chunk, jaxpr, is_large=is_large)
    carry_layout = jax.tree.map(placement.layout, carry)
    traced = _from_trace(_adapt(jaxpr, placement, is_large=is_large), jax.tree.structure(shapes))
    if placement.shards_variables:
        traced = _keep_layout(traced, carry_layout)
    read = _from_trace(_adapt(reading, placement), jax.tree.structure(batch))
    max_steps = 1
    if form == "plain":
        call = _plain_call(traced, read, stacked=kind == "predict")
    elif kind == "predict":
        max_steps = min(_PREDICT_STEPS, chunk.capacity)
        call = _stacking_loop_call(traced, read, shapes[1], max_steps)
    else:
        max_steps = chunk.capacity
        block = block_size(placement)
        if view is None:
            call = _loop_call(traced, read, shapes[1], block)
        else:
            call = _loop_call_with_final_logs(traced, read, block, view, kind)
    # Outputs stay where they were computed, unless other processes need them too.
    result_layout = None if kind == "predict" and not placement.spans_processes else placement.replicated
    jitted = jax.jit(call, donate_argnums=0, out_shardings=(carry_layout, result_layout))
    options = placement.compiler_options | (placement.large_step_options if is_large else {})
    options = keep_recomputation(options, jaxpr, placement.platform)
    lowered = jitted.lower(carry, chunk.operands, np.int32(0), np.int32(1))
    return Program(kind, form, max_steps, lowered.compile(options), count_matmul_flops(jaxpr.jaxpr))


def _keep_layout(step: Step, carry_layout: Any) -> Step:
    """``step`` whose carry has the same layouts before and after it.

    In a loop XLA would choose others: those of the sharded updates for weights that are whole, so that each device
    would compute a part of every layer.
    """

    def run(carry: Any, batch: Any) -> tuple[Any, Any]:
        carry, result = step(jax.lax.with_sharding_constraint(carry, carry_layout), batch)
        return jax.lax.with_sharding_constraint(carry, carry_layout), result

    return run


def _is_large(placement: Placement, jaxpr: Any) -> bool:
    """Whether a step keeps a GPU busy for longer than the host takes to call it."""
    return placement.platform == "gpu" and count_matmul_flops(jaxpr.jaxpr) > _LARGE_STEP_FLOPS * placement.mesh.size


def _choose_form(placement: Placement, chunk: StepChunk, jaxpr: Any, *, is_large: bool) -> Form:
    """An irregular batch comes once per pass: plain. XLA:CPU runs a convolution in a loop several times slower
    than outside (50 against 14.5 ms for a small CNN): plain. So is a large step on a GPU: a loop gains nothing, takes
    twice as long to compile, and is slower inside (GPT-2 small: 75 against 72 ms a step, 31 against 21 s to compile).
    Everything else: loop."""
    if not chunk.is_regular or is_large:
        return "plain"
    if placement.platform == "cpu" and has_convolutions(jaxpr.jaxpr):
        return "plain"
    return "loop"


def _plain_call(step: Step, read: Read, *, stacked: bool) -> Callable[..., Any]:
    def call(carry: Any, operands: Any, start: Any, count: Any) -> tuple[Any, Any]:
        del count
        carry, result = step(carry, read(operands, start))
        return carry, jax.tree.map(lambda leaf: leaf[None], result) if stacked else result

    return call


def _loop_call(step: Step, read: Read, result_shapes: Any, block: int) -> Callable[..., Any]:
    def call(carry: Any, operands: Any, start: Any, count: Any) -> tuple[Any, Any]:
        def body(index: Any, loop: Any) -> Any:
            return step(loop[0], read(operands, index))

        def block_body(number: Any, loop: Any) -> Any:
            first = start + number * block
            return jax.lax.fori_loop(0, block, lambda index, inner: body(first + index, inner), loop)

        unset = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), result_shapes)
        loop, done = (carry, unset), 0
        if block > 1:
            loop, done = jax.lax.fori_loop(0, count // block, block_body, loop), count // block * block
        return jax.lax.fori_loop(start + done, start + count, body, loop)  # type: ignore[no-any-return]

    return call


def _loop_call_with_final_logs(step: Step, read: Read, block: int, view: MetricsView, kind: Kind) -> Callable[..., Any]:
    """A loop without logs in it: they are read from the metrics once, at its end. Saves two kernels a step on a GPU."""

    def without_logs(carry: Any, batch: Any) -> tuple[Any, Any]:
        return step(carry, batch)[0], ()

    loop = _loop_call(without_logs, read, (), block)

    def call(carry: Any, operands: Any, start: Any, count: Any) -> tuple[Any, Any]:
        carry, _ = loop(carry, operands, start, count)
        state = carry[0] if kind == "train" else carry
        return carry, view.logs(state[-1])

    return call


def _stacking_loop_call(step: Step, read: Read, result_shapes: Any, max_steps: int) -> Callable[..., Any]:
    def call(carry: Any, operands: Any, start: Any, count: Any) -> tuple[Any, Any]:
        def body(index: Any, loop: Any) -> Any:
            carry, stacks = loop
            carry, result = step(carry, read(operands, start + index))
            put = jax.lax.dynamic_update_index_in_dim
            return carry, jax.tree.map(lambda stack, leaf: put(stack, leaf, index, 0), stacks, result)

        unset = jax.tree.map(lambda leaf: jnp.zeros((max_steps, *leaf.shape), leaf.dtype), result_shapes)
        return jax.lax.fori_loop(0, count, body, (carry, unset))  # type: ignore[no-any-return]

    return call


def _adapt(jaxpr: Any, placement: Placement, *, is_large: bool = False) -> Any:
    """The traced program in the form that XLA partitions correctly and well."""
    if is_large:
        jaxpr = reuse_logits(jaxpr, placement.num_replicas)
    if placement.mesh.size == 1:
        return keep_rows_major(jaxpr) if is_large else jaxpr
    if placement.shards_variables:
        jaxpr = gather_where_used(jaxpr, ahead=0 if placement.platform == "cpu" else 1)
    jaxpr = make_partitionable(jaxpr, placement.mesh, placement.num_replicas)
    if placement.platform == "cpu":
        jaxpr = untranspose_matmuls(jaxpr)
    if placement.needs_combined_all_reduces and not placement.shards_variables:
        jaxpr = combine_row_sums(jaxpr, placement.sharded_rows, placement.num_replicas)
    return jaxpr


def _from_trace(jaxpr: Any, result_tree: Any) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        flat = jax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *jax.tree.leaves(arguments))
        return jax.tree.unflatten(result_tree, flat)

    return call


def _struct(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)
