"""The training function of a worker of Ray Train: gets Ray's preemption notices, and ends so that Ray restarts it.

Ray Train calls the function in a thread, where signals cannot be handled. So a second thread watches what Ray has
announced, and passes it on by `request_preemption`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import ray
from ray.exceptions import RayActorError
from ray.train.v2._internal.execution.context import get_train_context

from unisono._src.processes import Preempted, all_gather_host, is_preemption_handled, processes, request_preemption

_POLL_SECONDS: Final = 0.5

DRAINED = "Ray takes away a node of this job"
STOPPED = "the driver was asked to stop"


def wrap_train_loop(train_loop: Callable[..., Any], stop_flag: Any) -> Callable[..., Any]:
    """The function that Ray Train calls in each worker, with the signature of the user's."""

    @functools.wraps(train_loop)
    def run(*args: Any, **kwargs: Any) -> Any:
        # The function may say unisono.ray.ReportCallback, and the import at the top of its script is not run here.
        importlib.import_module("unisono.ray")
        with _watching_for_notices(stop_flag):
            try:
                return train_loop(*args, **kwargs)
            except Preempted as saved:
                _wait_for_peers()
                if ray.get(stop_flag.is_requested.remote()):
                    ray.get(stop_flag.mark_saved.remote())
                    return None  # an exception would make Ray start the workers again
                # Of all exceptions only this one makes Ray start the workers again at once and without counting a
                # failure: with another one a drained node would count, or all would wait until it is gone.
                raise RayActorError(error_msg=str(saved), preempted=True) from None

    return run


def _watching_for_notices(stop_flag: Any) -> contextlib.AbstractContextManager[None]:
    def watch(ended: threading.Event) -> None:
        # Not ray.train.get_preemption_info(), which waits until every worker has called it.
        notices = get_train_context().preemption_context
        while not ended.wait(_POLL_SECONDS):
            if notices.preemption_info is not None:
                request_preemption(DRAINED)
                return
            try:
                if ray.get(stop_flag.is_requested.remote()):
                    if not is_preemption_handled():
                        ray.get(stop_flag.mark_ignored.remote())
                    request_preemption(STOPPED)
                    return
            except RayActorError:  # the driver has died, and Ray ends this process
                return

    return watching(watch, "unisono-ray-notices")


@contextlib.contextmanager
def watching(watch: Callable[[threading.Event], None], name: str) -> Iterator[None]:
    """Runs ``watch`` in a thread during the block; the event is set at its end."""
    ended = threading.Event()
    thread = threading.Thread(target=watch, args=(ended,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _wait_for_peers() -> None:
    """Ray restarts all workers as soon as the first one has ended, and the chief may still be writing."""
    if processes().count > 1:
        all_gather_host(np.uint8(1))
