"""Random programs of nested choices, loops and jumps: compiled they give what Python gives."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from pathlib import Path

import jax.numpy as jnp
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from ._compare import assert_like_python

NAMES = ["a", "b", "c", 's["left"]', "s['right'][0]", "variable"]
READ = [*NAMES[:-1], "(variable + 0.0)"]  # its value: a name for the variable itself would see later assignments

START = """
variable.assign(x)
a, b, c = x % 7.0, (x * 3.0) % 7.0, y % 7.0
s = {"left": a, "right": [b]}
"""


class Program:
    """Draws the source of a function. Names stay between 0 and 7, so that nothing overflows."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self._counter = itertools.count()

    def source(self) -> str:
        body = self._block(depth=3, in_loop=False, names=READ)
        function = "def program(x, y, xs):\n" + _indented(f"{START}\n{body}\n{self._result()}")
        return f"import keras\n\nvariable = keras.Variable(0.0)\n\n\n{function}\n"

    def _pick(self, *choices: str) -> str:
        return self._data.draw(st.sampled_from(choices))

    def _result(self) -> str:
        return "return a, b, c, s, variable + 0.0"

    def _block(self, depth: int, in_loop: bool, names: list[str]) -> str:
        count = self._data.draw(st.integers(1, 3))
        return "\n".join(self._statement(depth, in_loop, names) for _ in range(count))

    def _statement(self, depth: int, in_loop: bool, names: list[str]) -> str:
        simple = ("assign", "assign", "add", "temporary")
        kind = self._pick(*simple, *(("if", "if", "if", "for", "while") if depth else ()))
        name, value = self._pick(*NAMES), self._expression(names)
        if name == "variable" and kind in simple:
            return f"variable.{'assign_add' if kind == 'add' else 'assign'}({value})\nvariable.assign(variable % 7.0)"
        if kind == "assign":
            return f"{name} = {value}"
        if kind == "add":
            return f"{name} += {value}\n{name} = {name} % 7.0"
        if kind == "temporary":
            new = f"t{next(self._counter)}"
            return f"{new} = {value}\n{name} = ({new} + 1.0) % 7.0"
        if kind == "if":
            return self._if(depth, in_loop, names)
        if kind == "for":
            row = f"r{next(self._counter)}"
            return f"for {row} in xs:\n" + _indented(self._block(depth - 1, True, [*names, row]))
        count = f"n{next(self._counter)}"
        body = f"{count} += 1.0\n" + self._block(depth - 1, True, names)
        return f"{count} = x * 0.0\nwhile {count} < 3.0 and {self._condition(names)}:\n" + _indented(body)

    def _if(self, depth: int, in_loop: bool, names: list[str]) -> str:
        text = f"if {self._condition(names)}:\n" + self._branch(depth, in_loop, names)
        if self._data.draw(st.booleans()):
            text += f"\nelif {self._condition(names)}:\n" + self._branch(depth, in_loop, names)
        if self._data.draw(st.booleans()):
            text += "\nelse:\n" + self._branch(depth, in_loop, names)
        return text

    def _branch(self, depth: int, in_loop: bool, names: list[str]) -> str:
        block = self._block(depth - 1, in_loop, names)
        jumps = ["break", "continue"] if in_loop else [self._result()]
        jump = self._pick(*jumps, "", "")
        return _indented(f"{block}\n{jump}" if jump else block)

    def _expression(self, names: list[str]) -> str:
        one, other = self._pick(*names), self._pick(*names)
        return self._pick(
            f"({one} * 2.0 + {other}) % 7.0",
            f"({one} + 2.5) % 7.0",
            f"abs({one} - {other})",
            f"{one} if {self._condition(names)} else {other}",
        )

    def _condition(self, names: list[str]) -> str:
        one, other = self._pick(*names), self._pick(*names)
        return self._pick(
            f"{one} > 3.0",
            f"{one} < {other}",
            f"not {one} > {other}",
            f"0.5 < {one} < 4.0",
            f"{one} > 1.0 and {other} > 2.0",
            f"({one} > 5.0 or {other} < 1.0)",
        )


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


without_shrinking = settings(
    phases=[Phase.reuse, Phase.generate],  # to make a program smaller takes longer than to read it
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@settings(without_shrinking, max_examples=5)
@given(data=st.data())
def test_random_programs_give_what_python_gives(data: st.DataObject, tmp_path: Path) -> None:
    _check_random_program(data, tmp_path)


@pytest.mark.full
@settings(without_shrinking, max_examples=50)
@given(data=st.data())
def test_many_random_programs_give_what_python_gives(data: st.DataObject, tmp_path: Path) -> None:
    _check_random_program(data, tmp_path)


def _check_random_program(data: st.DataObject, tmp_path: Path) -> None:
    file = tmp_path / f"program_{len(list(tmp_path.iterdir()))}.py"
    source = Program(data).source()
    note(source)
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    xs = jnp.array([1.0, 4.5, 6.0])
    calls = [(jnp.float32(x), jnp.float32(y), xs) for x, y in ((0.3, 5.0), (2.5, 1.0), (6.5, 3.5))]
    assert_like_python(module.program, *calls)
