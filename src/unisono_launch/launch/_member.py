"""The launcher of any machine but the first in a job of changing size: it does what the leader says."""

from __future__ import annotations

import contextlib
import functools
import queue
import signal
import socket
from typing import final

from unisono_launch.cluster import join_address
from unisono_launch.launch._admission import SECRET
from unisono_launch.launch._attempt import Result
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import code_of, signals_as_events
from unisono_launch.launch._guarding import Guard, guarded
from unisono_launch.launch._here import AskedToEndError, Here
from unisono_launch.launch._link import Link
from unisono_launch.launch._machines import Machines
from unisono_launch.launch._options import Span, UsageError
from unisono_launch.launch._ports import meeting_port
from unisono_launch.launch._protocol import VERSION, Message
from unisono_launch.worker import ExitCode


class _LeaderGoneError(Exception):
    """Nobody leads the job any more."""


@final
class Member:
    """This machine's part: joins, runs attempts when told to, and ends with the code of the job."""

    def __init__(self, here: Here, span: Span) -> None:
        assert here.machines.port is not None
        self._here = here
        self._span = span
        self._place = here.machines.address, meeting_port(here.machines.port)

    def run(self) -> int:
        """Takes part until the job is over, or this launcher is told to end, or the leader is gone."""
        here = self._here
        with (
            signals_as_events(here.events),
            guarded(here.job, here.environ) as guard,
            contextlib.closing(self._link()) as link,
        ):
            try:
                return self._obey(link, guard)
            except AskedToEndError as interrupted:
                here.screen.message(f"unisono: ended by {interrupted.number.name}.")
                return code_of(interrupted.number)
            except _LeaderGoneError as gone:
                here.screen.message(
                    f"unisono: the launcher of node rank 0, at {join_address(*self._place)}, is gone ({gone}), and "
                    "nobody else can lead the job. Start it again on all machines.",
                    style="red",
                )
                return ExitCode.LOST

    def _link(self) -> Link:
        here = self._here
        hello = {
            "version": VERSION,
            "node": here.machines.rank,
            "host": socket.gethostname(),
            "nnodes": str(self._span),
            "workers": here.workforce.muster()[1],
        }
        secret, window = here.environ.get(SECRET, ""), here.options.join_window
        return Link(self._place, window=window, secret=secret, hello=hello, events=here.events)

    def _obey(self, link: Link, guard: Guard) -> int:
        while True:
            order = self._next_order(link)
            if order["type"] == "over":
                return self._over(order)
            layout = self._layout(order)
            if order["why"]:
                self._here.screen.message(f"unisono: {order['why']}. All start again: attempt {layout.attempt}.")
            self._here.introduce(layout)
            result = self._here.run(layout, guard, functools.partial(link.say_ending, layout.attempt))
            link.say_ended(layout.attempt, result)
            if result.signal is not None:
                return self._leave(result, result.signal)

    def _next_order(self, link: Link) -> Message:
        """Waits for a word of the leader. The link watches that it lives: there is no other limit."""
        while True:
            with contextlib.suppress(queue.Empty):
                return link.orders.get_nowait()
            if link.refused is not None:
                raise UsageError(link.refused)
            if link.gone is not None:
                raise _LeaderGoneError(link.gone)
            self._here.next_event(float("inf"))

    def _layout(self, order: Message) -> Layout:
        devices, size = self._here.workforce.muster()
        machines = Machines(
            rank=order["rank"],
            hosts=tuple(order["hosts"]),
            known=True,
            address=self._here.machines.address,
            port=order["ports"][0],
            source=f"--nnodes {self._span}",
            job=self._here.machines.job,
        )
        return self._here.layout(order["attempt"], machines, devices, size, tuple(order["ports"]))

    def _over(self, order: Message) -> int:
        if order["code"] != ExitCode.DONE:
            self._here.screen.message(f"unisono: {order['why']}.", style="red")
        return int(order["code"])

    def _leave(self, result: Result, number: signal.Signals) -> int:
        """This launcher was told to end. The others go on without it, if there are enough of them."""
        self._here.screen.message(f"unisono: ended by {number.name}.")
        saved = number != signal.SIGINT and any(account.code == ExitCode.PREEMPTED for account in result.accounts)
        return ExitCode.PREEMPTED if saved else code_of(number)
