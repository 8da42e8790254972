"""Sends points to a server in a thread, so that training does not wait for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from unisono._src.training.callbacks._tracker import Point

# Of one request; MLflow takes 1,000 values at most.
MOST_VALUES: Final = 1_000


class PointSender:
    """Sends points in order, several in one request if they came faster than the server answers.

    Points whose request failed are kept, and are sent again with the next ones.

    Attributes:
        failure: what the last request raised, None if it succeeded.

    >>> sent = []
    >>> sender = PointSender(sent.extend)
    >>> sender.put(Point("epoch", 0, {"loss": 0.5}, 0))
    >>> sender.close()
    []
    >>> sent
    [Point(level='epoch', step=0, values={'loss': 0.5}, time=0)]
    """

    def __init__(self, send: Callable[[list[Point]], Any]):
        self._send = send
        self._points: list[Point] = []
        self._changed = threading.Condition()
        self._has_news = self._is_closed = False
        self.failure: Exception | None = None
        # A daemon: after an exception in `fit`, the process does not wait for a server that does not answer.
        self._thread = threading.Thread(target=self._run, name="unisono-point-sender", daemon=True)
        self._thread.start()

    def put(self, point: Point) -> None:
        """Takes a point; returns at once."""
        with self._changed:
            self._points.append(point)
            self._has_news = True
            self._changed.notify()

    def unsent(self) -> list[Point]:
        """Points that the server has not confirmed."""
        with self._changed:
            return list(self._points)

    def close(self, timeout: float | None = None) -> list[Point]:
        """Waits until everything was sent, or the last request failed, or for ``timeout`` seconds. Returns what could
        not be sent."""
        with self._changed:
            self._is_closed = self._has_news = True
            self._changed.notify()
        self._thread.join(timeout)
        return self.unsent()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._has_news)
                self._has_news = False
                batch, is_last = _first_points(self._points), self._is_closed
            if batch:
                try:
                    self._send(batch)
                    self.failure = None
                except Exception as error:  # reported by the callback, in the thread of training
                    self.failure = error
            with self._changed:
                if self.failure is None:
                    del self._points[: len(batch)]
                    self._has_news |= bool(self._points)
                if is_last and (self.failure is not None or not self._points):
                    return
                self._has_news |= is_last


def _first_points(points: list[Point]) -> list[Point]:
    """As many as one request may have, at least one."""
    count, values = 0, 0
    for point in points:
        values += len(point.values)
        if count and values > MOST_VALUES:
            break
        count += 1
    return points[:count]
