"""Calls kubectl."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

from unisono_launch.launch import UsageError


class KubectlError(Exception):
    """kubectl ended with an error. The text is what it said."""


@dataclass(frozen=True)
class Kubectl:
    """The kubectl of the user, with the user's own configuration.

    >>> Kubectl("/usr/bin/kubectl", "research").quote("get", "pods")
    'kubectl --namespace research get pods'
    """

    executable: str
    namespace: str | None

    @classmethod
    def find(cls, namespace: str | None) -> Kubectl:
        """The one on the PATH; raises :class:`UsageError` if there is none."""
        executable = shutil.which("kubectl")
        if executable is None:
            raise UsageError(
                "There is no kubectl on the PATH. Install it; or add --dry-run, store what is printed in a file, and "
                "apply it where kubectl is: kubectl apply -f job.yaml"
            )
        return cls(executable, namespace)

    def read(self, *arguments: str, standard_input: str | None = None) -> str:
        """Its output; raises :class:`UsageError` with what it said if it fails."""
        result = self._run(arguments, standard_input)
        if result.returncode:
            raise UsageError(f"{self.quote(*arguments)} has failed: {result.stderr.strip() or result.returncode}")
        return result.stdout

    def get(self, *arguments: str) -> Any:
        """Objects of the cluster, as JSON gives them; raises :class:`KubectlError` if they cannot be had."""
        result = self._run(("get", *arguments, "-o", "json"), None)
        if result.returncode:
            raise KubectlError(result.stderr.strip() or f"exit code {result.returncode}")
        return json.loads(result.stdout)

    def stream_logs(self, pod: str, *flags: str) -> bool:
        """Shows the output of a pod on our own standard output. False: the connection broke before the pod ended."""
        words = [*self._words, "logs", "--follow", *flags, pod]
        return subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode == 0

    def quote(self, *arguments: str) -> str:
        """A command for the user to type."""
        return shlex.join(["kubectl", *self._words[1:], *arguments])

    @property
    def _words(self) -> list[str]:
        return [self.executable, *(() if self.namespace is None else ("--namespace", self.namespace))]

    def _run(self, arguments: tuple[str, ...], standard_input: str | None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._words, *arguments], input=standard_input or "", capture_output=True, text=True, check=False
        )
