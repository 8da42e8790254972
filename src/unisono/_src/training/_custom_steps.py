"""Custom steps in TensorFlow's signature, `train_step(self, data)`, as pure functions of the state.

Such a step reads and assigns any variables: with a `GradientTape`, one optimizer or two, metrics that it made.
Before the first call it is traced once to see which variables these are (:func:`trace_used_variables`); layers,
optimizers and metrics make theirs meanwhile. They are the state that goes into the compiled program and comes out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import jax
import jax.numpy as jnp

from unisono._src import jax_hooks, keras_hooks
from unisono._src.core import Override
from unisono._src.replicas import context
from unisono._src.replicas.context import Replica
from unisono._src.tracing.functions import check_trace

NEW_EVERY_TIME = """{step} makes the variable {name!r} whenever it is called. A step is compiled once, so its variables
have to be made once: in __init__ or build, or on its first call only."""

NOT_TRACED = """{step} uses the variable {name!r} for this batch, and did not use it for the first one.
Which variables a step uses must not depend on the batch; read it in both cases."""

READS_DATASET = "{step} asks a dataset for its next element. The batch is what it is given: use `data`."

NO_LOGS = """{step} returned {what}. Expected is a dict of logs, whose values are numbers:
    return {{"loss": loss}}"""

NEEDS_VALUES = """resume=...: {step} runs eagerly (run_eagerly=True or jit_compile=False) and needs the values of its
tensors. So the variables that it will use are not known before it runs, and a training that was killed could not be
resumed. Leave these settings out, or leave `resume` out."""

_ATTRIBUTE = "_unisono_step_variables"


def _identity(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


step_converter: Final[Override[Callable[[Callable[..., Any]], Callable[..., Any]]]] = Override(_identity)
"""Converts a custom step before it is called."""


def has_tf_style_step(model: Any, kind: str) -> bool:
    """Whether the model's step of this kind is a custom step in TensorFlow's signature."""
    return keras_hooks.has_tf_signature(model, f"{kind}_step")


def forget_steps(model: Any) -> None:
    """After `model.compile`, what steps used before is stale."""
    object.__setattr__(model, _ATTRIBUTE, {})


def trace_used_variables(model: Any, kind: str, batch_spec: Any, *, resumable: bool) -> None:
    """Traces the step once for a model, so that all variables are made and those that it uses are recorded.

    A step that runs eagerly reads and writes the variables themselves; it is traced only if its training is
    ``resumable``, since then they have to be known before the run is restored.
    """
    known = _known_variables(model)
    is_eager = not keras_hooks.is_traced(model)
    if known.get(kind) or (kind in known and not (is_eager and resumable)):
        return
    if is_eager and not resumable:
        known[kind] = []
        return
    scopes: list[_RecordingScope] = []

    def traced(batch: Any) -> Any:
        with _RecordingScope(f"{kind}_step") as scope:
            result = call_step(model, kind, batch)
        scopes.append(scope)
        return result

    strategy = keras_hooks.get_owner(model)
    assert strategy is not None, "only models of a strategy are trained here"
    explained = _explain_concretization(kind) if is_eager else contextlib.nullcontext()
    with context.run_as(Replica(strategy, axis=None)), explained:
        jax.eval_shape(traced, batch_spec)
    known[kind] = list(scopes[-1].used.values())


def used_variables(model: Any, kind: str) -> list[Any]:
    """The variables that the step used when it was traced."""
    return _known_variables(model)[kind]


def pure_step(model: Any, kind: str, groups: tuple[list[Any], ...]) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The step as ``(state, batch) -> (result, state)``; ``groups`` are the variables of the state."""
    variables = [variable for group in groups for variable in group]

    def eager_step(_: Any, batch: Any) -> tuple[Any, Any]:
        result = call_step(model, kind, batch)
        return result, tuple([variable._value for variable in group] for group in groups)

    def step(state: Any, batch: Any) -> tuple[Any, Any]:
        values = [value for group in state for value in group]
        with _GivenStateScope(f"{kind}_step", variables, values) as scope:
            result = call_step(model, kind, batch)
        return result, tuple([scope.read(variable) for variable in group] for group in groups)

    return step if keras_hooks.is_traced(model) else eager_step


def call_step(model: Any, kind: str, batch: Any) -> Any:
    """Calls the model's step with a batch, in a scope that knows the values of variables; returns logs or outputs."""
    method = getattr(model, f"{kind}_step")
    function = getattr(method, "__func__", None)
    convert = step_converter.current
    result = convert(method)(batch) if function is None else convert(function)(model, batch)
    return _to_outputs(result) if kind == "predict" else _flatten_logs(result, f"{kind}_step")


def _to_outputs(nest: Any) -> Any:
    return jax.tree.map(jnp.asarray, nest)


def _flatten_logs(result: Any, step: str) -> dict[str, jax.Array]:
    """One flat dict of arrays: several metrics, as those given to `compile`, give a dict each."""
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise TypeError(NO_LOGS.format(step=step, what=type(result).__name__))
    flat: dict[str, jax.Array] = {}
    for name, value in result.items():
        if isinstance(value, dict):
            flat |= _flatten_logs(value, step)
        elif isinstance(value, str | bytes):
            raise TypeError(NO_LOGS.format(step=step, what=f"text for {name!r}"))
        else:
            flat[name] = jnp.asarray(value)
    return flat


@contextlib.contextmanager
def _explain_concretization(kind: str) -> Iterator[None]:
    try:
        yield
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError) as error:
        raise ValueError(NEEDS_VALUES.format(step=f"{kind}_step")) from error


def _known_variables(model: Any) -> dict[str, list[Any]]:
    if not hasattr(model, _ATTRIBUTE):
        forget_steps(model)
    known: dict[str, list[Any]] = getattr(model, _ATTRIBUTE)
    return known


class _RecordingScope(keras_hooks.StateScope):
    """Records which variables are used. They have their present values; assignments end with the scope.

    Attributes:
        used: the variables that were read or written, by identity.
    """

    def __init__(self, step: str) -> None:
        super().__init__()
        self._step, self._trace = step, jax_hooks.current_trace()
        self._state: dict[int, Any] = {}
        self.used: dict[int, Any] = {}

    def read(self, variable: Any) -> Any:
        self.used[id(variable)] = variable
        return self._state[id(variable)] if id(variable) in self._state else self._initial_value(variable)

    def _initial_value(self, variable: Any) -> Any:
        return variable._value

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        check_trace(self._trace, variable)
        self.used[id(variable)] = variable
        self._state[id(variable)] = value

    def variable_created(self, variable: Any) -> None:
        pass

    def data_pulled(self) -> None:
        raise RuntimeError(READS_DATASET.format(step=self._step))


class _GivenStateScope(_RecordingScope):
    """Variables have the values of the state that the step is given."""

    def __init__(self, step: str, variables: list[Any], values: list[Any]) -> None:
        super().__init__(step)
        self._state = {id(variable): value for variable, value in zip(variables, values, strict=True)}

    def _initial_value(self, variable: Any) -> Any:
        raise ValueError(NOT_TRACED.format(step=self._step, name=variable.path))

    def variable_created(self, variable: Any) -> None:
        raise ValueError(NEW_EVERY_TIME.format(step=self._step, name=variable.path))
