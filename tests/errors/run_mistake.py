"""Runs a script or a command of the table, and returns what a person reads."""

from __future__ import annotations

import contextlib
import linecache
import os
import re
import socket
import subprocess
import sys
import traceback
import warnings
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import keras

from tests.docs.page import ROOT
from tests.errors.mistake import Mistake

_OF_THE_TESTS = ("KERAS_BACKEND", "UNISONO_CPU_DEVICES", "NPROC")
_JAX_NOTE = re.compile(r"\n?-{20}\nFor simplicity, JAX has removed its internal frames.*?include these\.", re.DOTALL)
# Where the text of an error begins in the output of Python.
_ERROR = re.compile(r"(?:^|:\d+: )(?:[\w.]+\.)?(\w+(?:Error|Mismatch|Exception|Warning)): ", re.MULTILINE)
_DEADLINE_SECONDS = 120


@dataclass(frozen=True)
class Reading:
    """All that is printed, and of it the message: without the traceback."""

    everything: str
    message: str
    lines: frozenset[int]
    """The lines of the script that are named."""


def run_mistake(mistake: Mistake, folder: Path) -> Reading:
    """Runs what is typed in a folder; raises AssertionError if nothing went wrong."""
    (folder / "train.py").write_text(mistake.script if mistake.how != "command" else "print('trained')\n")
    (folder / "tensorflow_script.py").write_text("import tensorflow as tf\n")
    everything = _run_here(mistake, folder) if mistake.how == "here" else _run_process(mistake, folder)
    everything = (
        everything.replace(f"{ROOT}[", "/path/to/unisono[")
        .replace(str(folder), "/home/you")
        .replace(f" on {socket.gethostname()} ", " on hosta ")
    )
    named = re.findall(r'/home/you/train\.py(?:", line |:)(\d+)', everything)
    return Reading(everything, _message(mistake, everything), frozenset(map(int, named)))


def _run_here(mistake: Mistake, folder: Path) -> str:
    script = str(folder / "train.py")
    linecache.checkcache(script)
    keras.backend.clear_session(free_memory=False)  # names of layers count from the beginning, as in a new process
    environment, output = dict(os.environ), StringIO()
    failed = False
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            exec(compile(mistake.script, script, "exec"), {"__name__": "__main__"})
        except Exception as error:
            failed = True
            output.write("".join(traceback.format_exception(error)))
        finally:
            for name in os.environ.keys() - environment.keys():
                del os.environ[name]
            os.environ.update(environment)
    for each in caught:
        if mistake.is_warning:
            output.write(warnings.formatwarning(each.message, each.category, each.filename, each.lineno, ""))
    assert failed != mistake.is_warning, f"{mistake.title}: {output.getvalue()}"
    return output.getvalue()


def _run_process(mistake: Mistake, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THE_TESTS}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONWARNINGS"] = "ignore"
    command = (
        mistake.typed.split() if mistake.how == "command" else [sys.executable, "/".join((str(folder), "train.py"))]
    )
    result = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_DEADLINE_SECONDS,
    )
    assert bool(result.returncode) != mistake.is_warning, f"{mistake.title}: {result.stdout}"
    return result.stdout


def _message(mistake: Mistake, everything: str) -> str:
    if mistake.how == "command":
        return everything.strip()
    text = _JAX_NOTE.sub("", everything)
    *_, last = _ERROR.finditer(text)
    # Without the name of the module.
    return f"{last[1]}: {text[last.end() :]}".strip()
