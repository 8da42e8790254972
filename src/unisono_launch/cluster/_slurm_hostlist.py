"""SLURM's short forms: lists of hosts as `n[01-03,7],login`, tasks per node as `2(x3),1`."""

from __future__ import annotations

import re
from collections.abc import Iterator


def expand_hostlist(hostlist: str) -> list[str]:
    """The hosts of a SLURM hostlist, in its order. Brackets may follow each other, and be nested.

    >>> expand_hostlist("n[08-10],rack[1-2]gpu[0,3]-ib")
    ['n08', 'n09', 'n10', 'rack1gpu0-ib', 'rack1gpu3-ib', 'rack2gpu0-ib', 'rack2gpu3-ib']
    """
    try:
        return [host for part in _split(hostlist) for host in _expand(part)]
    except ValueError as error:
        raise ValueError(f"{hostlist!r} is not a SLURM hostlist such as 'n[01-03,7],login': {error}.") from None


def expand_tasks_per_node(tasks_per_node: str) -> list[int]:
    """The number of tasks of each node.

    >>> expand_tasks_per_node("2(x3),1")
    [2, 2, 2, 1]
    """
    counts: list[int] = []
    for part in tasks_per_node.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"{tasks_per_node!r} is not SLURM's number of tasks per node, such as '2(x3),1'.")
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def _expand(part: str) -> Iterator[str]:
    """The hosts of one part that has no comma outside brackets."""
    start = part.find("[")
    if start < 0:
        yield part
        return
    end = _find_closing(part, start)
    rests = list(_expand(part[end + 1 :]))
    for item in _split(part[start + 1 : end]):
        for middle in _range(item) if "[" not in item else _expand(item):
            for rest in rests:
                yield part[:start] + middle + rest


def _range(item: str) -> Iterator[str]:
    first, dash, last = item.partition("-")
    if not dash:
        yield item
        return
    if not (first.isdecimal() and last.isdecimal()) or int(first) > int(last):
        raise ValueError(f"{item!r} is not a range such as '01-03'")
    for number in range(int(first), int(last) + 1):
        yield str(number).zfill(len(first))


def _split(text: str) -> Iterator[str]:
    """The parts of `text` between commas outside brackets."""
    depth, start = 0, 0
    for position, letter in enumerate(text + ","):
        depth += (letter == "[") - (letter == "]")
        if depth < 0:
            raise ValueError("a bracket is closed that was not opened")
        if letter == "," and (depth == 0 or position == len(text)):
            if depth:
                raise ValueError("a bracket is not closed")
            if position == start:
                raise ValueError("a name between commas is empty")
            yield text[start:position]
            start = position + 1


def _find_closing(part: str, start: int) -> int:
    """The position of the bracket that closes the one at `start`. :func:`_split` has checked that there is one."""
    depth = 0
    for position in range(start, len(part)):
        depth += (part[position] == "[") - (part[position] == "]")
        if depth == 0:
            return position
    raise ValueError("a bracket is not closed")
