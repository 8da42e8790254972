"""The registry refuses every original that a hook was not written for, and knows all hooks."""

import os
import subprocess
import sys
from types import ModuleType
from typing import Any

import jax.numpy as jnp
import keras
import pytest
from jax._src.array import ArrayImpl
from jax._src.core import Tracer

import unisono
import unisono.tf as tf
from unisono._src import hooks
from unisono._src.hooks import _registry

from . import test_core_hooks, test_lowerings, test_tf_hooks
from ._covers import TESTS

# The modules whose tests fill the table.
_FILLED_BY = (test_core_hooks, test_lowerings, test_tf_hooks)


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A library of one class, as it was when its hooks were written."""
    library = ModuleType("library")
    library.__version__ = "2.0"  # type: ignore[attr-defined]

    class Thing:
        def go(self, speed: int = 1) -> int:
            return speed

        def __init__(self) -> None:
            self.place = 0

        @property
        def size(self) -> int:
            return 3

    Thing.__module__, Thing.__qualname__ = "library", "Thing"
    monkeypatch.setitem(sys.modules, "library", library)
    monkeypatch.setitem(_registry.WRITTEN_FOR, "library", ("1.0",))
    monkeypatch.setattr(_registry, "_registered", [])
    monkeypatch.setattr(_registry, "_stock", {})
    monkeypatch.setattr(_registry, "_unchecked_primitives", [])
    return Thing


def test_a_wrapper_keeps_the_name_and_signature_of_its_original(library: Any) -> None:
    hooks.wrap(library, "go", lambda original: lambda self, speed=1: original(self, speed) + 1, expects=_GO, why="test")
    assert library().go(2) == 3
    assert library.go.__name__ == "go"
    (hook,) = hooks.registered_hooks()
    assert (hook.owner, hook.name, hook.kind, hook.expects) == ("library.Thing", "go", "patch", (_GO,))
    assert hook.written_for == "library 1.0"
    assert hook.file.endswith("tests/keras_hooks/test_registry.py")


def test_a_second_hook_is_checked_against_the_stock_original(library: Any) -> None:
    hooks.patch(library, "go", lambda self: 5, expects=_GO, why="first")
    hooks.wrap(library, "go", lambda original: lambda self: original(self) + 1, expects=_GO, why="second")
    assert library().go() == 6


@pytest.mark.parametrize(
    ("expects", "found"),
    [
        ("(self, pace=1)", r"\(self, speed=1\)"),
        ("source 000000000000", "source [0-9a-f]{12}"),
        ("type property", "type function"),
        ("calls drive", "does not mention drive"),
        (["(self, pace=1)", "(self, tempo)"], r"\(self, speed=1\)"),
    ],
)
def test_another_original_is_refused_with_both_versions(library: Any, expects: Any, found: str) -> None:
    with pytest.raises(
        hooks.HookMismatchError, match=rf"(?s)library.Thing.go .*test_registry.py.*library 2.0.*1.0.*{found}"
    ):
        hooks.patch(library, "go", None, expects=expects, why="test")
    assert library().go() == 1


def test_what_is_missing_is_refused(library: Any) -> None:
    with pytest.raises(hooks.HookMismatchError, match=r"library.Thing.stop .*written for"):
        hooks.patch(library, "stop", None, expects="(self)", why="test")
    with pytest.raises(hooks.HookMismatchError, match=r"methods that use self.position"):
        hooks.require(library, "position", expects="instance attribute", why="test")
    hooks.require(library, "place", expects="instance attribute", why="test")


def test_what_is_inherited_is_not_taken_for_the_original(library: Any) -> None:
    kind = type("Kind", (library,), {"__module__": "library", "__qualname__": "Kind"})
    with pytest.raises(hooks.HookMismatchError, match="nothing of this name in the class itself"):
        hooks.patch(kind, "go", None, expects=_GO, why="test")
    hooks.patch(kind, "go", lambda self: 7, expects=_GO, why="test", inherited=True)
    assert (kind().go(), library().go()) == (7, 1)


def test_what_is_there_already_is_not_added(library: Any) -> None:
    hooks.add(library, "__format__", lambda self, spec: spec, why="objects of every class have one")
    with pytest.raises(hooks.HookMismatchError, match="expected: no such attribute"):
        hooks.add(library, "size", 4, why="test")


def test_what_does_not_work_is_refused(library: Any) -> None:
    with pytest.raises(hooks.HookMismatchError, match="the reason"):
        hooks.require(library, "go", expects=_GO, why="the reason", works=lambda: False)


def test_a_primitive_may_have_one_of_several_names(library: Any) -> None:
    assert hooks.require_primitives("sum", ("call", "jit"), why="test") == {"sum", "call", "jit"}
    hooks.check_primitives({"sum", "jit", "sine"})
    assert [each.expects for each in hooks.registered_hooks()] == [
        ("primitive sum",),
        ("primitive call", "primitive jit"),
    ]


def test_a_missing_primitive_is_refused_with_the_file_that_looks_for_it(library: Any) -> None:
    hooks.require_primitives("sum", ("call", "jit"), why="sums are merged")
    expected = (
        r"(?s)Primitive\.call \(.*test_registry\.py\).* JAX .*written for.*primitive call or primitive jit.*sums are"
    )
    with pytest.raises(hooks.HookMismatchError, match=expected):
        hooks.check_primitives({"sum"})


def test_without_source_files_the_version_decides(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    library.go = len
    with pytest.raises(hooks.HookMismatchError):
        hooks.patch(library, "go", None, expects="source 000000000000", why="test")
    monkeypatch.setitem(_registry.WRITTEN_FOR, "library", ("2.0",))
    hooks.patch(library, "go", None, expects="source 000000000000", why="test")


def test_mismatches_are_collected_for_a_list(library: Any) -> None:
    with hooks.collect_mismatches() as found:
        hooks.patch(library, "stop", None, expects="(self)", why="test")
        hooks.patch(library, "go", None, expects="(self)", why="test")
    assert len(found) == 2


def test_every_hook_has_a_test() -> None:
    assert _FILLED_BY
    known = {f"{each.owner.split('.')[-1]}.{each.name}" for each in hooks.registered_hooks() if each.kind != "require"}
    assert known - TESTS.keys() == set(), "write a test in test_core_hooks.py or test_tf_hooks.py, with @covers"
    assert TESTS.keys() - known == set(), "these hooks are no more"


def test_every_hook_is_in_a_hook_package_and_has_a_reason() -> None:
    for each in hooks.registered_hooks():
        assert each.file.startswith(("unisono/_src/keras_hooks/", "unisono/_src/jax_hooks/")), each
        assert each.why
        assert each.written_for.split()[0] in ("Keras", "JAX", "jaxlib", "NumPy")


def test_arrays_have_their_shape_from_jax_itself() -> None:
    """`array.shape` takes 0.07 µs with and without unisono.tf; a property in Python that makes a shape took 0.9."""
    for kind in (ArrayImpl, Tracer):
        assert vars(kind)["shape"].fget.__module__.startswith("jax._src.")
    x = jnp.ones((2, 3))
    assert x.shape is x.shape  # made once, not at every read
    assert isinstance(x.shape, tf.TensorShape)
    assert type(x.shape).__hash__ is tuple.__hash__


def test_keras_methods_have_one_wrapper_of_ours() -> None:
    package = os.path.dirname(unisono.__file__) + os.sep  # not any folder of this name: the clone may have it
    for kind, name in ((keras.Layer, "__call__"), (keras.Model, "fit")):
        depth, function = 0, getattr(kind, name)
        while function.__code__.co_filename.startswith(package):
            depth, function = depth + 1, function.__wrapped__
        assert depth == 1


@pytest.mark.parametrize(
    ("options", "at_least"),
    [pytest.param(["--sample"], 45, marks=pytest.mark.slow), pytest.param([], 700, marks=pytest.mark.full)],
)
def test_every_hook_refuses_an_original_that_has_moved(options: list[str], at_least: int) -> None:
    _run_for_hooks("moved_originals", options, at_least)


@pytest.mark.full
def test_without_a_hook_its_test_fails() -> None:
    _run_for_hooks("disabled_hooks", ["--sample"], at_least=18)


def _run_for_hooks(module: str, options: list[str], at_least: int) -> None:
    command = [sys.executable, "-m", f"tests.keras_hooks.{module}", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    *complaints, last = done.stdout.splitlines() or [done.stderr]
    assert not complaints, done.stdout[:4000]
    assert int(last.removeprefix("tried ")) >= at_least


_GO = "(self, speed=1)"
