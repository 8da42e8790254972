"""Variables that branches and loops read and assign."""
# ruff: noqa: SIM108

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.tracing.control_flow import ControlFlowError, convert

from ._compare import compiled


def both(function, *calls, variables):
    """Runs the calls twice, in Python and compiled, from the same values. Returns what variables and results were."""
    first = [np.asarray(variable) for variable in variables]
    seen = []
    for run in (function, compiled(function)):
        for variable, value in zip(variables, first, strict=True):
            variable.assign(value)
        results = [np.asarray(run(*call)) for call in calls]
        seen.append((results, [np.asarray(variable) for variable in variables]))
    return seen


def assert_both_same(function, *calls, variables):
    (results, values), (compiled_results, compiled_values) = both(function, *calls, variables=variables)
    for one, other in zip(results + values, compiled_results + compiled_values, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


CALLS = [(jnp.float32(x),) for x in (1.0, -2.0, 5.0)]


def test_an_assignment_takes_effect_in_the_branch_that_is_taken():
    a, b = keras.Variable(1.0), keras.Variable(2.0)

    def choose(x):
        if x > 0:
            a.assign_add(x)
            b.assign(a * 2)
        else:
            a.assign_sub(1.0)
        return a + b

    assert_both_same(choose, *CALLS, variables=[a, b])


def test_assignments_before_an_early_return():
    a = keras.Variable(1.0)

    def choose(x):
        if x > 0:
            a.assign_add(x)
            if x > 3:
                a.assign(100.0)
                return a * 2
            a.assign_add(0.5)
        a.assign_add(10.0)
        return a * 3

    assert_both_same(choose, *CALLS, variables=[a])


def test_a_variable_is_carried_by_a_loop():
    a, b = keras.Variable(0.0), keras.Variable(np.ones(2, "float32"))

    def loop(xs):
        for x in xs:
            a.assign_add(x)
            b.assign(b * 2 + a)
        return a + b[0]

    assert_both_same(loop, (jnp.arange(4.0),), (jnp.ones(4),), variables=[a, b])


def test_a_variable_is_tested_and_assigned_by_a_while_loop():
    steps, total = keras.Variable(0), keras.Variable(0.0)

    def loop(x):
        steps.assign(0)
        while steps < 5 and total < 100:
            steps.assign_add(1)
            total.assign_add(x)
        return total * 1

    assert_both_same(loop, *CALLS, variables=[steps, total])


def test_a_variable_is_a_condition():
    flag, total = keras.Variable(True, dtype="bool"), keras.Variable(0.0)

    def choose(x):
        if flag:
            total.assign_add(x)
        flag.assign(x > 0)
        return total * 1

    program = compiled(choose)
    assert [float(program(x)) for (x,) in CALLS] == [1.0, -1.0, -1.0]


def test_loops_in_branches_in_loops():
    total, count = keras.Variable(0.0), keras.Variable(0)

    def loop(xs):
        for x in xs:
            if x > 1:
                while total < x * 10:
                    total.assign_add(x)
                    count.assign_add(1)
                    if count > 8:
                        break
            else:
                total.assign_sub(1.0)
        return total * 1

    assert_both_same(loop, (jnp.arange(4.0),), (jnp.arange(4.0),), variables=[total, count])


@pytest.mark.slow
def test_a_loop_that_trains():
    weight = keras.Variable(np.zeros(3, "float32"))
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build([weight])
    losses = []

    def train(x, y, steps):
        loss = 0.0
        for _ in range(steps):
            with unisono.GradientTape() as tape:
                loss = keras.ops.mean((keras.ops.matmul(x, weight[:, None])[:, 0] - y) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
        return loss

    x, y = np.random.default_rng(0).normal(size=(8, 3)).astype("float32"), np.ones(8, "float32")
    variables = [weight, *optimizer.variables]
    first = [np.asarray(variable) for variable in variables]
    for run, steps in ((train, 5), (compiled(train), jnp.int32(5)), (compiled(train), jnp.zeros(5))):
        for variable, value in zip(variables, first, strict=True):
            variable.assign(value)
        if np.ndim(steps):  # rows: a trip count that is known

            def train_rows(x, y, rows):
                loss = 0.0
                for _ in rows:
                    with unisono.GradientTape() as tape:
                        loss = keras.ops.mean((keras.ops.matmul(x, weight[:, None])[:, 0] - y) ** 2)
                    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
                return loss

            run = compiled(train_rows)
        losses.append((float(run(x, y, steps)), np.asarray(weight)))
    for loss, value in losses[1:]:
        np.testing.assert_allclose(loss, losses[0][0], rtol=1e-5)
        np.testing.assert_allclose(value, losses[0][1], rtol=1e-5)
    assert int(optimizer.iterations) == 5


def test_random_numbers_differ_from_iteration_to_iteration():
    seeds = keras.random.SeedGenerator(1)

    @compiled
    def draw(rows):
        first, last = 0.0, 0.0
        for i, _ in enumerate(rows):
            last = keras.random.normal((), seed=seeds)
            if i == 0:
                first = last
        return first, last

    first, last = draw(jnp.zeros(3))
    assert float(first) != float(last)
    assert draw(jnp.zeros(3))[0] != first


def test_variables_may_be_made_in_a_branch_on_the_first_call():
    layer = keras.layers.Dense(2)

    @compiled
    def choose(x, flag):
        if flag > 0:
            y = layer(x)
        else:
            y = x
        return y

    x = np.ones((1, 2), "float32")
    np.testing.assert_allclose(choose(x, jnp.float32(1)), layer(x), rtol=1e-6)
    np.testing.assert_allclose(choose(x, jnp.float32(0)), x)


def test_a_metric_is_updated_in_a_branch():
    mean = keras.metrics.Mean()

    @compiled
    def note(x):
        if x > 0:
            mean.update_state(x)

    for x in (1.0, -5.0, 3.0):
        note(jnp.float32(x))
    assert float(mean.result()) == 2.0


def test_the_test_of_a_loop_must_not_assign():
    state = keras.Variable(0.0)

    @compiled
    def wrong(x):
        while state.assign_add(1.0) < x:
            x = x - 1
        return x

    with pytest.raises(ControlFlowError, match=r"`while state.assign_add\(1.0\) < x:`\n.*assigns variables"):
        wrong(jnp.float32(5))


def test_variables_can_be_chosen_between():
    a, b = keras.Variable(1.0), keras.Variable(2.0)

    @compiled
    def choose(x):
        rate = a if x > 0 else b
        if x > 3:
            other = b
        else:
            other = a
        return rate * 10 + other

    assert [float(choose(x)) for (x,) in CALLS] == [11.0, 21.0, 12.0]


def test_a_name_for_a_variable_stays_one_after_a_loop():
    state = keras.Variable(0.0)

    @compiled
    def loop(xs):
        for x in xs:
            target = state
            target.assign_add(x)
        target.assign(target * 2)

    loop(jnp.arange(4.0))
    assert float(state) == 12.0


def test_the_value_of_a_variable_is_where_a_loop_begins():
    start = keras.Variable(3.0)

    @compiled
    def loop(xs):
        state = start
        for x in xs:
            state = state * x
        return state

    assert float(loop(jnp.array([2.0, 5.0]))) == 30.0


def test_without_a_scope_of_ours_variables_are_read_and_assigned_as_keras_does():
    a = keras.Variable(1.0)

    def choose(x):
        if x > 0:
            a.assign_add(x)
        for y in x[None] * jnp.ones(3):
            a.assign_add(y)
        return a * 1

    @jax.jit
    def pure(value, x):
        with keras.StatelessScope([(a, value)]) as scope:
            result = convert(choose)(x)
        return result, scope.get_current_value(a)

    assert [float(each) for each in pure(1.0, 2.0)] == [9.0, 9.0]
    assert [float(each) for each in pure(1.0, -2.0)] == [-5.0, -5.0]
    assert float(a) == 1.0


def test_a_branch_that_is_traced_by_itself_still_refuses_assignments_that_would_be_lost():
    state = keras.Variable(0.0)

    @compiled
    def wrong(xs):
        def body(carry, x):
            if x > 0:
                state.assign_add(x)
            return carry, None

        return jax.lax.scan(body, 0.0, xs)

    with pytest.raises(RuntimeError, match="assigned inside a part of the function that JAX traces by itself"):
        wrong(jnp.ones(3))


@jax.tree_util.register_pytree_node_class
class RowsOfALoop:
    """An object without arrays, until the first row is written."""

    def __init__(self, size, rows=None):
        self.size, self.rows = size, rows

    def write(self, index, row):
        rows = jnp.zeros((self.size, *row.shape)) if self.rows is None else self.rows
        return RowsOfALoop(self.size, rows.at[index].set(row))

    def begin_like(self, other):
        return self if other.rows is None else RowsOfALoop(self.size, jnp.zeros(other.rows.shape))

    def tree_flatten(self):
        return (self.rows,), self.size

    @classmethod
    def tree_unflatten(cls, size, children):
        return cls(size, *children)


def test_an_object_may_begin_a_loop_without_its_arrays():
    @compiled
    def collect(xs):
        state = (RowsOfALoop(4), 0)
        for x in xs:
            rows, n = state
            state = (rows.write(n, x * jnp.ones(2)), n + 1)
        return state[0].rows

    assert collect(jnp.arange(4.0)).tolist() == [[0, 0], [1, 1], [2, 2], [3, 3]]
