"""Findings and hooks, for people and for programs."""

from __future__ import annotations

import io
import json
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from unisono_launch.doctor._finding import Finding, Status, format_count, worst
from unisono_launch.doctor._requirements import installed_version

VERSION: Final = 1  # of the JSON object; raised when a key goes or changes its meaning

_STYLES: Final[dict[Status, str]] = {"ok": "green", "warning": "yellow", "error": "bold red"}
_MARGIN: Final = " " * 21  # the status in 9 columns, the name in 12
_WIDEST: Final = 120


def findings_to_json(findings: Iterable[Finding]) -> str:
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


def show_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Prints each finding when it is there, and a verdict; returns them. The words say what the colours say."""
    from rich.console import Console  # here: the doctor works without it
    from rich.text import Text

    if isinstance(sys.stdout, io.TextIOWrapper):  # a locale without arrows must not stop the report
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    found = []
    for finding in findings:
        found.append(finding)
        head, *rest = wrap_lines(finding.text, min(console.width, _WIDEST))
        status = Text(finding.status.ljust(9), _STYLES[finding.status])
        console.print(status + Text(finding.name.ljust(12)) + Text(head), soft_wrap=True)
        for line in rest:
            console.print(Text(_MARGIN + line), soft_wrap=True)
        for line in (finding.remedy or "").splitlines():  # not wrapped: it is there to be copied
            console.print(Text(f"{'':9}{'→':>10}  {line}", "bold"), soft_wrap=True)
    console.print(Text("\n" + verdict(found), _STYLES[worst(finding.status for finding in found)]), soft_wrap=True)
    return found


def hooks_to_json(hooks: Sequence[Mapping[str, Any]]) -> str:
    """One JSON object; docs/doctor.md describes it."""
    return json.dumps({"version": VERSION, "unisono": installed_version("unisono"), "hooks": list(hooks)}, indent=2)


def show_hooks(hooks: Sequence[Mapping[str, Any]]) -> None:
    """Prints the hooks by the file that installs them; those on one owner with one reason together."""
    by_file: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for hook in hooks:
        reasons = by_file.setdefault(f"{hook['file']} ({hook['written_for']})", {})
        reasons.setdefault((hook["kind"], hook["owner"], hook["why"]), []).append(hook["name"])
    lines = []
    for file, reasons in sorted(by_file.items()):
        lines.append(file)
        for (kind, owner, why), names in reasons.items():
            lines += _wrap_hook(f"  {kind:8} {owner}: {', '.join(names)}") + _wrap_hook(" " * 11 + why)
        lines.append("")
    lines.append(f"{format_count(len(hooks), 'hook')}: patch replaces an attribute, add adds one, require checks one.")
    print("\n".join(lines))


def _wrap_hook(text: str) -> list[str]:
    return textwrap.wrap(text, 120, subsequent_indent=" " * 11, drop_whitespace=True)


def wrap_lines(text: str, width: int) -> list[str]:
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
    sentences = ["Training would fail." if named["error"] else "Training works here."]
    for status in ("error", "warning"):
        if named[status]:
            sentences.append(f"{format_count(len(named[status]), status)}: {', '.join(named[status])}.")
    return " ".join(sentences)
