"""Makes docs/tf-coverage.md of the names that passed tests use: python -m tests.tf.coverage_page NAMES.json PAGE.md.

What is listed is in names/: `distribute.csv` has the public names of tf.distribute 2.21, MUST where an official
tutorial uses them, SHOULD where users expect them; `tutorials.csv` the names in the code of TensorFlow's and Keras's
tutorials on distributed training, with the number of documents and of uses; `methods.csv` the methods these call.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from unisono._src.tf_check._name_resolution import has_identity, resolve
from unisono._src.tf_check._verdicts import assess_name
from unisono.tf._missing import MissingNameError

NAMES = Path(__file__).parent / "names"
_LINE = re.compile(r"^\| `(.+?)` \| (.*?) \| (\w+) \| (.*) \|$", re.MULTILINE)
STATUSES = ("works", "differs", "missing", "untested")

HEAD = """# What of TensorFlow is there

Made by `make tf-coverage` from the tests; not written by hand. [tf.md](tf.md) says how to use the namespace.

- **works**: a test that passed uses the name.
- **differs**: the same, and it behaves otherwise than in TensorFlow, as told.
- **missing**: reading or calling it fails at once, with the sentence told.
- **untested**: it is there, and no test uses it: a defect.

Of `tf.distribute`, MUST means that an official tutorial uses the name, SHOULD that users expect it; "(parameter
servers)" that only training with parameter servers needs it, which Keras 3 has not. Methods of a base class are listed
there alone.

{totals}
"""


class Row(NamedTuple):
    """A line of the page."""

    name: str
    facts: str  # MUST, or how often it is used
    status: str
    text: str


def rows_of(file: str, used: Used) -> list[Row]:
    """The lines of one table."""
    found = []
    for entry in listed(file):
        status, text = used.status(entry["name"])
        found.append(Row(entry["name"], _facts(entry), status, text))
    return found


def listed(file: str) -> list[dict[str, str]]:
    """The names of a table and what is known of them."""
    with open(NAMES / file, newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


class Used:
    """The names that tests use, and the objects that they mean."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set()
        self.objects: set[int] = set()
        self.members: dict[str, list[type]] = {}  # by the member's name, the classes it was used on
        self._kept = []  # identities last as long as their objects
        for name in {part for each in names for part in _and_owners(each)}:
            owner, _, last = name.rpartition(".")
            try:
                value, holder = resolve(name), resolve(owner) if "." in owner else None
            except (MissingNameError, KeyError):
                continue
            self.names.add(name)
            if has_identity(value):
                self._kept.append(value)
                self.objects.add(id(_plain(value)))
            if isinstance(holder, type):
                self.members.setdefault(last, []).append(holder)

    def status(self, name: str) -> tuple[str, str]:
        """What the page says of a name."""
        said = assess_name(name)
        if said.status == "missing":
            return "missing", said.advice
        if not self.has(name):
            return "untested", ""
        return ("differs", said.text) if said.status == "differs" else ("works", "")

    def has(self, name: str) -> bool:
        """Whether a test uses it: by this name, by another of the same object, or on a class derived from its own."""
        value = resolve(name)
        owner, _, last = name.rpartition(".")
        if name in self.names or (has_identity(value) and id(_plain(value)) in self.objects):
            return True
        holder = resolve(owner) if "." in owner else None
        return isinstance(holder, type) and any(issubclass(each, holder) for each in self.members.get(last, ()))


def page(used: Used) -> str:
    """The whole page."""
    tables = {
        "tf.distribute": rows_of("distribute.csv", used),
        "Names in the tutorials": rows_of("tutorials.csv", used),
        "Methods and attributes in the tutorials": rows_of("methods.csv", used),
    }
    totals = ["| | " + " | ".join(STATUSES) + " |", "|---" * (len(STATUSES) + 1) + "|"]
    for title, rows in tables.items():
        counts = Counter(row.status for row in rows)
        totals.append(f"| {title} | " + " | ".join(str(counts[status]) for status in STATUSES) + " |")
    parts = [HEAD.format(totals="\n".join(totals))]
    for title, rows in tables.items():
        lines = [f"| `{row.name}` | {row.facts} | {row.status} | {_cell(row.text)} |" for row in rows]
        parts.append("\n".join([f"## {title}", "", "| name | | status | |", "|---|---|---|---|", *lines, ""]))
    return "\n".join(parts)


def rows_on(text: str) -> list[Row]:
    """The lines of all tables of a page."""
    return [Row(*found.groups()) for found in _LINE.finditer(text)]


def _facts(entry: dict[str, str]) -> str:
    if "mark" in entry:
        return entry["mark"] + (" (parameter servers)" if entry["parameter_servers"] else "")
    documents = int(entry["core_documents"]) + int(entry.get("other_documents", "0"))
    uses = int(entry["uses"])
    return f"{documents} document{'s' * (documents != 1)}, {uses} use{'s' * (uses != 1)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _and_owners(name: str) -> Iterator[str]:
    """The name, the class it is in, and the modules."""
    while "." in name:
        yield name
        name = name.rpartition(".")[0]


def _plain(value: Any) -> Any:
    """The function of a bound method, which is made anew each time it is read."""
    return getattr(value, "__func__", value)


def main(recorded: Path, target: Path) -> None:
    """Writes the page of a recording, and the names that are untested to the console."""
    names = [name for used in json.loads(recorded.read_text(encoding="utf-8")).values() for name in used]
    made = page(Used(names))
    target.write_text(made, encoding="utf-8")
    untested = [row.name for row in rows_on(made) if row.status == "untested"]
    print(f"{target}: {len(untested)} names are untested", *untested, sep="\n  ")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
