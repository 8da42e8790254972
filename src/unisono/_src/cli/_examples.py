"""`unisono demo NAME`: the scripts of `examples`, in a clone and in an installed package.

There is one copy of each, in `examples` of the repository. The wheel has them as `unisono/_examples` (pyproject.toml).
"""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from unisono._src.core import read_environment
from unisono.config import set_cpu_devices
from unisono_launch import as_tensorflow

_PACKAGE: Final = Path(__file__).parents[2]


def find_examples() -> dict[str, Path]:
    """The scripts by their names."""
    installed = _PACKAGE / "_examples"
    folder = installed if installed.is_dir() else _PACKAGE.parents[1] / "examples"
    return {path.stem: path for path in sorted(folder.glob("*.py"))}


def describe_examples() -> str:
    """A line for each script, from its docstring, and where they are."""
    examples = find_examples()
    width = max(map(len, examples))
    lines = [f"{name:{width}}  {_first_sentence(path)}" for name, path in examples.items()]
    folder = next(iter(examples.values())).parent
    return "\n".join([*lines, f"\nunisono demo NAME runs one of them. They are in {folder}"])


def run_example(name: str, arguments: Sequence[str]) -> int:
    """Runs a script in this process, as `python NAME.py` would; with two CPU devices unless something else is set."""
    path = find_examples()[name]
    if read_environment().cpu_devices is None:
        set_cpu_devices(2)  # used only where there is no GPU
    if "tensorflow" in _imported_modules(path):
        as_tensorflow.install()
    given = sys.argv
    sys.argv = [str(path), *arguments]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except ModuleNotFoundError as error:
        print(f"{path} needs the package {error.name}. Its first lines say how to install it.", file=sys.stderr)
        return 1
    finally:
        sys.argv = given
    return 0


def _first_sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def _imported_modules(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
