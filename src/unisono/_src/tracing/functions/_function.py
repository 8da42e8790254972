"""`function`: Python code that is traced once for every signature of arguments, and compiled."""

from __future__ import annotations

import contextlib
import functools
import inspect
import warnings
import weakref
from collections.abc import Callable, Hashable
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono._src.replicas import context
from unisono._src.tracing.functions._arguments import Arguments, describe_arguments, flatten_arguments
from unisono._src.tracing.functions._concrete import ConcreteFunction
from unisono._src.tracing.functions._host_loop import HostLoopNeeded, running_on_host
from unisono._src.tracing.functions._signature import fit_to_signature
from unisono._src.tracing.functions._specialized_function import SpecializedFunction, has_specs

_MANY_TRACES: Final = 10

RETRACED = """{function} was traced for the {number}th time, and tracing and compiling take far longer than running.
New this time:
    {reason}
Python values are part of the program: pass what changes as an array, np.float32(0.1) instead of 0.1. Shapes are part
of it too: make batches of equal size with batch(n, drop_remainder=True), or pad. A function that is defined in a loop
is a new one every time: define it before the loop."""

RUNS_ON_HOST = """{function} is not compiled, but runs on the host, line by line: {reason}.
Functions that it calls are compiled."""

_BOUND = "_unisono_functions"

_run_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `unisono.function` run as plain Python, line by line, for debugging; False undoes it.

    >>> import unisono
    >>> double = unisono.function(lambda x: print("called") or 2 * x)
    >>> unisono.run_functions_eagerly(True)
    >>> double(1), double(1)
    called
    called
    (2, 2)
    >>> unisono.run_functions_eagerly(False)
    """
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Returns the current setting of :func:`run_functions_eagerly`; False by default."""
    return _run_eagerly


class Function:
    """A callable that runs as a compiled program. Made by :func:`function`."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Any = None) -> None:
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._name = getattr(python_function, "__qualname__", repr(python_function))
        self._signature = input_signature
        self._programs: dict[Hashable, ConcreteFunction | dict[Any, Any]] = {}
        self._specializations: dict[Hashable, SpecializedFunction] = {}
        self._calls_on_replicas: dict[Hashable, SpecializedFunction] = {}
        self._kept_alive: list[Any] = []
        self._compiled_for_text: dict[Any, Any] = {}
        self._last_key: Any = None
        self._derived: dict[int, tuple[Any, Function]] = {}

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function that was decorated."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        """The `TensorSpec`s that were given; None without any."""
        return self._signature

    @property
    def specializations(self) -> list[SpecializedFunction]:
        """This function for each signature that it was traced for, or that `get_concrete_function` was called with.

        If it was only called in `strategy.run`, for each signature of the arguments of one replica.
        """
        return list((self._specializations or self._calls_on_replicas).values())

    def pretty_printed_concrete_signatures(self) -> str:
        """The signatures that it was traced for, as text."""
        return "\n".join(each.pretty_printed_signature() for each in self.specializations)

    def experimental_get_tracing_count(self) -> int:
        """How often the function was traced: for how many signatures of arguments."""
        return len(self._programs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if functions_run_eagerly() or keras_hooks.in_stateless_scope() or not jax_hooks.is_evaluating():
            if context.current_replica() is not None and self._signature is None:
                self._note_call_on_replica(args, kwargs)
            return self._python_function(*args, **kwargs)  # inside another compiled function it is part of that one
        arguments = self._arguments(args, kwargs)
        if arguments.has_text:
            with running_on_host(self._compiled_for_text):
                return self._python_function(*args, **kwargs)
        key = _program_key(arguments)
        program = self._programs.get(key)
        if program is None:
            program = self._trace(key, arguments)
        if isinstance(program, ConcreteFunction):
            return program(arguments.arrays)
        with running_on_host(program):
            return self._python_function(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> SpecializedFunction:
        """This function for arguments of this signature: arrays, or `TensorSpec`s, whose shapes may contain None.

        With arrays only it is traced now. Without arguments the `input_signature` is used.
        """
        if not args and not kwargs and self._signature is not None:
            args = tuple(self._signature)
        if has_specs((args, kwargs)):
            requested = flatten_arguments(args, kwargs)
            return self._specializations.setdefault(
                ("requested", requested.key), SpecializedFunction.from_arguments(self, requested)
            )
        arguments = self._arguments(args, kwargs)
        key = _program_key(arguments)
        if key not in self._programs:
            self._trace(key, arguments)
        return self._specializations.get(key) or SpecializedFunction.from_arguments(self, arguments)

    def get_derived(self, key: Any, make: Callable[[], Function]) -> Function:
        """The function that ``make`` made from this one for the object ``key``; made now if there is none yet."""
        if id(key) not in self._derived:
            self._derived[id(key)] = (key, make())
        return self._derived[id(key)][1]

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """A method: a separate function for every instance, which lives as long as the instance."""
        if instance is None:
            return self
        try:
            bound = vars(instance).get(_BOUND)
            if bound is None or not bound.belongs_to(instance):
                object.__setattr__(instance, _BOUND, bound := _BoundFunctions(instance))
        except TypeError:  # with __slots__ there is no place for it, so this function keeps it, and the instance alive
            return self.get_derived(instance, lambda: self._bind(instance, owner))
        if self not in bound:
            bound[self] = self._bind(instance, owner)
        return bound[self]

    def _bind(self, instance: Any, owner: type | None) -> Function:
        return Function(self._python_function.__get__(instance, owner), self._signature)

    def __repr__(self) -> str:
        return f"<unisono.function {self._name}>"

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        if kwargs or self._signature is not None:
            bound = inspect.signature(self._python_function).bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        if self._signature is not None:
            args = fit_to_signature(self._signature, args, self._name)
        return flatten_arguments(args, kwargs)

    def _note_call_on_replica(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A function that only `strategy.run` calls can be saved, for the arguments of one replica."""
        arguments = self._arguments(args, kwargs)
        if arguments.objects or arguments.has_text or not _have_specs(arguments):
            return
        with contextlib.suppress(TypeError):  # a part of the key has no hash: such arguments cannot be saved
            self._calls_on_replicas.setdefault(arguments.key, SpecializedFunction.from_arguments(self, arguments))

    def _forget_when_dead(self, objects: list[Any], key: Hashable) -> None:
        """Forgets a program when an object among its arguments dies: the key has only the `id`, which is used again."""
        for each in objects:
            try:
                weakref.finalize(each, _forget, weakref.ref(self), key).atexit = False
            except TypeError:  # takes no weak reference, so it is kept alive
                self._kept_alive.append(each)

    def _trace(self, key: Any, arguments: Arguments) -> ConcreteFunction | dict[Any, Any]:
        program: ConcreteFunction | dict[Any, Any]
        try:
            program = ConcreteFunction(self._python_function, arguments)
        except HostLoopNeeded as needed:
            program = {}
            if needed.reason:
                text = RUNS_ON_HOST.format(function=self._name, reason=needed.reason)
                warnings.warn(text, UserWarning, stacklevel=3)
        before, self._last_key = self._last_key, key
        self._programs[key] = program
        if arguments.objects:
            self._forget_when_dead(arguments.objects, key)
        elif _have_specs(arguments):
            self._specializations[key] = SpecializedFunction.from_arguments(self, arguments)
        if len(self._programs) == _MANY_TRACES:
            reason = _difference(before, key)
            text = RETRACED.format(function=self._name, number=_MANY_TRACES, reason=reason)
            warnings.warn(text, UserWarning, stacklevel=4)
        return program


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: Any = None,
    experimental_compile: Any = None,
    experimental_follow_type_hints: Any = None,
) -> Any:
    """Compiles a function: its Python code runs once per signature of its arguments, then a compiled program runs.

    The function may read and write Keras variables, and may create them in its first call. Arrays among the arguments
    are inputs of the program; Python values are part of it. A function that takes elements from a dataset runs as a
    Python loop on the host, but each `run` and each function that it calls is compiled.

    >>> import keras, numpy as np, unisono
    >>> total = keras.Variable(0.0)
    >>> @unisono.function
    ... def add(x):
    ...     print("traced")
    ...     total.assign_add(x)
    ...     return total * 2
    >>> float(add(np.float32(1))), float(add(np.float32(2)))
    traced
    (2.0, 6.0)

    Args:
        func: the function; without it, a decorator is returned.
        input_signature: `TensorSpec`s, one for each argument: other arguments are refused, Python numbers become
            arrays.
        autograph: accepted; Python's `if` and `while` on traced values raise an error that says what to write.
        jit_compile: accepted; everything is compiled.
        reduce_retracing: accepted; a program is compiled for each shape.
        experimental_implements: accepted, without effect, like all following ones.
        experimental_autograph_options: see above.
        experimental_attributes: see above.
        experimental_relax_shapes: see above.
        experimental_compile: see above.
        experimental_follow_type_hints: see above.
    """
    if func is None:
        return lambda decorated: Function(decorated, input_signature)
    return func if isinstance(func, Function) else Function(func, input_signature)


def _forget(function: weakref.ref[Function], key: Hashable) -> None:
    alive = function()
    if alive is not None:
        alive._programs.pop(key, None)


class _BoundFunctions(dict[Function, Function]):
    """The bound functions of one instance. A copy of the instance begins without any; a shallow one shares this."""

    def __init__(self, instance: Any = None) -> None:
        super().__init__()
        self._instance = None if instance is None else weakref.ref(instance)

    def belongs_to(self, instance: Any) -> bool:
        """Whether it was made for ``instance``."""
        return self._instance is not None and self._instance() is instance

    def __deepcopy__(self, memo: Any) -> _BoundFunctions:
        return _BoundFunctions()

    def __reduce__(self) -> Any:
        return _BoundFunctions, ()


def _program_key(arguments: Arguments) -> Any:
    return arguments.key, context.current_strategy(), context.current_replica() is None, _settings()


def _have_specs(arguments: Arguments) -> bool:
    """Whether each array has a dtype of NumPy, as a `TensorSpec` has; random keys of JAX have none."""
    return all(isinstance(array.dtype, np.dtype) for array in arguments.arrays)


def _settings() -> Hashable:
    """Settings that change how a function is traced without being among its arguments."""
    return (
        keras.config.dtype_policy().name,
        keras.config.floatx(),
        bool(jax.config.read("jax_enable_x64")),
        jax.config.jax_default_matmul_precision,  # type: ignore[attr-defined]  # of this thread
    )


def _difference(before: Any, after: Any) -> str:
    (tree_before, _), (tree_after, _) = before[0], after[0]
    if tree_before != tree_after:
        return f"another structure of arguments: {tree_after}, before {tree_before}"
    pairs = zip(describe_arguments(before[0]), describe_arguments(after[0]), strict=True)
    changed = [f"{new}, before {old.split(': ', 1)[1]}" for old, new in pairs if old != new]
    others = "other settings: the current strategy, Keras's dtype policy or JAX's matmul precision"
    return "\n    ".join(changed) or others
