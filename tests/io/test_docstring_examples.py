"""The examples in the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import unisono.io

NAMES = [module.name for module in pkgutil.iter_modules(unisono.io.__path__, "unisono.io.")]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
