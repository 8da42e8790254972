"""The real TensorBoard, as a process, and what it answers over HTTP."""

import contextlib
import json
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SECONDS = 60.0
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")


class Board:
    """Asks a TensorBoard that runs at ``address``."""

    def __init__(self, address: str):
        self._address = address

    def get(self, route: str, **query: Any) -> bytes:
        """The body of one answer."""
        url = f"{self._address}data/{route}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            return answer.read()

    def ask(self, route: str, **query: Any) -> Any:
        """One answer that is JSON."""
        return json.loads(self.get(route, **query))

    def wait_for(self, ask: Callable[[], Any], wanted: Callable[[Any], bool]) -> Any:
        """The answer when it has what is wanted: files are read while the program runs already."""
        deadline = time.monotonic() + _SECONDS
        answer: Any = None
        while time.monotonic() < deadline:
            with contextlib.suppress(urllib.error.HTTPError):  # it does not know the run yet
                answer = ask()
                if wanted(answer):
                    return answer
            time.sleep(0.2)
        raise TimeoutError(f"TensorBoard still answers {answer!r}")

    def scalars(self, run: str, tag: str, num_points: int) -> list[tuple[int, float]]:
        """The points of a curve, as soon as there are so many."""
        points = self.wait_for(
            lambda: self.ask("plugin/scalars/scalars", run=run, tag=tag), lambda points: len(points) >= num_points
        )
        return [(step, value) for _, step, value in points]


@contextlib.contextmanager
def board(folder: Path, *, fast: bool) -> Iterator[Board]:
    """TensorBoard on ``folder``, on a free port; ``fast`` for the loader that is a program of its own."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--host", "127.0.0.1", "--port", "0"]
    command += ["--load_fast", str(fast).lower(), "--reload_interval", "1"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    killer = threading.Timer(_SECONDS, process.kill)  # reading its lines below has no limit of its own
    killer.start()
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            address = _ADDRESS.search(line)
            if address:
                break
        else:
            raise RuntimeError(f"TensorBoard did not start: {''.join(said)}")
        killer.cancel()
        yield Board(address[0])
    finally:
        killer.cancel()
        killer.join()
        process.kill()
        process.communicate()
