"""Runs the blocks of one page: Python in this process, in one namespace; commands in a shell, in one folder."""

from __future__ import annotations

import contextlib
import doctest
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import keras

from tests.docs.commands import console_commands
from tests.docs.output import differences
from tests.docs.page import ROOT, Block, read_blocks

FILES = Path(__file__).parent / "files"

# What the tests set for their own process; a reader's shell has none of it.
_OF_THE_TESTS = ("KERAS_BACKEND", "UNISONO_CPU_DEVICES", "NPROC")
_DEADLINE_SECONDS = 240
_DOCTEST_OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class BlockError(Exception):
    """A block failed, or printed something else than the page shows."""


def run_page(page: Path, folder: Path, *, full: bool) -> int:
    """Runs the blocks of a page in a folder; returns how many. Without `full`, the blocks marked so are left out."""
    return run_blocks(read_blocks(page), folder, full=full)


def run_blocks(blocks: Iterable[Block], folder: Path, *, full: bool, names: Mapping[str, Any] | None = None) -> int:
    """Runs blocks of one page. They share a namespace, which has `names` at the beginning."""
    number_run = 0
    printed: str | None = None
    with _as_a_reader_starts(folder), contextlib.ExitStack() as page_end:
        namespace: dict[str, Any] = {"__name__": "__main__", "page_end": page_end, **(names or {})}
        page_end.callback(gc.collect)  # threads of datasets end with their iterators
        page_end.callback(namespace.clear)
        for block in blocks:
            if block.language == "text" and (block.directly_below or "output" in block.comments):
                _compare(block, block.text, printed)
                continue
            printed = None
            if block.is_full and not full:
                continue
            _prepare(block, namespace)
            if block.is_run:
                printed = _run(block, namespace)
                number_run += 1
    return number_run


def _run(block: Block, namespace: dict[str, Any]) -> str:
    if block.is_shell:
        return _run_commands(block)
    if "own process" in block.comments:
        script = Path("own_process.py")
        script.write_text(block.comments.get("setup", "") + "\n" + block.text, encoding="utf-8")
        return _run_shell(block, f"python {script}")
    return _run_python(block, namespace)


def _prepare(block: Block, namespace: dict[str, Any]) -> None:
    for name in filter(None, re.split(r"[,\s]+", block.comments.get("files", ""))):
        _copy(block, name)
    if "file" in block.comments:
        path = Path(block.comments["file"].strip())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
    if "setup" in block.comments and "own process" not in block.comments and "not run" not in block.comments:
        setup = block.comments["setup"]
        try:
            exec(compile(setup, f"{block.place} (setup)", "exec", dont_inherit=True), namespace)
        except Exception as error:
            raise BlockError(f"{block.place}: the setup above this block failed:\n{traceback.format_exc()}") from error


def _copy(block: Block, name: str) -> None:
    """Copies a file or folder of tests/docs/files, or else of the repository with the same path as there.

    With PAGE.md#train.py, writes the block of that page which is the file train.py.
    """
    page, _, file = name.partition("#")
    if file:
        found = [other for other in read_blocks(ROOT / page) if other.comments.get("file") == file]
        if not found:
            raise BlockError(f"{block.place}: {page} has no block below <!-- file: {file} -->.")
        Path(file).write_text(found[-1].text, encoding="utf-8")
        return
    source = FILES / name if (FILES / name).exists() else ROOT / name
    if not source.exists():
        raise BlockError(f"{block.place}: there is no {name} in tests/docs/files or in the repository.")
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "runs"))
    else:
        shutil.copyfile(source, name)


def _run_python(block: Block, namespace: dict[str, Any]) -> str:
    output = StringIO()
    failed: BaseException | None = None
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            if ">>> " in block.text:
                return _run_doctest(block, namespace)
            # Lines are those of the page: tracebacks show them, and `inspect` finds the source of functions there.
            text = "\n" * (block.line - 1) + block.text
            exec(compile(text, str(block.page), "exec", dont_inherit=True), namespace)
        except (Exception, SystemExit) as error:
            failed = error
            output.write("".join(traceback.format_exception(error)))
    if (failed is not None) != ("fails" in block.comments):
        what = "raised nothing, and the page says that it fails" if failed is None else "failed"
        raise BlockError(f"{block.place}: the block {what}:\n{output.getvalue()[-6000:]}") from failed
    return output.getvalue()


def _run_doctest(block: Block, namespace: dict[str, Any]) -> str:
    test = doctest.DocTestParser().get_doctest(block.text, {}, block.place, str(block.page), block.line - 1)
    test.globs = namespace
    report = StringIO()
    runner = doctest.DocTestRunner(optionflags=_DOCTEST_OPTIONS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    if runner.failures:
        raise BlockError(report.getvalue())
    return ""


def _run_commands(block: Block) -> str:
    if block.language == "bash":
        return _run_shell(block, block.text)
    printed = ""
    for command, shown in console_commands(block):
        printed = _run_shell(block, command)
        _compare(block, shown, printed)
    return printed


def _run_shell(block: Block, text: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THE_TESTS}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["HOME"] = os.getcwd()
    with subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", text],
        cwd=block.comments.get("folder", "."),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=_DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            raise BlockError(f"{block.place}: no end after {_DEADLINE_SECONDS} s:\n{text}\n{printed[-6000:]}") from None
    if bool(process.returncode) != ("fails" in block.comments):
        raise BlockError(f"{block.place}: exit code {process.returncode}:\n{text}\n{printed[-6000:]}")
    return printed


def _compare(block: Block, shown: str, printed: str | None) -> None:
    if printed is None:  # the block above is not run
        return
    missing = differences(shown, printed)
    if missing is not None:
        raise BlockError(f"{block.place}: the page shows a line that was not printed:\n{missing}\nPrinted:\n{printed}")


@contextlib.contextmanager
def _as_a_reader_starts(folder: Path) -> Iterator[None]:
    """In the folder, with names of layers that start at 1; restores what a page may change in this process."""
    environment, policy = dict(os.environ), keras.config.dtype_policy()
    keras.backend.clear_session()
    keras.utils.set_random_seed(0)
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        keras.config.set_dtype_policy(policy)
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
