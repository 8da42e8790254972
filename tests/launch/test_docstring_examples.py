"""The examples in the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import unisono_launch.launch

NAMES = [module.name for module in pkgutil.iter_modules(unisono_launch.launch.__path__, "unisono_launch.launch.")]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_docstring_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
