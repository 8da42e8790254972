"""The command line of `unisono`, except `unisono run`, which is in `unisono_launch`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from unisono._src.cli._demo import demo
from unisono._src.cli._versions import describe_versions
from unisono_launch.doctor import main as doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a subcommand; returns the exit code."""
    parser = argparse.ArgumentParser(prog="unisono", description="Train Keras models on all your devices.")
    parser.add_argument("--version", action="store_true", help="show the versions of what is used, and the devices")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("run", help="start and monitor the workers of a job (see unisono run --help)", add_help=False)
    commands.add_parser("doctor", help="check this machine or cluster (see unisono doctor --help)")
    commands.add_parser(
        "demo", help="train on MNIST on all devices and compare with one, or run an example (see unisono demo --list)"
    )
    commands.add_parser("tf-check", help="check which names in a TensorFlow script work (see unisono tf-check --help)")
    commands.add_parser("report", help="write a page about one run or several (see unisono report --help)")
    commands.add_parser("watch", help="show a run in the terminal while it trains (see unisono watch --help)")
    commands.add_parser(
        "plan", help="memory, largest batch and step times of a script on more devices (see unisono plan --help)"
    )
    arguments_given = sys.argv[1:] if arguments is None else list(arguments)
    if arguments_given == ["--version"]:
        print(describe_versions())
        return 0
    if arguments_given[:1] == ["doctor"]:
        return doctor(arguments_given[1:])
    if arguments_given[:1] == ["demo"]:
        return demo(arguments_given[1:])
    if arguments_given[:1] == ["tf-check"]:
        # Not above: importing the namespace gives JAX's arrays the methods of TensorFlow's, which other commands do not
        # need.
        from unisono._src.cli._tf_check import tf_check

        return tf_check(arguments_given[1:])
    if arguments_given[:1] in (["report"], ["watch"]):
        from unisono._src.cli._report import report, watch

        return (report if arguments_given[0] == "report" else watch)(arguments_given[1:])
    if arguments_given[:1] == ["plan"]:
        from unisono._src.cli._plan import plan

        return plan(arguments_given[1:])
    parser.parse_args(arguments_given)  # --help, or an unknown command
    parser.error("`unisono run` was not started by the command `unisono`. Type: python -m unisono_launch run")
