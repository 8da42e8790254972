"""Hook: Keras variables made in a scope belong to its strategy, and every read of a variable can be observed.

Checked against Keras 3.15.1: every value that enters a `JaxVariable` outside a stateless scope passes
`_direct_assign`, and `__init__` runs before the first one; `value` is the only way by which layers and optimizers
read; `assign_add` and `assign_sub` go through `assign`; scopes nest by `original_scope`. Keras's own `layout` is left
None, since it makes initialisers draw under a mesh; a value is drawn as on one device and then placed, so it is the
same one.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import keras
from keras.src.backend.common import global_state
from keras.src.backend.common.stateless_scope import get_stateless_scope
from keras.src.backend.common.stateless_scope import in_stateless_scope as in_stateless_scope
from keras.src.backend.jax.core import JaxVariable

from unisono._src import hooks
from unisono._src.jax_hooks import NotEvaluableError, evaluate_traced
from unisono._src.keras_hooks._attributes import get_owner, set_owner
from unisono._src.keras_hooks._on_read_variables import become_on_read, get_stored_value, is_on_read
from unisono._src.keras_hooks._variable_layouts import (
    gather_for_read,
    layout_of,
    note_role,
    remember_owned,
    variable_info,
)
from unisono._src.processes import broadcast_from_chief
from unisono._src.replicas import context

LOST = """The variable {name!r} has no value any more: a step of fit, evaluate or predict failed while it used it.
Make the model again, or load its weights."""

TRACED_INITIAL_VALUE = """The initial value of the variable {name!r} is not known before the compiled function runs: it
depends on the state of a loop, or on the part of a batch that one replica gets ({reason}).
Create the variable before, or with a value that only depends on shapes, and assign it afterwards:
    if self.mean is None:
        self.mean = tf.Variable(tf.zeros(x.shape[1:]))
    self.mean.assign(...)"""

REFUSED = "it uses the variable {path!r}, whose value may change"

_observers: list[Callable[[Any, Any, bool], Any]] = []


class _Refusal(threading.local):
    refuses = False


_thread = _Refusal()


class StateScope(keras.StatelessScope):
    """A stateless scope that knows the value of every variable: while it is in force, none is read or written itself.

    Variables created inside are made for real, outside every trace, and reported.
    """

    def __init__(self) -> None:
        super().__init__(collect_losses=True, initialize_variables=False)

    def get_current_value(self, variable: Any) -> Any:
        """The value that ``variable`` has here. Reading it is reported to observers."""
        return report_read(variable, self.read(variable))

    def read(self, variable: Any) -> Any:
        """The value that ``variable`` has here."""
        raise NotImplementedError

    def add_delta(self, variable: Any, delta: Any) -> Any:
        """Adds ``delta``; returns the new value."""
        value = self.read(variable) + delta
        self.add_update((variable, value))
        return value

    def aggregate(self, variable: Any, value: Any) -> Any:
        """What ``variable`` becomes on all replicas when one of them assigns ``value``."""
        return value

    def write(self, variable: Any, value: Any) -> None:
        """Stores a value on which all replicas agree."""
        self.add_update((variable, value))

    def variable_created(self, variable: Any) -> None:
        """Called with a variable that was created inside."""
        raise NotImplementedError

    def sharded_updates(self, variables: Sequence[Any], own_variables: Sequence[Any]) -> dict[int, Any]:
        """Of which variables each replica updates its shard alone, by identity, with what
        :meth:`sum_and_scatter` needs to know: of those that an optimizer trains and of its own."""
        return {}

    def sum_and_scatter(self, gradient: Any, part: Any) -> Any:
        """This replica's shard of the sum of all gradients."""
        raise NotImplementedError

    def updating_shards(
        self, variables: Sequence[Any], parts: dict[int, Any]
    ) -> contextlib.AbstractContextManager[None]:
        """Inside, the variables that are in ``parts`` are their shards."""
        return contextlib.nullcontext()

    def evaluate(self, value: Any, seeds: Sequence[tuple[Any, Any]] = ()) -> Any:
        """Computes a traced value now, from what is known here: constants, and in a function its arguments.

        ``seeds`` are variables with the traced values that a scope inside this one has given them; those of random
        generators are used up by this. Raises :class:`unisono._src.jax_hooks.NotEvaluableError` if the value depends on
        anything else.
        """
        return evaluate_constant(value)

    def leave_program(self, reason: str) -> None:
        """Called where a program lacks what eager code has: a size that depends on values, for example.

        Does not return if Python can run the function on the host instead.
        """

    def data_pulled(self) -> None:
        """Called when code inside asks for the next element of a dataset."""
        raise NotImplementedError


def install_variable_binding() -> None:
    """Installs the hook."""
    why = "a variable belongs to the strategy in whose scope it was made"
    hooks.wrap(JaxVariable, "__init__", _init_with_owner, expects=_INIT, why=why, inherited=True)
    hooks.wrap(JaxVariable, "_direct_assign", _place_value, expects="(self, value)", why=why)
    why = "every read of a variable is seen, and in a trace gives its placeholder"
    hooks.wrap(
        JaxVariable,
        "value",
        lambda original: property(_value, doc=original.__doc__),
        expects="source 4301abbb356a",
        why=why,
        inherited=True,
    )
    why = "replicas that add to a variable agree on the sum"
    hooks.patch(JaxVariable, "assign_add", _assign_add, expects="source 1a9cc782db36", why=why, inherited=True)
    hooks.patch(JaxVariable, "assign_sub", _assign_sub, expects="source 5ad8bf7fa550", why=why, inherited=True)
    hooks.add(JaxVariable, "values", property(_values), why="the value of each replica, as tf.distribute has it")
    why = "scopes nest by it"
    hooks.require(keras.StatelessScope, "original_scope", expects="instance attribute", why=why)


_INIT = (
    "(self, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation='none', "
    "synchronization='auto', name=None, layout=None, **kwargs)"
)


def _init_with_owner(original: Any) -> Any:
    # Without `self`, which is not in args.
    position = list(inspect.signature(original).parameters).index("synchronization") - 1

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        owner = context.current_strategy()
        set_owner(self, owner)
        note_role(self)
        synchronization = args[position] if len(args) > position else kwargs.get("synchronization")
        if owner is not None and owner.placement.num_replicas > 1 and synchronization == "on_read":
            become_on_read(self)
        if owner is not None:
            owner.placement.adopt(self)
        scope = enclosing_state_scope()
        if scope is None:
            original(self, *args, **kwargs)
            return
        if args:
            args = (_evaluate_initial_value(scope, args[0], kwargs.get("name")), *args[1:])
        else:
            kwargs["initializer"] = _evaluate_initial_value(scope, kwargs.get("initializer"), kwargs.get("name"))
        with outside_traces():
            original(self, *args, **kwargs)
        scope.variable_created(self)

    return init


def evaluate_constant(value: Any) -> Any:
    """Computes a traced value that only depends on constants; else raises
    :class:`unisono._src.jax_hooks.NotEvaluableError`."""
    with outside_traces():
        return evaluate_traced(value, {})


def _evaluate_initial_value(scope: StateScope, value: Any, name: Any) -> Any:
    """An initial value that was traced as an array: the variable exists outside the trace."""
    if not isinstance(value, jax.core.Tracer):
        return value
    try:
        return scope.evaluate(value)
    except NotEvaluableError as error:
        raise ValueError(TRACED_INITIAL_VALUE.format(name=name or "variable", reason=error)) from None


def _place_value(original: Any) -> Any:
    def direct_assign(self: Any, value: Any) -> None:
        _check_usable(self)
        owner = get_owner(self)
        if owner is None:
            original(self, value)
        else:
            if getattr(self, "_value", None) is None and owner.placement.spans_processes:
                # Without seeds, workers would begin with different values and never agree.
                value = broadcast_from_chief(value)
            self._value = owner.placement.place_variable(value, layout_of(self))

    return direct_assign


def observe_reads(observe: Callable[[Any, Any, bool], Any]) -> None:
    """Calls ``observe(variable, value, is_argument)`` at every read from now on, and uses what it returns.

    The value is that before a cast to a compute dtype; it is an argument if a stateless call was given it.
    """
    _observers.append(observe)


@contextlib.contextmanager
def refuse_variables() -> Iterator[None]:
    """In this block, using a variable itself is a TypeError: what is traced there would keep its present value, and
    leave a tracer in what it assigns. Values that a scope has for variables may be used."""
    before, _thread.refuses = _thread.refuses, True
    try:
        yield
    finally:
        _thread.refuses = before


def _check_usable(variable: Any) -> None:
    if _thread.refuses:
        raise TypeError(REFUSED.format(path=getattr(variable, "path", "")))


def report_read(variable: Any, value: Any, is_argument: bool = False) -> Any:
    """Tells observers that ``variable`` was read and gave ``value``; returns the array to use for it."""
    for observe in _observers:
        value = observe(variable, value, is_argument)
    return value


def raw_value(variable: Any) -> Any:
    """The value of ``variable`` here, before a cast to the compute dtype, without telling observers."""
    return _raw_value(get_stateless_scope(), variable)


def capture_reader() -> Callable[[Any], Any]:
    """The present :func:`raw_value`, to be called where another scope is in force."""
    return functools.partial(_raw_value, get_stateless_scope())


def _raw_value(stateless: Any, variable: Any) -> Any:
    if stateless is not None and not isinstance(stateless, StateScope):
        value = stateless.get_current_value(variable)
        if value is not None:
            return value
    scope = _ours(stateless)
    return variable._value if scope is None else scope.read(variable)


def enclosing_state_scope() -> StateScope | None:
    """The innermost scope of ours, if there is one; Keras opens scopes of its own inside."""
    return _ours(get_stateless_scope())


def _ours(scope: Any) -> StateScope | None:
    while scope is not None and not isinstance(scope, StateScope):
        scope = scope.original_scope
    return scope


def current_state_scope() -> StateScope | None:
    """The innermost scope, if it is one of ours."""
    scope = get_stateless_scope()
    return scope if isinstance(scope, StateScope) else None


def report_data_pull() -> None:
    """To be called before data is taken from a dataset: a compiled program cannot do that."""
    scope = enclosing_state_scope()
    if scope is not None:
        scope.data_pulled()


def run_on_host_if_possible(reason: str) -> None:
    """To be called before an error about what cannot be compiled: does not return if Python can run the function that
    is being traced on the host instead. Replicas are one program, so their functions cannot."""
    replica, scope = context.current_replica(), enclosing_state_scope()
    if scope is not None and (replica is None or replica.strategy.placement.num_replicas == 1):
        scope.leave_program(reason)


def report_stored_read(variable: Any) -> Any:
    """Tells observers that a program that was compiled before reads ``variable``; returns the array to call it with."""
    value = report_read(variable, variable._value)
    return get_stored_value(variable) if is_on_read(variable) else value


@contextlib.contextmanager
def outside_traces() -> Iterator[None]:
    """Inside, arrays are arrays and variables are read and written themselves, whatever is being traced around it."""
    scope = get_stateless_scope()
    global_state.set_global_attribute("stateless_scope", None)
    try:
        with context.outside_of_replicas(), jax.ensure_compile_time_eval():
            yield
    finally:
        global_state.set_global_attribute("stateless_scope", scope)


def adopt_variables(variables: Iterable[Any], strategy: context.HasPlacement) -> None:
    """Moves variables that belong to no strategy (an optimizer created outside the scope, say) to ``strategy``.

    Raises ``ValueError`` for one that belongs to another strategy.
    """
    for variable in variables:
        owner = get_owner(variable)
        if owner is None:
            value = variable._value
            if strategy.placement.spans_processes:
                value = broadcast_from_chief(value)
            set_owner(variable, strategy)
            remember_owned(variable)
            if variable.synchronization == "on_read" and strategy.placement.num_replicas > 1:
                become_on_read(variable)
            strategy.placement.adopt(variable)
            variable._value = strategy.placement.place_variable(
                value, strategy.placement.layout(variable_info(variable))
            )
        elif owner is not strategy:
            raise ValueError(
                f"The variable {variable.path!r} was made in the scope of {owner!r}, the model belongs to "
                f"{strategy!r}. Make the model, its optimizer and its metrics in the same scope."
            )


def _value(self: Any) -> Any:
    stateless = get_stateless_scope()
    value = None
    if stateless is not None:
        value = stateless.get_current_value(self)
        if value is None:
            # One of Keras's scopes that does not know the variable, inside one of ours that does.
            scope = enclosing_state_scope()
            value = None if scope is None else scope.get_current_value(self)
        elif not isinstance(stateless, StateScope):
            value = report_read(self, value, is_argument=True)
    if value is None:
        _check_usable(self)
        value = self._value
        if value is None and self._initializer is None:
            raise RuntimeError(LOST.format(name=self.path))
        if value is None:  # not initialised yet: Keras only needs a shape
            return self._maybe_autocast(self._initializer(self._shape, dtype=self._dtype))
        value = report_read(self, value)
    # Cast first: half the bytes are gathered.
    return gather_for_read(self, self._maybe_autocast(value))


def _assign_add(self: Any, value: Any) -> Any:
    return _add(self, value, 1)


def _assign_sub(self: Any, value: Any) -> Any:
    return _add(self, value, -1)


def _add(self: Any, value: Any, sign: int) -> Any:
    scope = get_stateless_scope()
    if isinstance(scope, StateScope):
        delta = self._convert_to_tensor(value, dtype=self._dtype)
        return scope.add_delta(self, delta if sign > 0 else -delta)
    return self.assign(self + value if sign > 0 else self - value)


def _values(self: Any) -> tuple[Any, ...]:
    """The value of each replica. Only variables of a strategy have it."""
    owner = get_owner(self)
    if owner is None:
        raise AttributeError(
            f"The variable {self.path!r} was created outside every scope: it has `value`, but not `values`. "
            f"Make it inside `with strategy.scope():`."
        )
    return self._replica_values() if hasattr(self, "_replica_values") else owner.placement.replica_values(self._value)
