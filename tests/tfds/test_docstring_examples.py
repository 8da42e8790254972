"""The examples in the docstrings, run."""

import doctest
import importlib
import pkgutil

import pytest

import unisono.tfds
import unisono_launch.worker

PACKAGES = (unisono.tfds, unisono_launch.worker)
NAMES = [found.name for package in PACKAGES for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_every_docstring_run(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
