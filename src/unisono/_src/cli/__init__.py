"""The command `unisono`."""

from unisono._src.cli._main import main
