"""What makes a Python function that function: it stays, whatever is done to its control flow."""
# ruff: noqa: E731, RUF021, SIM108, UP008

import contextlib
import functools
import gc
import inspect
import traceback
import weakref

import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.tracing.control_flow import convert, do_not_convert, to_code

from ._compare import assert_like_python, assert_same, compiled

ONE, MINUS = jnp.float32(1), jnp.float32(-1)
SCALE = 2.0
COUNT = 0
LOG = []


def scaled(x):
    if x > 0:
        return x * SCALE
    return x


def test_globals_are_live(monkeypatch):
    converted = convert(scaled)
    assert float(converted(ONE)) == 2.0
    monkeypatch.setitem(scaled.__globals__, "SCALE", 5.0)
    assert float(converted(ONE)) == 5.0
    assert converted.__globals__ is scaled.__globals__


def test_a_global_that_is_assigned_in_a_branch():
    def count(x):
        global COUNT
        COUNT = x * 0
        if x > 0:
            COUNT = COUNT + 2
        result, COUNT = COUNT, 0
        return result

    assert_like_python(count, ONE, MINUS)
    assert COUNT == 0


def test_a_declaration_inside_of_a_branch():
    def count(flag):
        if flag:
            global COUNT
        return COUNT if flag else None

    assert convert(count)(True) == count(True) == 0


def test_a_parameter_that_a_function_inside_binds():
    def count(x, n):
        def add():
            nonlocal n
            n += 1

        if x > 0:
            add()
        for _ in x * jnp.ones(3):
            add()
        return n

    assert_like_python(count, (ONE, 0), (MINUS, 5))


def test_a_global_list_that_both_branches_append_to():
    def log(x):
        LOG.clear()
        if x > 0:
            LOG.append(x)
        else:
            LOG.append(-x)
        return LOG.pop()

    assert_like_python(log, ONE, MINUS)


def test_closures_are_live():
    scale = 2.0

    def inner(x):
        if x > 0:
            return x * scale
        return x

    converted = convert(inner)
    assert float(converted(ONE)) == 2.0
    scale = 3.0
    assert float(converted(ONE)) == 3.0


def test_a_name_of_an_outer_function_can_be_assigned():
    total = jnp.float32(0)

    def add(x):
        nonlocal total
        if x > 0:
            total = total + x
        else:
            total = total - 10

    def both(x):
        nonlocal total
        total = jnp.float32(0)
        add(x)
        add(-x)
        result, total = total, None
        return result

    assert_like_python(both, ONE, MINUS, jnp.float32(4))


def test_the_signature_and_the_attributes_are_kept():
    def function(a, /, b: int, c=3, *rest, d, e: float = 5.0, **others) -> float:
        """What it says."""
        return a if b else c + d + e

    function.mark = "mine"
    converted = convert(function)
    assert converted is not function
    assert inspect.signature(converted) == inspect.signature(function)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__annotations__", "__defaults__", "mark"):
        assert getattr(converted, name) == getattr(function, name)
    assert converted.__kwdefaults__ == {"e": 5.0}
    assert converted(0, 0, d=1) == function(0, 0, d=1) == 9.0
    assert inspect.getsource(converted) == inspect.getsource(function)


def test_wrapped_is_kept():
    def noted(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) if args else None

        return wrapper

    decorated = noted(scaled)
    converted = convert(decorated)
    assert converted.__wrapped__ is scaled
    assert inspect.signature(converted) == inspect.signature(scaled)
    assert convert(scaled) is not converted
    assert float(compiled(decorated)(ONE)) == 2.0


def test_the_same_function_is_converted_once():
    assert convert(scaled) is convert(scaled)
    assert convert(convert(scaled)) is convert(scaled)


def test_closures_of_one_definition_share_their_code():
    def make(scale):
        def inner(x):
            return x * scale if x > 0 else x

        return inner

    one, other = convert(make(2.0)), convert(make(3.0))
    assert one is not other
    assert one.__code__ is other.__code__
    assert (one(1.0), other(1.0)) == (2.0, 3.0)


@pytest.mark.slow
def test_a_converted_function_does_not_keep_the_function_alive():
    def make():
        def recursive(x):
            return recursive(x - 1) if x > 0 else x

        return recursive

    function = make()
    assert convert(function)(3) == 0
    alive = weakref.ref(function)
    del function
    gc.collect()
    assert alive() is None


def test_what_does_not_decide_is_returned_as_it_is():
    def plain(x):
        return x + 1

    assert convert(plain) is plain


def test_what_has_no_source_is_returned_as_it_is():
    names = {}
    exec("def typed(x):\n    return x if x > 0 else -x", names)
    assert convert(names["typed"]) is names["typed"]
    assert convert(len) is len
    assert convert(int) is int


def test_generators_and_coroutines_are_returned_as_they_are():
    def generator(n):
        if n > 0:
            yield n

    async def coroutine(n):
        return n if n > 0 else -n

    assert convert(generator) is generator
    assert convert(coroutine) is coroutine


def test_generators_inside_are_left_alone():
    def total(x):
        def parts():
            yield x
            if True:
                yield x * 2

        values = list(parts())
        if x > 0:
            values = [value + 1 for value in values if value is not None]
        return sum(values)

    assert_like_python(total, ONE, MINUS)


class Base:
    scale = 2.0
    __private = 3.0

    def call(self, x):
        if x > 0:
            return x * self.scale
        return x

    @classmethod
    def by_class(cls, x):
        return x * cls.scale if x > 0 else x

    @staticmethod
    def by_none(x):
        return x * 7 if x > 0 else x

    def private(self, x):
        self.__total = x
        if x > 0:
            self.__total = self.__total + self.__private

            def inner(y):
                return y * self.__private if y > 0 else y

            return inner(self.__total)
        return self.__total


class Derived(Base):
    def call(self, x):
        if x > 10:
            return super().call(x) + 100
        y = super().call(x)
        if x > 0:
            y = super(Derived, self).call(y) + 1
        return y

    def in_a_loop(self, xs):
        total = 0.0
        for x in xs:
            if x > 1:
                total = total + super().call(x)
        return total, __class__.__name__


@pytest.mark.parametrize("method", [Base().call, Derived().call, Base.by_class, Base.by_none, Base().private])
def test_methods(method):
    assert_like_python(method, ONE, MINUS, jnp.float32(20))


def test_super_inside_of_a_loop():
    assert_like_python(Derived().in_a_loop, jnp.arange(4.0))


def test_methods_are_bound_to_their_instance():
    base = Base()
    converted = convert(base.call)
    assert converted.__self__ is base
    assert converted == convert(base.call)


def test_callable_objects_and_partials():
    class Larger:
        def __init__(self, than):
            self.than = than

        def __call__(self, x):
            return x if x > self.than else self.than

    assert_like_python(Larger(0.5), ONE, MINUS)
    assert_like_python(functools.partial(lambda than, x: x if x > than else than, 0.5), ONE, MINUS)


def test_lambdas_are_found_among_others_of_their_line():
    up, down = (lambda x: x + 1 if x > 0 else x), (lambda x: x - 1 if x > 0 else x)
    both = (lambda x: (lambda y: y * 2 if y > 0 else y)(x))  # fmt: skip
    for function in (up, down, both):
        assert_like_python(function, ONE, MINUS)


def test_lambdas_of_several_lines():
    function = (
        lambda x: x
        if x > 0
        else -x
    )  # fmt: skip
    assert_like_python(function, ONE, MINUS)


def helper(x):
    while x < 10:
        x = x * 2
    return x


def test_functions_that_are_called_are_converted():
    def outer(x):
        return helper(x) + Base().call(x)

    assert_like_python(outer, ONE)


def recursive(x, depth):
    if depth == 0:
        return x
    return recursive(x * 2 if x < 10 else x + 1, depth - 1)


def test_a_function_that_calls_itself():
    assert_like_python(recursive, (ONE, 5), (jnp.float32(20), 3))


def test_functions_of_packages_are_not_converted():
    def outer(x):
        return np.clip(float(np.mean([1.0, 2.0])), 0, 1) + jnp.clip(x, 0, 1)

    assert_like_python(outer, ONE)


@do_not_convert
def left_alone(x):
    return x * 2 if x > 0 else x


def test_do_not_convert():
    assert convert(left_alone) is left_alone
    with pytest.raises(TypeError):
        compiled(lambda x: left_alone(x))(ONE)


def test_do_not_convert_inside_and_on_objects():
    def outer(x):
        @do_not_convert()
        def inner(flag):
            return 2.0 if flag else 3.0

        return x * inner(True) if x > 0 else x

    assert_like_python(outer, ONE, MINUS)
    wrapped = do_not_convert(Base().call)
    assert convert(wrapped) is wrapped
    assert wrapped(1.0) == 2.0


def test_tracebacks_show_the_lines_as_they_were_written():
    def wrong(x):
        if x > 0:
            x = x + 1
            raise KeyError("here")  # the line
        return x

    with pytest.raises(KeyError) as caught:
        compiled(wrong)(ONE)
    frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__]
    assert frames[-1].line == 'raise KeyError("here")  # the line'

    with pytest.raises(KeyError) as caught:
        convert(wrong)(ONE)
    assert traceback.extract_tb(caught.tb)[-1].line == 'raise KeyError("here")  # the line'
    assert traceback.extract_tb(caught.tb)[-1].name == "wrong"


def test_a_name_without_a_value_is_pythons_error():
    def wrong(x):
        for _ in range(x):
            total = total + 1  # noqa: F821, F841
        return x

    with pytest.raises(NameError, match="total"):
        compiled(wrong)(jnp.int32(2))
    with pytest.raises(NameError, match="total"):
        convert(wrong)(2)


def test_an_error_in_a_branch_leaves_names_and_lists_as_they_were():
    seen = [1.0]

    class Holder:
        total = 1.0

    holder = Holder()

    def wrong(x):
        if x > 0:
            seen.append(x)
            holder.total = x
            raise KeyError
        return x

    with pytest.raises(KeyError):
        compiled(wrong)(ONE)
    assert seen == [1.0]
    assert holder.total == 1.0


def test_else_break_and_continue_of_python_loops_are_pythons():
    def found(values, wanted):
        seen = []
        for value in values:
            if value == 0:
                continue
            if value == wanted:
                break
            seen.append(value)
        else:
            return seen, "not there"
        return seen, "there"

    converted = convert(found)
    for wanted in (2, 5):
        assert converted([0, 1, 2, 3], wanted) == found([0, 1, 2, 3], wanted)


def test_pythons_own_flow_out_of_blocks():
    def leave(values):
        for value in values:
            with contextlib.suppress(ZeroDivisionError):
                if value < 0:
                    break
                if value == 1:
                    continue
                if value > 5:
                    return "large"
                1 / value
            try:
                if value == 3:
                    continue
                if value == 4:
                    return "four"
            finally:
                values = list(values)
        else:
            return "end"
        return "negative"

    for values in ([1, 2], [2, -1], [9], [3, 4], [0, 0, 3]):
        assert convert(leave)(values) == leave(values)


def test_short_circuits_are_pythons():
    calls = []

    def called(value):
        calls.append(value)
        return value

    def decide(a, b):
        return called(a) and called(b) or called("last")

    for pair in ((0, 1), (1, 0), (1, 1), ([], 1)):
        assert convert(decide)(*pair) == decide(*pair)
        half = len(calls) // 2
        assert calls[:half] == calls[half:]
        calls.clear()


def test_comparisons_are_computed_once():
    calls = []

    def middle():
        calls.append(1)
        return 5

    assert convert(lambda: 1 < middle() < 3)() is False
    assert convert(lambda: 9 < middle() < 1 / 0)() is False
    assert calls == [1, 1]


def test_the_converted_code_can_be_read():
    text = to_code(scaled)
    assert text.startswith("def scaled(x):")
    assert "ag__.if_jump" in text
    assert to_code(convert(scaled)) == text
    with pytest.raises(ValueError, match="cannot be converted"):
        to_code(len)


def test_locals_can_be_looked_at():
    def look(x):
        if x > 0:
            y = x
        else:
            y = -x
        return sorted(name for name in locals() if not name.startswith("ag__"))

    assert_same(compiled(look)(ONE), ["x", "y"])
