"""What the command lines of `unisono run` have in common, on this machine and with `--on`."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from unisono_launch.launch._options import SizeRange, UsageError

# torchrun's flags that have no counterpart, and why none is needed.
_TORCHRUN: Final = {
    "--standalone": "One machine and a free port are the default: leave it out.",
    "--rdzv": "The coordinator is on the first machine: write --nnodes N --node-rank R --master-addr A instead.",
    "--local-addr": "The first machine is named on all of them with --master-addr A.",
    "--log-dir": "Logs are stored in the folder of the run: write --run-dir DIR.",
    "--tee": "Output is shown and stored for all workers: leave it out.",
    "--redirects": "Output is shown and stored for all workers: leave it out.",
    "--start-method": "Workers are new processes, never forks: leave it out.",
    "--no-python": "Workers are Python programs: name a script, or a module with -m.",
}

# A flag of the engines.
_ON_AN_ENGINE: Final = "-N"


class CommandParser(argparse.ArgumentParser):
    """An argument parser that raises :class:`UsageError`, keeps the layout of its epilog, allows no abbreviations."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **keywords)

    def error(self, message: str) -> NoReturn:
        for flag, advice in _TORCHRUN.items():
            if f" {flag}" in message.replace("_", "-"):
                raise UsageError(f"{flag} is not a flag of {self.prog}. {advice}")
        unknown = message.partition("unrecognized arguments: ")[2].split()
        if _ON_AN_ENGINE in unknown:
            raise UsageError(
                "-N N asks an engine for machines: unisono run --on slurm -N 2 …, or --on kubernetes. "
                "Without an engine, type on each machine: --nnodes N --node-rank R --master-addr A"
            )
        near = {flag: difflib.get_close_matches(flag, self._option_string_actions, 1, cutoff=0.8) for flag in unknown}
        meant = "".join(f" Did you mean {names[0]} instead of {flag}?" for flag, names in near.items() if names)
        raise UsageError(f"{message}.{meant} Type: {self.usage}; all options: {self.prog} --help")


def split_program(parser: argparse.ArgumentParser, arguments: list[str]) -> tuple[list[str], list[str]]:
    """The launcher's own arguments, and the program with its arguments.

    Not by argparse: it would take the script's flags for ours, and treats "--" differently from one Python to the next.
    """
    takes_value = {name for action in parser._actions if action.nargs != 0 for name in action.option_strings}
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument in ("--", "-m") or not argument.startswith("-"):
            break
        position += 2 if argument in takes_value else 1
    flags, program = arguments[:position], arguments[position:]
    if program[:1] == ["--"]:
        program = program[1:]
    num_words = 2 if program[:1] == ["-m"] else 1
    if len(program) < num_words:
        return flags, []
    if program[num_words : num_words + 1] == ["--"]:
        del program[num_words]
    return flags, program


def parse_size(text: str) -> int | SizeRange:
    """Parses N or MIN:MAX; raises ValueError."""
    least, colon, most = text.partition(":")
    if not colon or least == most:
        return int(least)
    return SizeRange(int(least), int(most))


def take_engine(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The value of `--on` among the launcher's own arguments, or None; and the arguments without it.

    Which options have a value is known only when the engine is: the program begins at the latest at the second of two
    words that are no options, or at a file.

    >>> take_engine(["-n", "2", "--on", "ray", "train.py", "--on", "off"])
    ('ray', ['-n', '2', 'train.py', '--on', 'off'])
    >>> take_engine(["train.py", "--on", "off"])
    (None, ['train.py', '--on', 'off'])
    """
    previous = ""
    for position, argument in enumerate(arguments):
        is_option = argument.startswith("-")
        if argument in ("--", "-m") or not (is_option or previous.startswith("-")) or os.path.isfile(argument):
            break
        name, equals, value = argument.partition("=")
        if name == "--on":
            end = position + (1 if equals else 2)
            if not equals:
                value = next(iter(arguments[position + 1 : end]), "")
            return value, [*arguments[:position], *arguments[end:]]
        previous = argument
    return None, list(arguments)
