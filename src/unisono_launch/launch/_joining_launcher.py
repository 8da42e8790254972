"""The launcher of any machine but the first in an elastic job: it connects to the coordinator and does what it says."""

from __future__ import annotations

import contextlib
import functools
import queue
import socket
from collections.abc import Sequence
from typing import final

from unisono_launch.cluster import join_address
from unisono_launch.connection import SECRET_VARIABLE, Message
from unisono_launch.launch._attempt import run_attempt
from unisono_launch.launch._context import LauncherContext
from unisono_launch.launch._coordinator_client import CoordinatorClient
from unisono_launch.launch._diagnosis import WorkerOutcome, find_cause
from unisono_launch.launch._events import StopRequestedError, exit_code_after, signals_as_events
from unisono_launch.launch._options import SizeRange, UsageError
from unisono_launch.launch._plan import AttemptPlan
from unisono_launch.launch._ports import launcher_port
from unisono_launch.launch._protocol import VERSION
from unisono_launch.worker import ExitCode


class _CoordinatorLostError(Exception):
    """The coordinator launcher is gone."""


@final
class JoiningLauncher:
    """This machine's part: joins, runs attempts when the coordinator says so, and ends with the code of the job."""

    def __init__(self, context: LauncherContext, nnodes: SizeRange) -> None:
        assert context.machines.master_port is not None
        self._context = context
        self._nnodes = nnodes
        self._last_codes: list[int] = []  # that decided how the last attempt ended
        self._address = context.machines.master_address, launcher_port(context.machines.master_port)

    def run(self) -> int:
        """Takes part until the job is over, or this launcher is asked to stop, or the coordinator is gone."""
        context = self._context
        with (
            signals_as_events(context.events),
            context.starter,
            contextlib.closing(self._connect()) as coordinator,
        ):
            try:
                return self._follow_orders(coordinator)
            except StopRequestedError as stop:
                context.screen.print_message(f"unisono: ended by {stop.number.name}.")
                return exit_code_after(stop.number, self._last_codes)
            except _CoordinatorLostError as lost:
                context.screen.print_message(
                    f"unisono: the launcher of node rank 0, at {join_address(*self._address)}, is gone ({lost}), and "
                    "no other can coordinate the job. Start it again on all machines.",
                    style="red",
                )
                return ExitCode.LOST

    def _connect(self) -> CoordinatorClient:
        context = self._context
        hello = {
            "version": VERSION,
            "node": context.machines.rank,
            "host": socket.gethostname(),
            "nnodes": str(self._nnodes),
            "workers": context.allocator.allocate()[1],
        }
        secret, window = context.environ.get(SECRET_VARIABLE, ""), context.options.join_window
        return CoordinatorClient(self._address, window=window, secret=secret, hello=hello, events=context.events)

    def _follow_orders(self, coordinator: CoordinatorClient) -> int:
        while True:
            order = self._next_order(coordinator)
            if order["type"] == "over":
                return self._end_job(order)
            plan = self._plan(order)
            if order["why"]:
                self._context.screen.print_message(
                    f"unisono: {order['why']}. All workers restart: attempt {plan.attempt}."
                )
            self._context.announce(plan)
            result = run_attempt(self._context, plan, functools.partial(coordinator.report_ending, plan.attempt))
            coordinator.report_ended(plan.attempt, result)
            self._last_codes = _deciding_codes(result.outcomes)
            if result.signal is not None:
                self._context.screen.print_message(f"unisono: ended by {result.signal.name}.")
                return exit_code_after(result.signal, self._last_codes)  # the job continues without this machine

    def _next_order(self, coordinator: CoordinatorClient) -> Message:
        """Waits for an order. The client watches that the coordinator lives: there is no other limit."""
        while True:
            with contextlib.suppress(queue.Empty):
                return coordinator.orders.get_nowait()
            if coordinator.refused is not None:
                raise UsageError(coordinator.refused)
            if coordinator.lost is not None:
                raise _CoordinatorLostError(coordinator.lost)
            self._context.next_event(float("inf"))

    def _plan(self, order: Message) -> AttemptPlan:
        devices, num_workers = self._context.allocator.allocate()
        machines = self._context.machines.narrow(
            order["rank"], order["hosts"], order["ports"][0], source=f"--nnodes {self._nnodes}"
        )
        return self._context.plan(order["attempt"], machines, devices, num_workers, tuple(order["ports"]))

    def _end_job(self, order: Message) -> int:
        if order["code"] != ExitCode.DONE:
            self._context.screen.print_message(f"unisono: {order['why']}.", style="red")
        return int(order["code"])


def _deciding_codes(outcomes: Sequence[WorkerOutcome]) -> list[int]:
    """The code of the cause, as at the coordinator: a worker that has saved counts for nothing if another one failed.

    If none failed, the codes of those that were asked to stop.
    """
    cause = find_cause(outcomes)
    return [outcome.code for outcome in outcomes if outcome.stop_requested] if cause is None else [cause.code]
