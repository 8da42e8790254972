"""Hook: JAX's traces, and where gloo listens: all that is used of JAX below its public functions.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: `jax.core.Trace` has `process_primitive`, `process_custom_jvp_call`,
`process_custom_vjp_call`, `process_shard_map` and `stage_value`; a primitive is bound in the current trace, which
`jax.extend.core.set_current_trace` replaces. What `jax.vjp` returns is a `partial` of `_vjp3_callable`, whose second
argument lists the results that depend on nothing; it accepts `jax.interpreters.ad.Zero` for a cotangent.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

import jax
from jax._src import api, core
from jax.core import ShapedArray, Trace, eval_jaxpr
from jax.extend import linear_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Primitive, set_current_trace, take_current_trace
from jax.interpreters.ad import Zero
from jaxlib import _jax

from unisono._src import hooks

HIDDEN = """The tape follows a value that is a constant of a function made by jax.jit, which is called inside a
{name}. There the tape does not see it, and its gradient would be wrong. Pass the value to the jitted function as an
argument, or leave the inner jax.jit out."""

CLOSED_OVER = """A function in a {name} uses a value from outside it that a tape follows: a variable, or an
array that is watched. There the tape does not see it, and its gradient would be wrong. Pass the value as an argument,
or {advice}."""

_INNER_TAPE: Final = "put the tape inside the function"
_NO_GRADIENT: Final = "use jax.lax.stop_gradient(value), computed outside, if it needs no gradient"

# Before 0.11, transposing a scan of which a stacked result has no cotangent raises "Expected cotangent type".
_SCANS_TAKE_SYMBOLIC_ZEROS: Final = jax.__version_info__ >= (0, 11)

# A value that is not known while a function is traced, to be substituted when it is compiled: that of a variable.
_placeholder: Final = Primitive("unisono_placeholder")
_placeholder.def_abstract_eval(lambda *, key, aval: aval)


def check_internals() -> None:
    """Checks that JAX has what is used here."""
    hooks.require(core, "EvalTrace", expects="type type", why="tells whether operations are carried out or traced")
    hooks.require(core, "eval_trace", expects="type EvalTrace", why="an array is copied where no tape sees it")
    why = "tapes and placeholders are traces of their own"
    hooks.require(Trace, "process_primitive", expects="(self, primitive, tracers, params, /)", why=why)
    hooks.require(Trace, "stage_value", expects="(self, val)", why=why)
    hooks.require(
        api,
        "_vjp3_callable",
        expects=[
            "(spec, out_known, jaxpr, out_primal_avals, in_tree, out_tree, args_res, opaque_res, *maybe_ct_refs)",
            "(spec, out_zeros, jaxpr, out_primal_avals, in_tree, out_tree, args_res, opaque_res, structured_res, "
            "want_logs, *maybe_ct_refs)",
        ],
        why="its second argument tells which results have no gradient",
    )


def current_trace() -> Any:
    """What processes operations now: JAX's evaluation, or the trace of a function that is being transformed."""
    with take_current_trace() as trace:
        return trace


@contextlib.contextmanager
def use_trace(trace: Any) -> Iterator[None]:
    """Operations in this block belong to ``trace``."""
    with set_current_trace(trace):
        yield


def is_evaluating() -> bool:
    """Whether operations are carried out now, one by one, and not traced; a tape may record them."""
    return isinstance(trace_below_tapes(current_trace()), core.EvalTrace)


def trace_below_tapes(trace: Any) -> Any:
    """The trace that a tape records, or ``trace`` itself."""
    while isinstance(trace, RecordingTrace):
        trace = trace.parent
    return trace


def copy_unrecorded(value: Any) -> Any:
    """A copy of ``value`` that no tape records: made in its own trace, so that it is known in all those inside it."""
    trace = value._trace if isinstance(value, core.Tracer) else core.eval_trace
    with set_current_trace(trace):
        return jax.numpy.array(value, copy=True)


def bind_gloo_to(address: str) -> None:
    """Between processes on CPUs, gloo listens at ``address``, one of this machine's.

    By default it uses the address of the machine's host name, which on many machines is 127.0.0.1.
    """
    name, why = "make_gloo_tcp_collectives", "gloo listens at an address that other machines reach"
    hooks.require(
        _jax, name, expects=["type nb_func", "type partial"], why=why, works=lambda: _accepts(_jax, name, "hostname")
    )
    hooks.wrap(
        _jax, name, lambda original: functools.partial(original, hostname=address), expects="type nb_func", why=why
    )


def _accepts(owner: Any, name: str, argument: str) -> bool:
    """Whether a function that is not Python's has an argument of this name: its documentation has the signature."""
    function = getattr(owner, name)
    return f"{argument}:" in str(getattr(function, "func", function).__doc__)


def make_placeholder(trace: Any, key: int, like: Any) -> Any:
    """A value of the shape and dtype of ``like`` in ``trace``, known by ``key``; see :func:`substitute`."""
    with set_current_trace(trace):
        return _placeholder.bind(key=key, aval=ShapedArray(like.shape, like.dtype))


def is_placeholder(primitive: Any) -> bool:
    """Whether it is the operation behind :func:`make_placeholder`."""
    return primitive is _placeholder


def placeholder_key(equation: Any) -> int | None:
    """The key of the placeholder that an equation of a jaxpr is; None for any other equation."""
    return equation.params["key"] if equation.primitive is _placeholder else None


def substitute(
    traced: Any, values: Callable[[int, Any], Any], arguments: list[Any], constants: Sequence[Any] = ()
) -> list[Any]:
    """Runs, in a trace, what `jax.make_jaxpr` returned, with ``values(key, shape_and_dtype)`` for its
    placeholders, and ``constants``, if there are any, for its own."""
    with set_current_trace(_SubstitutingTrace(current_trace(), values)):
        results: list[Any] = eval_jaxpr(traced.jaxpr, constants or traced.consts, *arguments)
        return results


class _SubstitutingTrace(Trace):
    """Forwards everything to another trace, except for placeholders."""

    def __init__(self, parent: Any, values: Callable[[int, Any], Any]):
        super().__init__()  # type: ignore[no-untyped-call]
        self._parent, self._values = parent, values
        self.requires_low = parent.requires_low

    def process_primitive(self, primitive: Any, args: Any, params: Any, /) -> Any:
        with set_current_trace(self._parent):  # there is none while JAX calls this
            if primitive is _placeholder:
                return self._values(params["key"], params["aval"])
            return primitive.bind(*args, **params)

    def stage_value(self, val: Any) -> Any:
        return self._parent.stage_value(val)

    def process_custom_jvp_call(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_custom_jvp_call", *args, **kwargs)

    def process_custom_vjp_call(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_custom_vjp_call", *args, **kwargs)

    def process_call(self, *args: Any, **kwargs: Any) -> Any:  # gone after JAX 0.11.0
        return self._forward("process_call", *args, **kwargs)

    def process_shard_map(self, *args: Any, **kwargs: Any) -> Any:
        return self._forward("process_shard_map", *args, **kwargs)

    def _forward(self, method: str, *args: Any, **kwargs: Any) -> Any:
        with set_current_trace(self._parent):
            return getattr(self._parent, method)(*args, **kwargs)


class PrimitiveCall:
    """An operation with its parameters: carried out when called, equal to another one that does the same."""

    __slots__ = ("_params", "_primitive")

    def __init__(self, primitive: Any, params: dict[str, Any]) -> None:
        self._primitive, self._params = primitive, params

    @property
    def name(self) -> str:
        """What JAX calls the operation."""
        return str(self._primitive.name)

    @property
    def jaxprs(self) -> list[Any]:
        """The programs in its parameters: a loop's body, a jitted function."""
        return list(_jaxprs_in(self._params))

    @property
    def has_array_constants(self) -> bool:
        """Whether a jitted function in it has arrays as constants."""
        return any(_contents_of(jaxpr).constants for jaxpr in self.jaxprs)

    @property
    def has_scan(self) -> bool:
        """Whether it is a `scan`, or has one in it."""
        return self.name == "scan" or any(_contents_of(jaxpr).scans for jaxpr in self.jaxprs)

    def __call__(self, *arguments: Any) -> list[Any]:
        results = self._primitive.bind(*arguments, **self._params)
        return list(results) if self._primitive.multiple_results else [results]

    def __hash__(self) -> int:
        return hash((self._primitive, *self._params.values()))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PrimitiveCall) and self._primitive is other._primitive and self._params == other._params
        )


def find_unconnected(pull_back: Any) -> list[bool]:
    """Of each result of a function, given what `jax.vjp` made of it: whether it does not depend on the arguments.

    That is so for `floor` and for `stop_gradient`. `jax.vjp` does not return it; :func:`check_internals` has checked
    the arguments of the `partial`.
    """
    flags = pull_back.fun.args[1]
    assert all(type(flag) is bool for flag in flags), f"expected a bool for each result of jax.vjp, found {flags!r}"
    return list(flags)


def accepts_symbolic_zeros(call: Callable[..., list[Any]]) -> bool:
    """Whether the pull-back of ``call`` does, see :func:`no_cotangent`; in an old JAX those of scans do not."""
    return _SCANS_TAKE_SYMBOLIC_ZEROS or (isinstance(call, PrimitiveCall) and not call.has_scan)


def zero_cotangent(shape: Any, symbolic: bool) -> Any:
    """What a pull-back takes for a result of this shape and dtype that is not used.

    ``symbolic`` is a zero that JAX knows to be one. With an array of zeros it would compute, and make NaN of 0 · ∞.
    """
    zero = Zero(shape.to_ct_aval())
    return zero if symbolic else zero.instantiate()


class Recorder(Protocol):
    """What a tape writes to."""

    def follows(self, value: Any) -> bool:
        """Whether gradients with regard to ``value`` may be asked for."""

    def record(self, call: Callable[..., list[Any]], arguments: Sequence[Any], evaluating: bool) -> list[Any]:
        """Does ``call(*arguments)``, in the current trace, and remembers how.

        ``call`` is a :class:`Call` unless it has derivatives of its own; ``evaluating`` is False while it is traced.
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
        if self.active and self._hides_followed(params):
            return self._run_inlined(primitive, args, params)
        results = self._record(PrimitiveCall(primitive, params), args)
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

    def _hides_followed(self, params: Any) -> bool:
        return any(
            self.recorder.follows(constant)
            for jaxpr in _jaxprs_in(params)
            for constant in _contents_of(jaxpr).constants
        )

    def _run_inlined(self, primitive: Any, args: Any, params: Any) -> Any:
        """Runs a jitted function operation by operation: as one call it does not show that it uses its constants."""
        if primitive.name != "jit":
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


class _Contents(NamedTuple):
    """What must be known about a program: arrays that jitted functions hold as constants, and whether it scans."""

    constants: list[jax.Array]
    scans: bool


_contents: weakref.WeakKeyDictionary[Any, _Contents] = weakref.WeakKeyDictionary()


def _contents_of(jaxpr: Any) -> _Contents:
    found = _contents.get(jaxpr)
    if found is None:
        constants = [constant for constant in getattr(jaxpr, "consts", ()) if isinstance(constant, jax.Array)]
        inner = [_contents_of(program) for equation in jaxpr.eqns for program in _jaxprs_in(equation.params)]
        constants += [constant for contents in inner for constant in contents.constants]
        scans = any(equation.primitive.name == "scan" for equation in jaxpr.eqns)
        found = _contents[jaxpr] = _Contents(constants, scans or any(contents.scans for contents in inner))
    return found


def _jaxprs_in(params: dict[str, Any]) -> Iterator[Any]:
    for value in params.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, (Jaxpr, ClosedJaxpr)):
                yield part
