"""Arguments of the command `unisono`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from unisono.cli._demo import demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a subcommand; returns the exit code."""
    parser = argparse.ArgumentParser(prog="unisono", description="Train Keras models on every device you have.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("demo", help="train a small network on MNIST on all devices and compare it with one device")
    parser.parse_args(arguments)
    return demo()
