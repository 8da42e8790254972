from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import unisono.data
import unisono.plans

MODULES = [
    module.name
    for package in (unisono.data, unisono.plans)
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_the_docstrings_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
