"""`tf.custom_gradient`, `tf.grad_pass_through`, `tf.recompute_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src.tracing.functions import rematerialize
from unisono._src.tracing.tape import GradientTape
from unisono.tf._tensors import as_array
from unisono.tf._unsupported import unsupported_function

READS_VARIABLES = """{name} has a custom gradient and reads the variable {variable!r}, whose gradient it does not
return. Pass the variable as an argument, {name}(x, variable), and return its gradient too."""


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorates a function that returns its result and the function that maps the upstream gradient to its own.

    >>> @custom_gradient
    ... def halved(x):
    ...     return x, lambda upstream: upstream / 2
    >>> float(jax.grad(halved)(3.0))
    0.5
    """
    if f is None:
        return custom_gradient

    @functools.wraps(f)
    def with_custom_gradient(*args: Any, **kwargs: Any) -> Any:
        @jax.custom_gradient
        def differentiable(*arrays: Any) -> Any:
            with GradientTape() as tape:
                result, gradient = f(*arrays, **kwargs)
            for variable in tape.watched_variables():
                raise TypeError(READS_VARIABLES.format(name=f.__name__, variable=variable.path))

            def pull_back(upstream: Any) -> Any:
                given = upstream if isinstance(result, list | tuple) else (upstream,)
                found = gradient(*given)
                found = found if isinstance(found, list | tuple) else (found,)
                pairs = zip(found, arrays, strict=True)
                return tuple(jnp.zeros_like(array) if each is None else as_array(each) for each, array in pairs)

            return (tuple(result) if isinstance(result, list) else result), pull_back

        return differentiable(*(as_array(each) for each in args))

    return with_custom_gradient


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the gradient of the identity."""

    @custom_gradient
    def with_identity_gradient(*args: Any, **kwargs: Any) -> Any:
        def pass_through(*upstream: Any) -> Any:
            return upstream[0] if len(args) == 1 else upstream

        return f(*args, **kwargs), pass_through

    return functools.wraps(f)(with_identity_gradient)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its intermediate values recomputed for the gradient, and not stored."""

    recomputed = rematerialize(f)
    return functools.wraps(f)(lambda *args, **kwargs: recomputed(*jax.tree.map(as_array, args), **kwargs))


gradients = unsupported_function(
    "tf.gradients",
    "There are no graphs to differentiate. Compute inside `with tf.GradientTape() as tape:` and call "
    "tape.gradient(ys, xs).",
)
hessians = unsupported_function(
    "tf.hessians",
    "There are no graphs to differentiate. Nest two tf.GradientTape, and call tape.jacobian of the outer one.",
)
