"""Calls kubectl."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.launch import UsageError

# "E1116 13:53:43.749282 …": of kubectl's own log, which repeats the error five times before it reports it.
_LOG_LINE: Final = re.compile(r"[EIW]\d{4} ")


class KubectlError(Exception):
    """kubectl ended with an error. The text is the command and what it said."""


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

    def read(self, *arguments: str, standard_input: str = "") -> str:
        """Its output; raises :class:`KubectlError` if it fails."""
        result = subprocess.run(
            [*self._words, *arguments], input=standard_input, capture_output=True, text=True, check=False
        )
        if result.returncode:
            said = "\n".join(line for line in result.stderr.splitlines() if not _LOG_LINE.match(line))
            raise KubectlError(f"{self.quote(*arguments)}: {said or f'exit code {result.returncode}'}")
        return result.stdout

    def get(self, *arguments: str) -> Any:
        """Objects of the cluster, as JSON gives them; raises :class:`KubectlError` if they cannot be had."""
        return json.loads(self.read("get", *arguments, "-o", "json"))

    def stream_logs(self, pod: str, *flags: str, show: Callable[[bytes], None]) -> bool:
        """Passes on each line of the output of a pod, with its time in front. False: kubectl ended with an error."""
        words = [*self._words, "logs", "--follow", "--timestamps", *flags, pod]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    show(line)
            except BaseException:  # a signal asks this process to end
                process.kill()
                raise
        return process.returncode == 0

    def quote(self, *arguments: str) -> str:
        """A command for the user to type."""
        return shlex.join(["kubectl", *self._words[1:], *arguments])

    @property
    def _words(self) -> list[str]:
        return [self.executable, *(() if self.namespace is None else ("--namespace", self.namespace))]
