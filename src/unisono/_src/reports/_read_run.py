"""Reads the folder of a run: its description, the lines of each `fit`, and the events of its launcher."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from unisono._src.core import METRICS_FILE, RUN_FILE, RUN_VERSION
from unisono._src.reports._run import FitRecord, Run, get_number, get_object
from unisono_launch._install_command import upgrade_command
from unisono_launch.worker import EVENTS_FILE, EVENTS_VERSION

NOT_THERE = "{path}: no such folder. Pass the folder of a run: the one of resume=, or of `unisono run`."
NOT_A_RUN = """{path} is not the folder of a run: it has no {file}. `fit` writes it with resume="{path}", and in scripts
that are started by `unisono run`."""
EMPTY = """{path}: no training is recorded there yet. A `fit` writes its first line when its first epoch begins."""
UNREADABLE = """{path} cannot be read: {error}."""
NEWER = """{path}: {file} has format version {found}, and this Unisono reads up to version {known}. Upgrade Unisono:
{upgrade}"""

_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# Of every number that all lines have: no time in seconds and no step is larger.
_TOO_LARGE: Final = 10**11


class RunError(Exception):
    """A folder that cannot be shown, with a sentence for the user."""


def read_run(path: str | Path) -> Run:
    """Reads the folder of a run; raises :class:`RunError` with a sentence for the user."""
    folder = Path(path)
    _check_folder(folder)
    description = _read_object(folder / RUN_FILE)
    _check_version(path, RUN_FILE, description, RUN_VERSION)
    described = get_object(description, "fits")
    fits: dict[int, FitRecord] = {}
    for line in _read_lines(folder / METRICS_FILE):
        _check_version(path, METRICS_FILE, line, RUN_VERSION)
        if _is_complete(line):
            number = int(get_number(line, "fit"))
            fits.setdefault(number, FitRecord(number, get_object(described, str(number)))).add(line)
    events = [event for event in _read_lines(folder / EVENTS_FILE) if _has_numbers(event, "time")]
    for event in events:
        _check_version(path, EVENTS_FILE, event, EVENTS_VERSION)
    begun = [fit for fit in fits.values() if fit.attempts]
    if not begun:
        raise RunError(EMPTY.format(path=path))
    return Run(folder, make_printable(folder.resolve().name), description, begun, events)


def name_apart(runs: Sequence[Run]) -> list[Run]:
    """The runs; those whose folders have the same name are named by their paths."""
    counts = Counter(run.name for run in runs)
    return [run if counts[run.name] == 1 else replace(run, name=make_printable(str(run.path))) for run in runs]


def make_printable(text: str) -> str:
    """``text`` without control characters and lone surrogates, which neither a page nor a terminal shows.

    >>> make_printable("loss\\x1b[31m")
    'loss�[31m'
    """
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _check_folder(folder: Path) -> None:
    try:
        if not folder.is_dir():
            raise RunError(NOT_THERE.format(path=folder))
        if (folder / METRICS_FILE).exists():
            return
        is_run = (folder / RUN_FILE).exists() or (folder / EVENTS_FILE).exists()
    except OSError as error:  # a folder of another user, or a name that is too long
        raise RunError(UNREADABLE.format(path=folder, error=error.strerror)) from None
    raise RunError(EMPTY.format(path=folder) if is_run else NOT_A_RUN.format(path=folder, file=METRICS_FILE))


def _make_all_printable(value: Any) -> Any:
    if isinstance(value, str):
        return make_printable(value)
    if isinstance(value, list):
        return [_make_all_printable(each) for each in value]
    if isinstance(value, dict):
        return {make_printable(name): _make_all_printable(each) for name, each in value.items()}
    return value


def _read_lines(path: Path) -> list[Mapping[str, Any]]:
    """The lines that are JSON objects; half a line, of a process that was killed, is not."""
    found = (_parse(line) for line in _read_text(path).splitlines())
    return [line for line in found if isinstance(line, dict)]


def _read_object(path: Path) -> Mapping[str, Any]:
    found = _parse(_read_text(path))
    return found if isinstance(found, dict) else {}


def _read_text(path: Path) -> str:
    """What is in a file; nothing if it is not there."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise RunError(UNREADABLE.format(path=path, error=error.strerror)) from None


def _parse(text: str) -> Any:
    try:
        found = json.loads(text)
        return found if text.isprintable() and "\\" not in text else _make_all_printable(found)
    except (ValueError, RecursionError):
        return None


def _is_complete(line: Mapping[str, Any]) -> bool:
    """Whether a line has what all of them have. Other tools write files of this name, too."""
    has_numbers = _has_numbers(line, "fit", "time", "epoch", "step")
    return has_numbers and all(isinstance(line.get(name, {}), dict) for name in ("metrics", "parts"))


def _has_numbers(line: Mapping[str, Any], *names: str) -> bool:
    numbers = [line.get(name) for name in names]
    return all(isinstance(number, int | float) and 0 <= number < _TOO_LARGE for number in numbers)


def _check_version(path: str | Path, file: str, found: Mapping[str, Any], known: int) -> None:
    version = found.get("version", known)
    if not isinstance(version, int) or version > known:
        raise RunError(NEWER.format(path=path, file=file, found=version, known=known, upgrade=upgrade_command()))
