"""Compares what a page shows with what was printed: words must agree, numbers may differ."""

from __future__ import annotations

import re

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_DURATION = re.compile(r"\d[\d.,]*\s?(?:µs|us|ms|s|min|h)\b")
_NUMBER = re.compile(r"[-+]?\d[\d.,_]*(?:e[-+]?\d+)?")
_RUN = re.compile(r"([━─═╸╺█▉-▏=#.-])\1+")
_EXCEPTION = re.compile(r"^(?:\w+\.)+(?=\w+(?:Error|Exception|Warning|Interrupt|Exit)\b)")
_ANYTHING = ("…", "...")


def differences(shown: str, printed: str) -> str | None:
    """The first shown line that was not printed, or None. A line may stand anywhere below the one before.

    >>> differences("step 8, loss 0.25", "hello\\nstep 9, loss 0.5\\n") is None
    True
    >>> differences("step 8\\n…\\ndone in 3 s", "step 1\\nstep 2\\ndone in 20 ms") is None
    True
    >>> differences("saved", "step 1")
    'saved'
    """
    lines = [_normalize(line) for line in _lines(printed)]
    position = 0
    for line in _lines(shown):
        if line.strip() in ("", *_ANYTHING):
            continue
        pattern = _pattern(line)
        while position < len(lines) and not pattern.fullmatch(lines[position]):
            position += 1
        if position == len(lines):
            return line
        position += 1
    return None


def _lines(text: str) -> list[str]:
    """Lines as a terminal shows them, with each state of a progress bar as a line."""
    return re.split(r"[\n\r\x08]+", _CONTROL.sub("", text))


def _normalize(line: str) -> str:
    line = _DURATION.sub("0", _EXCEPTION.sub("", line.strip()))
    line = _NUMBER.sub("0", line)
    return re.sub(r"\s+", " ", _RUN.sub(r"\1", line))


def _pattern(line: str) -> re.Pattern[str]:
    for ellipsis in _ANYTHING:
        line = line.replace(ellipsis, "\0")
    return re.compile(re.escape(_normalize(line)).replace("\0", ".*"))
