"""Draws docs/images/demo.svg: runs `unisono demo` in a terminal and keeps what it shows in the end.

```
.venv/bin/python docs/images/draw_demo.py
```
"""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 112
COMMAND = ["unisono", "demo"]
TARGET = Path(__file__).with_name("demo.svg")


def run_in_terminal(command: list[str]) -> str:
    """Everything that the command writes to a terminal of ``COLUMNS`` columns."""
    ours, its = pty.openpty()
    variables = os.environ | {"COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    program = str(Path(sys.executable).with_name(command[0]))
    process = subprocess.Popen([program, *command[1:]], stdout=its, stderr=its, stdin=its, env=variables)
    os.close(its)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:  # Linux says so when the last writer has closed a terminal
            break
        if not some:
            break
        written += some
    os.close(ours)
    if process.wait():
        raise SystemExit(f"{' '.join(command)} failed:\n{written.decode()}")
    return written.decode()


def last_state(line: str) -> str:
    """What is left of a line that was written several times: progress bars return to its beginning."""
    return re.split(r"[\r\x08]+", line.rstrip("\r"))[-1]


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(f"[bold]$ {' '.join(COMMAND)}")
    for line in run_in_terminal(COMMAND).split("\n"):
        console.print(Text.from_ansi(last_state(line)), overflow="ellipsis", no_wrap=True)
    drawn = console.export_svg(title=" ".join(COMMAND), unique_id="demo")
    # Fonts would be loaded from another server; every system has one for terminals.
    drawn = re.sub(r"\s*@font-face \{.*?\}", "", drawn, flags=re.DOTALL).replace("Fira Code, ", "")
    TARGET.write_text(drawn + "\n")
    print(f"{TARGET}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
