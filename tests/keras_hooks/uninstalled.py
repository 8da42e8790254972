"""Imports Unisono without putting its hooks in place, to put them in place later, on a Keras that was changed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import ModuleType
from typing import Final

# Their own code would install the hooks.
FAKE_PACKAGES: Final = ("unisono", "unisono.tf", "unisono.tf.keras")


def import_without_hooks() -> Callable[[], None]:
    """Returns what installs all hooks, those of `unisono.tf` and of jobs too. Unisono must not be imported yet."""
    spec = find_spec("unisono")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (folder,) = spec.submodule_search_locations
    for name in FAKE_PACKAGES:
        package = ModuleType(name)
        package.__path__ = [folder + name.removeprefix("unisono").replace(".", "/")]
        sys.modules[name] = package
    from unisono._src import _prepare  # noqa: F401
    from unisono._src._install_hooks import install_hooks, install_hooks_of_jobs
    from unisono._src.keras_hooks import tf_keras
    from unisono.tf import _install as tf_install
    from unisono.tf.keras import _install as keras_install
    from unisono.tf.keras import _modules

    def install_all() -> None:
        install_hooks()
        install_hooks_of_jobs()
        tf_install.install_hooks()
        keras_install.install_hooks()
        _modules.share_modules()
        tf_keras.install_export(lambda *arguments: None)

    return install_all
