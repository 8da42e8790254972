"""The examples in the docstrings of the namespace, and the one on its page, run as printed."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest
import tensorboardX  # noqa: F401  (sets a variable of the environment when it is first imported)

import unisono.tf as tf

MODULES = [module.name for module in pkgutil.walk_packages(tf.__path__, "unisono.tf.")]
PAGE = Path(__file__).parents[2] / "docs" / "tf.md"


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_example_of_the_page() -> None:
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    names: dict[str, object] = {}
    exec(example[1], names)
    assert names["model"].compiled
