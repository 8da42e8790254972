"""The examples in the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import unisono.store

NAMES = [module.name for module in pkgutil.iter_modules(unisono.store.__path__, "unisono.store.")]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
