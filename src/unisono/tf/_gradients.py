"""Functions with gradients of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.tracing.tape import GradientTape
from unisono.tf._tensors import as_array
from unisono.tf._unsupported import unsupported_function

READS_VARIABLES = """{name} is a function with a gradient of its own, and it reads the variable {variable!r}, whose
gradient it does not tell. Pass the variable to it: {name}(x, variable), and return its gradient too."""


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """A decorator for a function that returns its result and a function of the result's gradient.

    >>> @custom_gradient
    ... def halved(x):
    ...     return x, lambda upstream: upstream / 2
    >>> float(jax.grad(halved)(3.0))
    0.5
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        @jax.custom_gradient
        def differentiable(*arrays: Any) -> Any:
            with GradientTape() as tape:
                result, gradient = f(*arrays, **kwargs)
            for variable in tape.watched_variables():
                raise TypeError(READS_VARIABLES.format(name=f.__name__, variable=variable.path))

            def pulled_back(upstream: Any) -> Any:
                given = upstream if isinstance(result, list | tuple) else (upstream,)
                found = gradient(*given)
                found = found if isinstance(found, list | tuple) else (found,)
                filled = [
                    jnp.zeros_like(array) if each is None else as_array(each)
                    for each, array in zip(found, arrays, strict=True)
                ]
                return tuple(filled)

            return (tuple(result) if isinstance(result, list) else result), pulled_back

        return differentiable(*(as_array(each) for each in args))

    return called


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose gradient is that of doing nothing."""

    @custom_gradient
    def called(*args: Any, **kwargs: Any) -> Any:
        def passed(*upstream: Any) -> Any:
            return upstream[0] if len(args) == 1 else upstream

        return f(*args, **kwargs), passed

    return functools.wraps(f)(called)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose inner values are computed again for the gradient, and not kept."""

    @functools.wraps(f)
    def called(*args: Any, **kwargs: Any) -> Any:
        arrays = jax.tree.map(as_array, args)
        return jax.checkpoint(lambda *values: f(*values, **kwargs))(*arrays)

    return called


gradients = unsupported_function(
    "tf.gradients",
    "There are no graphs to differentiate. Compute inside of `with tf.GradientTape() as tape:` and ask "
    "tape.gradient(ys, xs).",
)
hessians = unsupported_function(
    "tf.hessians",
    "There are no graphs to differentiate. Nest two tf.GradientTape, and ask the outer one for tape.jacobian.",
)
