"""Functions that look at their arguments in all ways that Python has, each with the calls that it is tried with."""
# ruff: noqa: E731, SIM108

from __future__ import annotations

import collections
from typing import Any, NamedTuple

import jax.numpy as jnp

from ._compare import numbers

CASES: dict[str, tuple[Any, list[Any]]] = {}


def case(*calls):
    def noted(function):
        CASES[function.__name__] = (function, list(calls))
        return function

    return noted


SIGNS = numbers(3.0, -2.0, 0.0)
XS = jnp.arange(1.0, 6.0)
ROWS = jnp.arange(6.0).reshape(3, 2)


# Choices.


@case(*SIGNS)
def both_branches_assign(x):
    if x > 0:
        y, z = x * 2, 1
    else:
        y, z = -x, 2
    return y + z


@case(*SIGNS)
def a_name_keeps_its_value_from_before(x):
    y = x + 1
    if x > 0:
        y = y * 3
    return y


@case(*numbers(3.0, -2.0, -8.0, 20.0))
def elif_chains(x):
    if x > 10:
        kind = 1
    elif x > 0:
        kind = 2
    elif x > -5:
        kind = 3
    else:
        kind = 4
    return kind


@case(*numbers(3.0, 12.0, -1.0))
def nested(x):
    y = 0.0
    if x > 0:
        if x > 10:
            y = x
        else:
            y = x * 2
        y += 1
    return y


@case(*SIGNS)
def a_name_of_one_branch_alone(x):
    if x > 0:
        doubled = x * 2
        x = doubled + 1
    return x


@case(*SIGNS)
def augmented_assignment(x):
    total = x
    if x > 0:
        total += 5
    else:
        total -= 5
        total *= 2
    return total


@case(*SIGNS)
def a_condition_that_is_a_number(x):
    if x:
        return x
    return x - 1


@case(*SIGNS)
def nothing_but_pass(x):
    if x > 0:
        pass
    return x


@case((jnp.float32(1), True), (jnp.float32(-1), True), (jnp.float32(1), False))
def traced_and_pythons_conditions(x, training):
    if training:
        if x > 0:
            x = x * 2
        if training and x > 1:
            x = x + 1
    elif x > 0:
        x = -x
    return x


@case(*SIGNS)
def python_values_that_agree_stay_pythons(x):
    if x > 0:
        size, name, scale = 2, "same", 1
    else:
        size, name, scale = 2, "same", 3
    return jnp.ones(size) * scale, name


@case(*SIGNS)
def structures(x):
    state = {"a": (x, [x, x])}
    if x > 0:
        state = {"a": (x + 1, [x * 2, 0.0])}
    return state


class Pair(NamedTuple):
    left: Any
    right: Any


@case(*SIGNS)
def named_tuples(x):
    pair = Pair(x, 1)
    if x > 0:
        pair = pair._replace(right=x)
    return pair


@case(*SIGNS)
def a_dict_that_both_branches_fill(x):
    logs = {}
    if x > 0:
        logs["loss"] = x
    else:
        logs["loss"] = -x
    return logs


@case(*SIGNS)
def a_dict_keeps_the_order_of_its_keys(x):
    logs = {"loss": x}
    if x > 0:
        logs["b"], logs["a"] = x + 1, x + 2
    else:
        logs["b"], logs["a"] = x - 1, x - 2
    for row in jnp.stack([x, -x]):
        logs["loss"] = logs["loss"] + row * row
        nested = {"z": logs["b"], "y": {"d": row, "c": 1.0}}
        if row > 0:
            nested = {"z": row, "y": {"d": row, "c": 2.0}}
        logs["a"] = logs["a"] + sum(index * value for index, value in enumerate(nested["y"].values()))
    return list(logs), list(logs.values())


@case(*SIGNS)
def a_dict_has_keys_of_several_types(x):
    table = {1: x, "one": -x, (2, 3): 0.0}
    if x > 0:
        table[None] = x * 2
        table[1] += 1
    else:
        table[None] = x * 3
    for row in jnp.stack([x, -x]):
        table[2, 3] += row * row
    return list(table.values())


@case(*SIGNS)
def the_branches_fill_a_dict_in_different_orders(x):
    logs = {}
    if x > 0:
        logs["b"], logs["a"] = x, x + 1
    else:
        logs["a"], logs["b"] = x - 1, x
    inner = {"p": 0.0, "q": x}
    for row in jnp.stack([x, -x]):
        inner = {"q": inner["q"] + row * row, "p": inner["p"] - 1}
    return logs["a"], logs["b"], inner["p"], inner["q"]


@case(*SIGNS)
def a_dict_with_a_default(x):
    counts = collections.defaultdict(float, {"z": 1.0})
    if x > 0:
        counts["b"] += x
    else:
        counts["b"] -= x
    for row in jnp.stack([x, -x]):
        counts["z"] += row * row
    counts["a"] += 1
    return list(counts), list(counts.values())


@case(*SIGNS)
def a_list_that_both_branches_append_to(x):
    outputs = [x]
    if x > 0:
        outputs.append(x * 2)
    else:
        outputs.append(x * 3)
    return outputs


@case(*SIGNS)
def a_list_of_a_branch(x):
    if x > 0:
        parts = []
        parts.append(x)
        parts.append(x * 2)
        x = sum(parts)
    return x


class Box:
    pass


@case(*SIGNS)
def attributes(x):
    box = Box()
    box.total, box.inner = 0.0, Box()
    box.inner.count = 1
    if x > 0:
        box.total += x
        box.inner.count = box.inner.count + 1
    return box.total, box.inner.count


# Returns.


@case(*SIGNS)
def return_in_both_branches(x):
    if x > 0:
        return x * 2
    else:
        return -x


@case(*SIGNS)
def early_return(x):
    if x > 0:
        return x * 2
    y = x - 1
    return y * y


@case(*numbers(3.0, 12.0, 30.0, -1.0))
def early_returns_in_a_row(x):
    if x > 20:
        return x
    x = x + 1
    if x > 10:
        return x * 2
    x = x * 3
    if x > 0:
        return -x
    return x


@case(*numbers(3.0, 12.0, 30.0, -1.0))
def returns_in_nested_branches(x):
    y = x
    if x > 0:
        if x > 10:
            if x > 20:
                return y
            y = y + 1
        y = y * 2
    else:
        y = y - 1
    return y * 10


@case((jnp.float32(1), True), (jnp.float32(-1), True), (jnp.float32(1), False))
def pythons_condition_around_a_return(x, flag):
    y = x
    if flag:
        if x > 0:
            return y + 100
        y = y + 1
    return y * 2


@case((jnp.float32(1), None), (jnp.float32(-1), None), (jnp.float32(1), 2.0))
def defaults_that_are_none(x, scale):
    if scale is None:
        if x > 0:
            return x
        scale = 3.0
    return x * scale


@case(*SIGNS)
def returns_structures(x):
    if x > 0:
        return {"a": x, "b": [1, x]}
    return {"a": x + 1, "b": [2, x]}


@case(*SIGNS)
def python_loop_after_an_early_return(x):
    outputs = []
    if x > 0:
        return [x, x]
    for scale in (1, 2):
        outputs.append(x * scale)
    return outputs


@case(*SIGNS)
def return_from_a_python_loop_after_an_early_return(x):
    if x > 0:
        return x
    for scale in (1, 2, 3):
        if scale == 2:
            return x * scale
    return x


@case(*SIGNS)
def branches_that_return_nothing(x):
    if x > 0:
        return
    x = x + 1


# Loops.


@case(*numbers(1.0, 30.0, 500.0))
def while_on_a_value(x):
    n = 0
    while x < 100:
        x = x * 2
        n += 1
    return x, n


@case(*numbers(1, 4, 0))
def for_over_a_range_of_unknown_length(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@case(
    (jnp.int32(1), jnp.int32(9), jnp.int32(3)), (jnp.int32(9), jnp.int32(1), jnp.int32(-3)), (jnp.int32(2),) * 2 + (1,)
)
def ranges_with_start_and_step(start, limit, step):
    total = start * 0
    for i in range(start, limit, step):
        total = total * 10 + i
    return total


@case(XS, XS * -1)
def for_over_an_array(xs):
    total = 0.0
    for x in xs:
        total = total + x
    return total


@case(ROWS)
def for_over_rows(rows):
    total = jnp.zeros(2)
    for row in rows:
        total = total + row * row
    return total


@case(jnp.zeros((0, 2)))
def for_over_nothing(rows):
    total = jnp.zeros(2)
    for row in rows:
        total = total + row
    return total


@case(ROWS)
def unpacked_rows(rows):
    total = 0.0
    for a, b in rows:
        total = total * 2 + a - b
    return total


@case(XS)
def enumerated(xs):
    total = 0.0
    for i, x in enumerate(xs, 2):
        total = total + i * x
    return total


@case((XS, XS + 1), (XS, XS[:3]))
def zipped(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        total = total + x * y
    return total


@case(XS)
def the_last_value_of_the_loops_name(xs):
    for x in xs:
        doubled = x * 2
    return x, doubled


@case(XS)
def names_of_the_body_alone(xs):
    total = 0.0
    for x in xs:
        square = x * x
        if square > 4:
            half = square / 2
            total = total + half
    return total


@case(XS)
def integers_become_what_they_are_added_to(xs):
    total = 0
    for x in xs:
        total += x
    return total


@case(XS)
def structures_in_loops(xs):
    state = {"sum": 0.0, "seen": (0, jnp.zeros(2))}
    for x in xs:
        count, last = state["seen"]
        state = {"sum": state["sum"] + x, "seen": (count + 1, last + x)}
    return state


@case(XS)
def a_list_changed_in_place(xs):
    state = [0.0, 1.0]
    for x in xs:
        state[0] += x
        state[1] = state[1] * x
    return state


@case(XS)
def swapped(xs):
    a, b = 0.0, 1.0
    for x in xs:
        a, b = b, a + b * x
    return a, b


@case(ROWS)
def loops_in_loops(rows):
    total, count = 0.0, 0
    for row in rows:
        for x in row:
            total = total + x
            if x > 2:
                count += 1
    return total, count


@case(*numbers(5, 0))
def while_in_for(n):
    total = 0
    for i in range(n):
        k = i
        while k > 0:
            total += k
            k -= 2
    return total


@case(XS)
def break_in_for(xs):
    total = 0.0
    for x in xs:
        if x > 3:
            break
        total = total + x
    return total, x


@case(XS)
def continue_in_for(xs):
    total = 0.0
    for x in xs:
        if x == 2:
            continue
        total = total + x
    return total


@case(XS, XS + 2, XS * 0)
def break_and_continue(xs):
    total, n = 0.0, 0
    for x in xs:
        n += 1
        if x == 2:
            total = total + 100
            continue
        elif x > 3:
            if x > 4:
                break
            total = total * 2
        total = total + x
    return total, n


@case(*numbers(1.0, 60.0, 1000.0))
def break_in_while(x):
    n = 0
    while x < 500:
        x = x * 3
        n += 1
        if x > 100:
            if n > 1:
                break
            x = x + 1
    return x, n


@case(*numbers(1.0, 3.0, 6.0))
def a_jump_in_a_later_branch(x):
    state, last = [x], x
    while x < 50:
        x = x * 2
        if x < 5:
            pass
        elif x < 20:
            continue
        last = last + x + state[0]
    return x, last


@case(*numbers(3.0, 9.0))
def a_choice_before_a_break(x):
    n = x * 0
    while n < 3 and x > 2:
        n += 1
        if x > 5:
            x = x - 1
        if x > 4:
            continue
        break
    return n


@case(*numbers(7, 0))
def break_in_a_range_of_unknown_length(n):
    total = 0
    for i in range(n):
        if i * i > 10:
            break
        total += i
    return total


@case(XS)
def else_of_a_loop(xs):
    total = 0.0
    for x in xs:
        total = total + x
    else:
        total = total * 2
    return total


@case((XS, jnp.float32(2)), (XS, jnp.float32(-2)))
def a_loop_in_a_branch(xs, scale):
    total = 0.0
    if scale > 0:
        for x in xs:
            total = total + x * scale
        while total < 100:
            total = total * 2
    return total


@case((XS, jnp.float32(2)), (XS, jnp.float32(-2)))
def a_python_loop_in_a_branch(xs, scale):
    total = 0.0
    if scale > 0:
        for k in range(3):
            if k == 1:
                continue
            total = total + xs[k] * scale
        else:
            total = total + 1
        for k in [1, 2, 3]:
            if k == 2:
                break
            total = total + k
        else:
            total = total + 1000
        n = 0
        while n < 2:
            n += 1
            total += n
    return total


@case(jnp.float32(1), jnp.float32(-1))
def a_loop_that_pythons_condition_ends(x):
    n, values = 0, []
    while n < 3:
        values.append(x)
        n = n + 1
    return values


@case(jnp.float32(1), jnp.float32(300))
def a_condition_that_becomes_traced(x):
    done, n = False, 0
    while not done:
        x = x * 2
        n += 1
        done = x > 100
    return x, n


@case(XS)
def for_over_arrays_in_a_list(xs):
    total = 0.0
    for part in [xs, xs * 2]:
        if part[0] > 1:
            total = total + part[1]
    return total


# Expressions.


@case(*numbers(3.0, -2.0, 12.0))
def and_or_not(x):
    y = 0
    if x > 0 and x < 10:
        y += 1
    if x < 0 or x > 10:
        y += 2
    if not x > 0:
        y += 4
    if not (x > 0 and (x < 5 or x > 11)):
        y += 8
    return y


@case((jnp.float32(1), None), (jnp.float32(1), 2.0), (jnp.float32(-1), 0.0))
def and_or_with_python_values(x, other):
    scale = other or 3.0
    if other is not None and x > 0:
        scale = scale + 1
    flag = other and x > 0
    return x * scale, flag is None


@case(*numbers(3.0, -2.0, 12.0))
def conditional_expressions(x):
    return (x if x > 0 else -x) + (1 if x > 10 else 2 if x > 0 else 3)


@case(*numbers(3.0, -2.0, 12.0))
def chained_comparisons(x):
    if 0 < x < 10:
        x = x + 1
    return x if 0 < x <= 4 != 3 else x * 2


@case(*numbers(3.0, -2.0))
def lambdas_inside(x):
    pick = lambda a, b: a if a > b else b
    return pick(x, 1.0) + (lambda z: z if z > 0 else 0.0)(x)


@case(*numbers(3.7, -2.2))
def numbers_of_python(x):
    return int(x) + float(int(x)) * 2


@case(jnp.int32(3), jnp.int32(0))
def walrus(n):
    total = 0
    while (k := n * 2) > 1:
        total += k
        n = n - 1
    if (rest := total - n) > 3:
        total = rest
    return total, k


# Functions inside, blocks.


@case(*SIGNS)
def functions_inside(x):
    def larger(a, b=0.5):
        if a > b:
            return a
        return b

    def counted(n):
        total = 0
        for i in range(n):
            total += i
        return total

    return larger(x) + counted((x * x).astype("int32"))


@case(*SIGNS)
def nonlocal_inside(x):
    count = 0

    def add():
        nonlocal count
        count += 1

    if x > 0:
        add()
        add()
    return x + count


@case(*SIGNS)
def with_blocks(x):
    import contextlib

    y = x
    with contextlib.nullcontext(2.0) as scale:
        if x > 0:
            y = y * scale
        for _ in range(2):
            with contextlib.nullcontext():
                y = y + 1
    return y


@case(*SIGNS)
def try_blocks(x):
    try:
        if x > 0:
            x = x * 2
        raise KeyError("k")
    except KeyError as error:
        if x > 0:
            x = x + len(error.args)
    finally:
        if x > 1:
            x = x + 10
    return x


@case((jnp.float32(1), 1), (jnp.float32(-1), 1), (jnp.float32(1), [2, 3]), (jnp.float32(1), "z"))
def match_blocks(x, kind):
    match kind:
        case 1:
            if x > 0:
                x = x + 1
        case [a, b]:
            x = x * a if x > 0 else x * b
        case other:
            if x > 0 and other:
                x = x - 1
    return x


@case(*SIGNS)
def annotated(x):
    y: float = 0.0
    if x > 0:
        y: float = x
        z: float
        z = y
        y = z * 2
    return y


@case(*SIGNS)
def deleted(x):
    y = x
    if x > 0:
        z = y * 2
        y = z
        del z
    return y
