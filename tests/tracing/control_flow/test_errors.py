"""What cannot be compiled is refused with the line as it was written, the names in it, and what to write instead."""
# ruff: noqa: E501, SIM108

import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.tracing.control_flow import ControlFlowError, convert

from ._compare import compiled

ONE, XS, THREE = jnp.float32(1), jnp.arange(4.0), jnp.int32(3)


def one_branch_only(x):
    if x > 0:
        y = x
    return y


def one_branch_deletes(x):
    y = x
    if x > 0:
        del y
    return y


def other_dtype(x):
    if x > 0:
        y = x
    else:
        y = jnp.int32(2)
    return y


def other_shape(x):
    y = jnp.zeros(2)
    if x > 0:
        y = x
    return y


def none_or_an_array(x):
    y = None
    if x > 0:
        y = x
    return y


def other_structure(x):
    y = (x, x)
    if x > 0:
        y = {"a": x}
    return y


def other_objects(x):
    name = "small"
    if x > 0:
        name = "large"
    return name


def one_branch_appends(x):
    values = []
    if x > 0:
        values.append(x)
    return values


def one_branch_returns(x):
    if x > 0:
        return x


def returns_of_two_kinds(x):
    if x > 0:
        return x
    return x, x


def vectors(x):
    if x * jnp.ones(3) > 0:
        return x
    return -x


def vectors_in_and(x):
    return x if x > 0 and x * jnp.ones(3) > 0 else -x


def python_loop_breaks(x):
    for _ in range(5):
        x = x * 2
        if x > 10:
            break
    return x


def python_loop_returns(x):
    for _ in range(5):
        x = x * 2
        if x > 10:
            return x
    return x


def block_returns(x):
    with jax.named_scope("a"):
        if x > 0:
            return x
        x = x + 1
    return x


def block_returns_and_binds(x):
    with jax.named_scope("a"):
        if x > 0:
            return x
        y = x + 1
    return y


def calls_itself(x):
    if x > 0:
        return x + calls_itself(x - 1)
    return x


def asserts(x):
    assert x > 0
    return x


def conditional_expression(x):
    return x if x > 0 else "none"


IFS = {
    one_branch_only: r"`y` gets a value in one branch only(.|\n)*    y = \.\.\.",
    one_branch_deletes: r"`y` gets a value in one branch only",
    other_dtype: r"`y` is\n    an array of shape \(\) and dtype float32\nif (.|\n)*dtype int32(.|\n)*tf\.cast\(x, tf\.float32\)",
    none_or_an_array: r"`y` is\n    an array (.|\n)*    None\n(.|\n)*tf\.zeros",
    other_structure: r"`y` is\n    a dict of \{'a': an array(.|\n)*a tuple of \(an array(.|\n)*same structure",
    other_objects: r"`name` is\n    'large'\n(.|\n)*'small'",
    one_branch_appends: r"`values` is\n    a list of \(an array(.|\n)*a list of \(nothing\)(.|\n)*values\.append\(tf\.where",
    one_branch_returns: r"returns a value in one case and none in the other(.|\n)*    return b",
    returns_of_two_kinds: r"What is returned is\n    an array(.|\n)*a tuple of",
    vectors: r"an array of shape \(3,\)(.|\n)*tf\.reduce_all\(condition\)(.|\n)*tf\.where",
    vectors_in_and: r"an array of shape \(3,\)(.|\n)*tf\.reduce_all",
    python_loop_breaks: r"`break` on a condition(.|\n)*for i in tf\.range\(10\):",
    python_loop_returns: r"One branch ends with `return` and the other one continues with the next iteration of the loop(.|\n)*break",
    block_returns: r"One branch ends with `return` and the other one continues with the end of the block(.|\n)*after the block",
    block_returns_and_binds: r"One branch ends with `return` and the other one continues with the end of the block(.|\n)*after the block",
    calls_itself: r"\d\d conditionals or loops are nested here(.|\n)*calls itself(.|\n)*write a\n?`while`",
    asserts: r"`assert` is known only when the program runs(.|\n)*tf\.debugging\.Assert",
    conditional_expression: r"an array(.|\n)*'none'",
}
LINES = {
    vectors_in_and: "return x if x > 0 and x * jnp.ones(3) > 0 else -x",
    python_loop_breaks: "if x > 10:",
    python_loop_returns: "if x > 10:",
    asserts: "assert x > 0",
    conditional_expression: 'return x if x > 0 else "none"',
    vectors: "if x * jnp.ones(3) > 0:",
}


@pytest.mark.parametrize("function", IFS, ids=lambda function: function.__name__)
def test_a_choice_is_refused_with_its_rewrite(function):
    with pytest.raises(ControlFlowError, match=IFS[function]) as error:
        compiled(function)(ONE)
    first = str(error.value).splitlines()[0]
    assert first.startswith("line ")
    assert first.endswith(f" of test_errors.py: `{LINES.get(function, 'if x > 0:')}`")


def list_grows(xs):
    values = []
    for x in xs:
        values.append(x)
    return values


def attribute_list_grows(xs):
    class Holder:
        def __init__(self):
            self.values = []

    holder = Holder()
    for x in xs:
        holder.values.append(x)
    return holder.values


def dtype_changes(xs):
    total = jnp.int32(0)
    for x in xs:
        total = total + x
    return total


def whole_numbers_become_fractions(xs):
    n = jnp.int32(8)
    for _ in xs:
        n = n / 2
    return n


def shape_changes(xs):
    rows = jnp.zeros((1, 2))
    for x in xs:
        rows = jnp.concatenate([rows, jnp.ones((1, 2)) * x])
    return rows


def begins_with_none(xs):
    best = None
    for x in xs:
        best = x
    return best


def structure_changes(xs):
    state = (0.0, 0.0)
    for x in xs:
        state = (x, x, x)
    return state


def returns_inside(xs):
    for x in xs:
        if x > 2:
            return x
    return xs[0]


def always_returns_inside(xs):
    for x in xs:
        return x
    return xs[0]


def break_with_else(xs):
    for x in xs:
        if x > 2:
            break
    else:
        x = xs[0]
    return x


LOOPS = {
    list_grows: r"`values` is\n    a list of \(nothing\)\nbefore the loop(.|\n)*tf\.map_fn(.|\n)*for i in range\(10\):",
    attribute_list_grows: r"`holder\.values` is\n    a list of \(nothing\)(.|\n)*tf\.map_fn",
    dtype_changes: r"`total` is\n    an array of shape \(\) and dtype int32\nbefore (.|\n)*total = tf\.cast\(total, tf\.float32\)",
    whole_numbers_become_fractions: r"`n` is\n    an array of shape \(\) and dtype int32",
    begins_with_none: r"`best` is\n    None\nbefore(.|\n)*best = tf\.zeros\(shape\)",
    structure_changes: r"`state` is\n    a tuple of \((.|\n)*structure that it has in the end",
    returns_inside: r"`return` and the other one continues with the next iteration",
    always_returns_inside: r"`return` inside this loop",
    break_with_else: r"cannot have an `else`(.|\n)*found = True",
}


@pytest.mark.parametrize("function", LOOPS, ids=lambda function: function.__name__)
def test_a_loop_is_refused_with_its_rewrite(function):
    with pytest.raises(ControlFlowError, match=LOOPS[function]) as error:
        compiled(function)(XS)
    lines = {returns_inside: "if x > 2:", whole_numbers_become_fractions: "for _ in xs:"}
    assert str(error.value).splitlines()[0].endswith(f" of test_errors.py: `{lines.get(function, 'for x in xs:')}`")


@pytest.mark.parametrize(
    ("function", "argument", "reason", "error"),
    [
        (
            other_shape,
            ONE,
            "`y` has another shape in each branch",
            r"`y` is\n    an array of shape \(\) (.|\n)*shape \(2,\)(.|\n)*tf\.reshape",
        ),
        (
            shape_changes,
            XS,
            "shape of `rows` changes in a loop",
            r"`rows` is\n    an array of shape \(1, 2\)(.|\n)*shape \(2, 2\)(.|\n)*shape that it has in the end",
        ),
    ],
)
def test_what_needs_several_shapes_runs_on_the_host_or_is_refused_where_that_is_impossible(
    function, argument, reason, error
):
    with pytest.warns(UserWarning, match=f"{function.__name__} is not compiled, but runs on the host.*{reason}"):
        result = compiled(function)(argument)
    np.testing.assert_array_equal(result, function(argument))
    with pytest.raises(ControlFlowError, match=error):
        jax.jit(convert(function))(argument)


def test_a_name_that_a_loop_of_unknown_length_may_leave_without_a_value():
    @compiled
    def last(n):
        for i in range(n):
            y = jnp.ones(2) * i
        return y

    with pytest.raises(
        ControlFlowError, match=r"`y` gets its value inside(.|\n)*    y = tf\.zeros\(\[2\], tf\.float32\)"
    ):
        last(THREE)


def test_a_walrus_in_the_test_of_a_loop_with_a_break():
    @compiled
    def wrong(n):
        while (k := n * 2) > 1:
            n = n - 1
            if n == 1:
                break
        return k

    with pytest.raises(ControlFlowError, match="binds a name with `:=`"):
        wrong(THREE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["    if x > {i}: return x * {i}\n", "    {word} x > {i}: y = x * {i}\n"], ids=["returns", "elif"]
)
def test_many_choices_in_a_row(tmp_path, line):
    def made(number):
        lines = (line.format(i=number - i, word="elif" if i else "if") for i in range(number))
        text = f"def chosen_{number}(x):\n    y = x\n{''.join(lines)}    return y\n"
        (tmp_path / f"many_{number}.py").write_text(text)
        names = {}
        exec(compile(text, tmp_path / f"many_{number}.py", "exec"), names)
        return compiled(names[f"chosen_{number}"])

    assert float(made(15)(jnp.float32(10.5))) == 10.5 * 10
    with pytest.raises(
        ControlFlowError, match=r"many_60\.py: `if x > 60(.|\n)*conditionals or loops(.|\n)*results\[number\]"
    ):
        made(60)(ONE)
    with pytest.raises(ControlFlowError, match=r"chosen_400 cannot be converted: too many(.|\n)*@do_not_convert"):
        made(400)


def test_an_endless_recursion_inside_of_a_branch_stays_one():
    def endless(x):
        return endless(x + 1)

    @compiled
    def wrong(x):
        if x > 0:
            x = endless(x)
        return x

    with pytest.raises(RecursionError):
        wrong(ONE)


def test_the_error_without_tf_says_where_the_functions_are(monkeypatch):
    monkeypatch.setitem(sys.modules, "unisono.tf", None)
    monkeypatch.delitem(sys.modules, "unisono.tf")
    with pytest.raises(ControlFlowError, match=r"tf\.cast\(x, tf\.float32\)(.|\n)*keras\.ops\.cast"):
        compiled(other_dtype)(ONE)
    with pytest.raises(ControlFlowError) as error:
        compiled(one_branch_only)(ONE)
    assert "keras.ops" not in str(error.value)
    monkeypatch.setitem(sys.modules, "unisono.tf", object())
    with pytest.raises(ControlFlowError) as error:
        compiled(other_dtype)(ONE)
    assert "keras.ops" not in str(error.value)


def test_long_lines_are_cut():
    @compiled
    def long(x):
        if x > 0 and x > 1 and x > 2 and x > 3 and x > 4 and x > 5 and x > 6 and x > 7 and x > 8 and x > 9:
            return x

    with pytest.raises(ControlFlowError, match=r": `if x > 0 and .* and x > 7 …`\n"):
        long(ONE)


def test_a_value_of_a_branch_that_was_kept_elsewhere_is_explained():
    class Store:
        def keep(self, x):
            self.kept = x

    store = Store()

    @compiled
    def wrong(x):
        if x > 0:
            store.keep(x * 2)
        return store.kept + 1

    with pytest.raises(TypeError, match=r"uses a value outside the part(.|\n)*created on line .*test_errors.py"):
        wrong(ONE)
