"""Findings for people and for programs."""

from __future__ import annotations

import io
import json
import sys
import textwrap
from collections.abc import Iterable
from typing import Any, Final

from unisono_launch.doctor._finding import Finding, Status, worst
from unisono_launch.doctor._requirements import installed_version
from unisono_launch.doctor._units import counted

VERSION: Final = 1  # of the JSON object; raised when a key goes or changes its meaning

_STYLES: Final[dict[Status, str]] = {"ok": "green", "warning": "yellow", "error": "bold red"}
_MARGIN: Final = " " * 21  # the status in 9 columns, the name in 12
_WIDEST: Final = 120


def as_json(findings: Iterable[Finding]) -> str:
    """One JSON object; docs/doctor.md describes it."""
    found = list(findings)
    report: dict[str, Any] = {
        "version": VERSION,
        "unisono": installed_version("unisono"),
        "status": worst(finding.status for finding in found),
        "findings": {
            finding.name: {
                "status": finding.status,
                "text": finding.text,
                "remedy": finding.remedy,
                "facts": finding.facts,
            }
            for finding in found
        },
    }
    return json.dumps(report, indent=2)


def show(findings: Iterable[Finding]) -> list[Finding]:
    """Prints each finding when it comes, and a verdict; returns them. The words say what the colours say."""
    from rich.console import Console  # here: the doctor works without it
    from rich.text import Text

    if isinstance(sys.stdout, io.TextIOWrapper):  # an old locale has no arrows, and must not stop the report
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    found = []
    for finding in findings:
        found.append(finding)
        head, *rest = lines_of(finding.text, min(console.width, _WIDEST))
        status = Text(finding.status.ljust(9), _STYLES[finding.status])
        console.print(status + Text(finding.name.ljust(12)) + Text(head), soft_wrap=True)
        for line in rest:
            console.print(Text(_MARGIN + line), soft_wrap=True)
        for line in (finding.remedy or "").splitlines():  # not wrapped: it is there to be copied
            console.print(Text(f"{'':9}{'→':>10}  {line}", "bold"), soft_wrap=True)
    console.print(Text("\n" + verdict(found), _STYLES[worst(finding.status for finding in found)]), soft_wrap=True)
    return found


def lines_of(text: str, width: int) -> list[str]:
    """The lines of `text`, wrapped to what the margin leaves of `width`; what is wrapped is indented."""
    room = max(40, width - len(_MARGIN))
    return [
        wrapped
        for line in text.splitlines()
        for wrapped in textwrap.wrap(line, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    ]


def verdict(findings: Iterable[Finding]) -> str:
    """The last line: would training work?

    >>> verdict([Finding("machine", "ok", "…"), Finding("extras", "warning", "…", "…")])
    'Training works here. 1 warning: extras.'
    """
    named: dict[Status, list[str]] = {"error": [], "warning": [], "ok": []}
    for finding in findings:
        named[finding.status].append(finding.name)
    said = ["Training would fail." if named["error"] else "Training works here."]
    for status in ("error", "warning"):
        if named[status]:
            said.append(f"{counted(len(named[status]), status)}: {', '.join(named[status])}.")
    return " ".join(said)
