from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import unisono.checkpoint

MODULES = [
    module.name for module in pkgutil.iter_modules(unisono.checkpoint.__path__, unisono.checkpoint.__name__ + ".")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
