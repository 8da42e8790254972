"""The command `unisono`."""

from unisono.cli._main import main as main
