"""For each hook that replaces or adds an attribute, in a process of its own: whether its test fails without it.

python -m tests.keras_hooks.disabled_hooks                       all, 15 minutes of CPU time
python -m tests.keras_hooks.disabled_hooks --sample              every 16th
python -m tests.keras_hooks.disabled_hooks Layer.__call__ …      these

Prints a line for each hook without which its test passes, or cannot be run.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import pytest

from .uninstalled import FAKE_PACKAGES, import_without_hooks

_SECONDS = 180  # a test that waits for ever has noticed that something is missing
_TEST_MODULES = ("test_core_hooks", "test_lowerings", "test_tf_hooks")


def main(arguments: Sequence[str]) -> None:
    """Tries the hooks; ends with their number."""
    os.environ.setdefault("KERAS_BACKEND", "jax")
    os.environ.setdefault("UNISONO_CPU_DEVICES", "8")
    import_without_hooks()
    tests: dict[str, list[str]] = json.loads(_call_in_child(_read_tests)[1])
    selected = [each for each in arguments if not each.startswith("--")] or sorted(tests)
    selected = selected[:: 16 if "--sample" in arguments else 1]
    code, output = _call_in_child(lambda: _run_tests(sorted({test for each in selected for test in tests[each]}), None))
    if code != 0:
        print(f"The tests fail with all hooks:\n{output}")
    for target in selected:
        names = ", ".join(tests[target])
        code, output = _call_in_child(lambda: _run_tests(tests[target], target))  # noqa: B023
        if code == 0:
            print(f"{target}: {names} passes without it", flush=True)
        elif code not in (1, -signal.SIGALRM):
            print(f"{target}: {names} was not run (exit code {code}):\n{output}", flush=True)
    print(f"tried {len(selected)}")


def _read_tests() -> str:
    _import_unisono()
    for name in _TEST_MODULES:
        importlib.import_module(f"tests.keras_hooks.{name}")
    return json.dumps(importlib.import_module("tests.keras_hooks._covers").TESTS)


def _run_tests(tests: Sequence[str], disabled: str | None) -> str:
    if disabled is not None:
        _disable(disabled)
        signal.alarm(_SECONDS)
    _import_unisono()
    sys.exit(pytest.main(["-q", "-x", "-m", "", "-p", "no:cacheprovider", "--tb=short", *tests]))


def _disable(target: str) -> None:
    """The hooks on this attribute are checked, and not put in place."""
    registry = sys.modules["unisono._src.hooks._registry"]
    package = sys.modules["unisono._src.hooks"]
    wrap, add = registry.wrap, registry.add

    def is_disabled(owner: Any, name: str) -> bool:
        return f"{registry._path_of(owner).split('.')[-1]}.{name}" == target

    def wrap_others(owner: Any, name: str, make: Any, **options: Any) -> None:
        if not is_disabled(owner, name):
            wrap(owner, name, make, **options)

    def add_others(owner: Any, name: str, value: Any, **options: Any) -> None:
        if not is_disabled(owner, name):
            add(owner, name, value, **options)

    for module in (registry, package):
        module.wrap, module.add = wrap_others, add_others  # type: ignore[attr-defined]


def _import_unisono() -> None:
    """Now for real, with its hooks; the modules that were imported below the fake packages stay."""
    fakes = {name: sys.modules.pop(name) for name in FAKE_PACKAGES}
    for name, fake in fakes.items():
        package = importlib.import_module(name)
        for attribute, value in vars(fake).items():
            if isinstance(value, ModuleType) and not hasattr(package, attribute):
                setattr(package, attribute, value)


def _call_in_child(function: Callable[[], str]) -> tuple[int, str]:
    """The exit code of a forked process, and what ``function`` returned there, or what the process has printed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        try:
            print(function(), end="", flush=True)
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        sys.stdout.flush()
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, errors="replace") as file:
        output = file.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), output


if __name__ == "__main__":
    main(sys.argv[1:])
