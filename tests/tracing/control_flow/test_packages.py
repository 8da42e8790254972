"""Modules of Python's own with every function converted: they still do what they did."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import pytest

from unisono._src.tracing.control_flow import convert

pytestmark = pytest.mark.slow

TEXT = "the quick brown fox jumps over the lazy dog, and the dog does not mind at all. " * 3

CALLS = {
    "statistics": [
        "mean([1, 2, 4.5])",
        "quantiles(range(20), n=5)",
        "multimode('aabbc')",
        "variance([1, 2, 3, 9])",
        "NormalDist(3, 2).overlap(NormalDist(4, 1))",
        "linear_regression([1, 2, 3], [2, 4, 7])",
    ],
    "textwrap": [
        "wrap(TEXT, 30, max_lines=4)",
        "shorten(TEXT, 40)",
        "dedent('  a\\n    b\\n  c')",
        "indent('a\\nb', '> ')",
    ],
    "difflib": [
        "list(unified_diff(TEXT.split(), TEXT.upper().split()[:9] + TEXT.split()))",
        "get_close_matches('appel', ['ape', 'apple', 'peach'])",
        "SequenceMatcher(None, 'abxcd', 'abcd').get_opcodes()",
    ],
    "_pydecimal": [
        "Decimal(2).sqrt()",
        "Decimal('1.1') ** 50",
        "Decimal('1e-7').ln()",
        "Decimal('123.456').quantize(Decimal('.1'), rounding=ROUND_UP)",
        "format(Decimal('1234567.891'), '015,.2f')",
        "Decimal('nan').compare(Decimal(1))",
        "Decimal('-3') % Decimal(2)",
    ],
    "ipaddress": [
        "list(map(str, ip_network('10.0.0.0/29').subnets(new_prefix=31)))",
        "str(ip_address('2001:db8::1').exploded)",
        "list(map(str, collapse_addresses([ip_network('10.0.0.0/25'), ip_network('10.0.0.128/25')])))",
    ],
    "shlex": ["split('a \"b c\" d\\\\ e # f', comments=True)", 'quote("it\'s")'],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_module_does_the_same_when_it_is_converted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, module = fresh(name, monkeypatch), fresh(name, monkeypatch)
    changed = []

    def noted(function: Any) -> Any:
        result = convert(function)
        changed.append(result is not function)
        return result

    convert_all(module, noted)
    assert sum(changed) > 5
    for call in CALLS[name]:
        results = [repr(eval(call, {**vars(each), "TEXT": TEXT})) for each in (original, module)]
        assert results[0] == results[1], call


def fresh(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A second copy of the module, for this test only."""
    found = importlib.util.find_spec(name)
    assert found is not None
    spec = importlib.util.spec_from_file_location(f"converted_{name}", found.origin)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    spec.loader.exec_module(module)
    return module


def convert_all(holder: Any, change: Callable[[Any], Any]) -> None:
    """Converts the functions of a module, and the methods of its classes."""
    for name, value in list(vars(holder).items()):
        if isinstance(value, FunctionType):
            setattr(holder, name, change(value))
        elif isinstance(value, classmethod | staticmethod):
            setattr(holder, name, type(value)(change(value.__func__)))
        elif isinstance(value, type) and isinstance(holder, ModuleType) and value.__module__ == holder.__name__:
            convert_all(value, change)
