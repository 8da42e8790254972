"""The command line of `unisono`, except `run` and `doctor`, which `unisono_launch` starts without importing this."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Final

from unisono._src.cli._demo import demo
from unisono._src.cli._versions import describe_versions

_COMMANDS: Final = {
    "run": "start and monitor the workers of a job",
    "doctor": "check this machine or cluster",
    "plan": "predict memory, largest batch and step times of a script on more devices",
    "report": "write a page about one run or several",
    "watch": "show a run in the terminal while it trains",
    "demo": "train on MNIST on all devices and compare with one, or run an example",
    "tf-check": "check which names in a TensorFlow script work",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a subcommand; returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given == ["--version"]:
        print(describe_versions())
        return 0
    command, rest = given[:1], given[1:]
    if command == ["demo"]:
        return demo(rest)
    if command == ["tf-check"]:
        # Not above: importing the namespace gives JAX's arrays the methods of TensorFlow's, which other commands do not
        # need.
        from unisono._src.cli._tf_check import tf_check

        return tf_check(rest)
    if command in (["report"], ["watch"]):
        from unisono._src.cli._report import report, watch

        return report(rest) if command == ["report"] else watch(rest)
    if command == ["plan"]:
        from unisono._src.cli._plan import plan

        return plan(rest)
    parser = _make_parser()
    name = parser.parse_args(given).command  # exits after --help, or because of an unknown command
    parser.error(f"{name!r} was not started by the command `unisono`. Type: python -m unisono_launch {name}")


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="unisono",
        description="Train Keras models on all your devices.",
        epilog="`unisono COMMAND --help` shows the options of a command.",
    )
    parser.add_argument(
        "--version", action="store_true", help="show the versions of Unisono and its dependencies, and the devices"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, description in _COMMANDS.items():
        commands.add_parser(name, help=description, add_help=False)
    return parser
