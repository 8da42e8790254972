"""Values of traced arrays that are computed while the trace is running."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src import jax_hooks


def evaluate_while_tracing(function: Any, *arguments: Any) -> list[Any]:
    """What the arrays that ``function`` returns are, computed before its trace has ended."""
    found: list[Any] = []

    def traced(*tracers: Any) -> Any:
        known = dict(zip(map(jax_hooks.argument_variable, tracers), arguments, strict=True))
        values = function(*tracers)
        with jax.ensure_compile_time_eval():
            found.extend(jax_hooks.evaluate_traced(value, known) for value in values)
        return values

    jax.make_jaxpr(traced)(*arguments)
    return found


@pytest.mark.slow
def test_constants_arguments_and_jitted_parts_are_computed() -> None:
    weights = jnp.arange(3.0)

    def function(x: Any) -> Any:
        key = jax.random.key(1)
        return jax.random.normal(key, (2,)), jnp.sum(jax.nn.softmax(x * weights)), x

    found = evaluate_while_tracing(function, jnp.float32(2))
    for value, expected in zip(found, function(jnp.float32(2)), strict=True):
        assert not isinstance(value, jax.core.Tracer)
        np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_values_of_the_trace_around_it_are_computed_inside_of_a_branch_and_the_branchs_own_arguments_are_not() -> None:
    found: list[Any] = []

    def traced(x: Any) -> Any:
        known = {jax_hooks.argument_variable(x): 4.0}
        outer = x * 2

        def body(index: Any, total: Any) -> Any:
            with jax.ensure_compile_time_eval():
                found.append(jax_hooks.evaluate_traced(outer + 1, known))
                with pytest.raises(jax_hooks.NotEvaluableError, match="argument of a part"):
                    jax_hooks.evaluate_traced(total, known)
            return total + outer

        return jax.lax.fori_loop(0, 3, body, x)

    jax.make_jaxpr(traced)(4.0)
    assert found[0] == 9.0


def test_a_long_chain_needs_no_recursion() -> None:
    def function(x: Any) -> Any:
        for _ in range(3000):
            x = x + 1
        return (x,)

    assert evaluate_while_tracing(function, jnp.float32(0)) == [3000.0]


def test_values_of_other_transformations_are_refused() -> None:
    def function(x: Any) -> Any:
        with pytest.raises(jax_hooks.NotEvaluableError, match="transformation"):
            jax_hooks.evaluate_traced(x, {})
        return x

    jax.vmap(function)(jnp.ones(2))
