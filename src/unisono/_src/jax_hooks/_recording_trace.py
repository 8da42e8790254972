"""The trace of a tape: shows every operation to a recorder, without wrapping a value.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1, whose `jax.core.Trace` has the methods that `RecordingTrace` defines.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from jax._src import core
from jax.core import Trace, eval_jaxpr
from jax.extend import linear_util
from jax.extend.core import set_current_trace, take_current_trace

from unisono._src.jax_hooks._primitive_call import PrimitiveCall
from unisono._src.jax_hooks._traces import current_trace

HIDDEN = """The tape follows a value that is a constant of a function made by jax.jit, which is called inside a
{name}. There the tape does not see it, and its gradient would be wrong. Pass the value to the jitted function as an
argument, or leave the inner jax.jit out."""

CLOSED_OVER = """A function in a {name} uses a value from outside it that a tape follows: a variable, or an
array that is watched. There the tape does not see it, and its gradient would be wrong. Pass the value as an argument,
or {advice}."""

_INNER_TAPE: Final = "put the tape inside the function"
_NO_GRADIENT: Final = "use jax.lax.stop_gradient(value), computed outside, if it needs no gradient"


def is_evaluating() -> bool:
    """Whether operations are carried out now, one by one, and not traced; a tape may record them."""
    return isinstance(trace_below_tapes(current_trace()), core.EvalTrace)


def trace_below_tapes(trace: Any) -> Any:
    """The trace that a tape records, or ``trace`` itself."""
    while isinstance(trace, RecordingTrace):
        trace = trace.parent
    return trace


class Recorder(Protocol):
    """What a tape writes to."""

    def follows(self, value: Any) -> bool:
        """Whether gradients with regard to ``value`` may be asked for."""

    def record(self, call: Callable[..., list[Any]], arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        """Does ``call(*arguments)``, in the current trace, and remembers how.

        ``call`` is a :class:`PrimitiveCall` unless it has derivatives of its own; ``evaluating`` is False while it is
        traced.
        """


class RecordingTrace(Trace):
    """The trace of a tape: forwards every operation to the enclosing trace and shows it to ``recorder``.

    No value is wrapped, so none can leak, and what is an array outside is an array inside.

    Attributes:
        parent: the enclosing trace.
        recorder: what records the operations.
        active: False while the tape does not record.
    """

    def __init__(self, parent: Any, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.parent, self.recorder, self.active = parent, recorder, True
        self.requires_low = parent.requires_low
        self._evaluating = isinstance(trace_below_tapes(parent), core.EvalTrace)
        self._left = False

    def enter(self) -> None:
        """From now on operations come here."""
        set_current_trace(self).__enter__()

    def leave(self) -> None:
        """Operations go to the parent again; if some were entered later, then as soon as those are left too."""
        self.active, self._left = False, True
        top = trace = current_trace()
        while isinstance(trace, RecordingTrace) and trace._left:
            trace = trace.parent
        if trace is not top:
            set_current_trace(trace).__enter__()

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        call = PrimitiveCall(primitive, params)
        if self.active and any(map(self.recorder.follows, call.array_constants)):
            return self._run_inlined(primitive, args, params)
        results = self._record(call, args)
        return results if primitive.multiple_results else results[0]

    def stage_value(self, val: Any) -> Any:
        return self._record(lambda value: [_process_in_current_trace("stage_value", value)], [val])[0]

    def process_custom_jvp_call(self, primitive: Any, fun: Any, jvp: Any, args: Any, /, **params: Any) -> Any:
        fun, jvp = self._guard_rule(fun), self._guard_rule(jvp, has_tangents=True)
        return self._record(
            lambda *values: _process_in_current_trace("process_custom_jvp_call", primitive, fun, jvp, values, **params),
            args,
        )

    def process_custom_vjp_call(self, primitive: Any, fun: Any, fwd: Any, bwd: Any, args: Any, /, **params: Any) -> Any:
        fun, fwd = self._guard_rule(fun), self._guard_rule(fwd)  # bwd may use anything: it computes no value
        return self._record(
            lambda *values: _process_in_current_trace(
                "process_custom_vjp_call", primitive, fun, fwd, bwd, values, **params
            ),
            args,
        )

    def process_call(self, primitive: Any, fun: Any, args: Any, params: Any, /) -> Any:  # gone after JAX 0.11.0
        return self._record(
            lambda *values: _process_in_current_trace("process_call", primitive, fun, values, params), args
        )

    def process_shard_map(self, primitive: Any, fun: Any, args: Any, **params: Any) -> Any:
        trees = []

        def call(*values: Any) -> list[Any]:
            trees.append(_process_in_current_trace("process_shard_map", primitive, self._guard(fun), values, **params))
            return list(trees[-1])

        results = self._record(call, args)
        return trees.pop().update(results)

    def cur_qdd(self, x: Any) -> Any:
        return self.parent.cur_qdd(x)

    def _record(self, call: Any, arguments: Any) -> Any:
        with set_current_trace(self.parent):
            return self.recorder.record(call, arguments, self._evaluating) if self.active else call(*arguments)

    def _guard(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, which must not use a followed value that is no argument: its gradient would be lost."""
        error = CLOSED_OVER.format(name="jax.shard_map", advice=_INNER_TAPE)
        if not self.active:
            return function
        return functools.partial(_call_guarded, function, _refer_weakly(self.recorder), error, False)

    def _guard_rule(self, function: Any, has_tangents: bool = False) -> Any:
        """The same for a part of a function with derivatives of its own, whose last arguments may be tangents."""
        error = CLOSED_OVER.format(name="custom_jvp, custom_vjp or custom_gradient", advice=_NO_GRADIENT)
        return _guarded_rule(function, _refer_weakly(self.recorder), error, has_tangents) if self.active else function

    def _run_inlined(self, primitive: Any, args: Any, params: Any) -> Any:
        """Runs a jitted function operation by operation: as one call it does not show that it uses its constants."""
        if not PrimitiveCall(primitive, params).is_jitted:
            raise ValueError(HIDDEN.format(name=primitive.name))
        with set_current_trace(self):
            return eval_jaxpr(params["jaxpr"].jaxpr, params["jaxpr"].consts, *args)


class _Guard:
    """Refuses operations on what ``recorder`` follows, except on arguments, ``own``, and on what depends on tangents.

    What is computed from arguments may be followed too: where the function runs again, under the same tape.
    """

    def __init__(self, recorder: Recorder, error: str, own: Sequence[Any], tangents: Sequence[Any]) -> None:
        self._recorder, self._error = recorder, error
        # By identity; kept alive, so that no other value gets the same one.
        self._own = {id(value): value for value in own}
        self._tangents = {id(value): value for value in tangents}

    def follows(self, value: Any) -> bool:
        return id(value) not in self._own and self._recorder.follows(value)

    def record(self, call: Any, arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        results = list(call(*arguments))
        if any(id(argument) in self._tangents for argument in arguments):
            self._tangents.update((id(result), result) for result in results)
        elif any(map(self.follows, arguments)):
            raise ValueError(self._error)
        self._own.update((id(result), result) for result in results)
        return results


def _refer_weakly(recorder: Recorder) -> weakref.ref[Recorder]:
    """A program that is compiled keeps the rules of its operations, which must not keep what a tape has recorded."""
    reference = weakref.ref(recorder)
    hash(reference)  # JAX may ask for it when the recorder is gone, and then only a hash that is known is given
    return reference


def _call_guarded(
    function: Callable[..., Any], find_recorder: weakref.ref[Recorder], error: str, has_tangents: bool, /, *values: Any
) -> Any:
    recorder = find_recorder()
    if recorder is None:  # then nobody can ask it for a gradient
        return function(*values)
    tangents = values[len(values) // 2 :] if has_tangents else ()
    with set_current_trace(RecordingTrace(current_trace(), _Guard(recorder, error, values, tangents))):
        return function(*values)


_guarded_rule: Final = linear_util.transformation2(_call_guarded)


def _process_in_current_trace(method: str, *args: Any, **params: Any) -> Any:
    """Calls a method of the current trace."""
    with take_current_trace() as trace:
        return getattr(trace, method)(*args, **params)
