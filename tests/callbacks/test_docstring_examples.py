"""The examples in the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import unisono.callbacks

NAMES = [module.name for module in pkgutil.iter_modules(unisono.callbacks.__path__, "unisono.callbacks.")]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
