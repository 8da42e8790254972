"""Runs when Python starts, in every process of `unisono run --as-tensorflow`: PYTHONPATH begins with this folder.

It imports neither JAX nor Keras nor Unisono: a script may start processes that need none of them.
"""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


def _install() -> None:
    try:
        from unisono_launch.as_tensorflow import install
    except ModuleNotFoundError as error:
        if error.name != "unisono_launch":
            raise
        return  # the Python of another environment, which does not have Unisono
    install()


def _run_next_sitecustomize() -> None:
    """Runs the `sitecustomize` that Python would run without this one; it gets the name."""
    here = os.path.realpath(os.path.dirname(__file__))
    elsewhere = [folder for folder in sys.path if os.path.realpath(folder) != here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


_install()
_run_next_sitecustomize()
