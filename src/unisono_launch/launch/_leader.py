"""The group of a job of changing size, as the launcher of node rank 0 leads it: `--nnodes MIN:MAX`."""

from __future__ import annotations

import contextlib
import signal
import socket
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Final, final

from unisono_launch.cluster import join_address
from unisono_launch.launch._admission import SECRET, Terms
from unisono_launch.launch._attempt import Result
from unisono_launch.launch._environment import Layout
from unisono_launch.launch._events import How
from unisono_launch.launch._group import Group
from unisono_launch.launch._here import AskedToEndError, Here
from unisono_launch.launch._machines import Machines
from unisono_launch.launch._meeting import Meeting, meeting_at
from unisono_launch.launch._options import Span
from unisono_launch.launch._ports import meeting_port, next_port, ports_of_attempt
from unisono_launch.launch._reports import Report
from unisono_launch.launch._verdict import Account
from unisono_launch.launch._workforce import TooFewError
from unisono_launch.worker import ExitCode

# On another machine the end of an attempt may take the grace period twice (first those who leave, then those who are
# told to), and what the supervisor adds to it. Who has not reported by then is not going to.
_ENDING_SECONDS: Final = 20.0


@final
class Leader(Group):
    """Gathers machines before each attempt, and puts together what they report after it."""

    def __init__(self, here: Here, span: Span) -> None:
        assert here.machines.port is not None
        self._here = here
        self._span = span
        self._most = len(here.machines.hosts)
        self._port = here.machines.port
        self._expected = set(range(1, self._most))
        self._nodes: list[int] = []
        self._opened = contextlib.ExitStack()
        self._meeting: Meeting | None = None

    def __enter__(self) -> Leader:
        secret = self._here.environ.get(SECRET, "")
        if not secret and self._here.machines.warning() is not None:  # which is shown, and speaks of the workers' port
            self._here.screen.message(
                f"unisono: warning: the launchers meet at a public address, too. Set {SECRET}, on all machines to the "
                "same value, so that no stranger can join them.",
                style="yellow",
            )
        _, workers = self._here.workforce.muster()
        terms = Terms(nnodes=str(self._span), num_seats=self._most, workers=workers, secret=secret)
        meeting = meeting_at(self._here.machines.address, meeting_port(self._port), terms, self._here.events)
        self._meeting = self._opened.enter_context(meeting)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.dismiss(ExitCode.LAUNCHER, str(error))
        self._opened.close()

    @contextlib.contextmanager
    def assembled(self, attempt: int, why: str) -> Iterator[Layout]:
        """The machines that are here when the time has come."""
        machines, (devices, size) = self._here.machines, self._here.workforce.muster()
        hosts = {0: socket.gethostname()} | self._gathered()
        # Counted up by attempts, as without a leader; but a port that somebody has taken meanwhile is passed over.
        with next_port(ports_of_attempt(self._port, 1, attempt)[0]) as port:
            ports = tuple(ports_of_attempt(port, size, 0))
            self._nodes = list(hosts)
            self._expected = set(hosts) - {0}
            self._open.begin(attempt, why, hosts, ports)
            here = Machines(
                rank=0,
                hosts=tuple(hosts.values()),
                known=True,
                address=machines.address,
                port=port,
                source=f"--nnodes {self._span}",
                job=machines.job,
            )
            yield self._here.layout(attempt, here, devices, size, ports)

    def notify(self, how: How) -> None:
        """All other machines end the attempt."""
        self._open.end(how)

    def completed(self, layout: Layout, result: Result) -> Result:
        """Waits for the others, as long as they work or have reason to take their time."""
        number = result.signal
        while outstanding := self._open.outstanding:
            deadline = self._deadline()
            try:
                if self._here.next_event(deadline) is None and deadline < time.monotonic():
                    for node in outstanding:
                        self._open.expel(node, ExitCode.LOST, "it did not end its workers in time")
            except AskedToEndError as interrupted:
                if number is not None and interrupted.number == signal.SIGINT:  # somebody is in a hurry
                    break
                number = number or interrupted.number
                self._open.end("signalled")
        accounts = [*result.accounts, *self._accounts_of_others(layout)]
        reached = Counter(result.reached)
        for report in self._open.reports.values():
            reached |= Counter(report.reached)  # the higher one of each
        self._expected -= {node for node, report in self._open.reports.items() if report.left is not None}
        return replace(
            result,
            accounts=tuple(sorted(accounts, key=lambda account: account.rank)),
            signal=number,
            ended=max(result.ended, time.monotonic()),
            reached=dict(reached),
        )

    def unit(self, layout: Layout, rank: int) -> Hashable:
        """A machine."""
        return self._nodes[rank // layout.local_size]

    def leave_out(self, layout: Layout, rank: int) -> str | None:
        """Sends the machine away. This one cannot go; and who has gone already needs not."""
        node = self._nodes[rank // layout.local_size]
        if node not in self._open.present:
            return None
        why = "its workers were lost in two attempts running, and the job got no further in the second"
        self._open.expel(node, ExitCode.LOST, why)
        self._expected.discard(node)
        return self._called(node)

    def dismiss(self, code: int, why: str) -> None:
        """All launchers end."""
        self._open.dismiss(code, why)

    @property
    def _open(self) -> Meeting:
        assert self._meeting is not None
        return self._meeting

    def _deadline(self) -> float:
        """Until when reports must have come. Machines whose workers may still work have no limit; they give signs."""
        began = self._open.ending_since
        return float("inf") if began is None else began + 2 * self._here.options.grace + _ENDING_SECONDS

    def _gathered(self) -> dict[int, str]:
        """Those who are here once all have come who are expected, or the window closes; raises :class:`TooFewError`.

        Before the first attempt all may come. Later those are waited for who were there the last time and did not say
        that they leave; for others only if there are not enough.
        """
        window = self._here.options.join_window
        deadline = time.monotonic() + window
        while True:
            present = self._open.present
            enough = len(present) + 1 >= self._span.least
            if enough and self._expected <= present.keys():
                return present
            if time.monotonic() >= deadline:
                break
            self._here.next_event(deadline)
        if enough:
            missing = ", ".join(self._called(node) for node in sorted(self._expected - present.keys()))
            self._here.screen.message(f"unisono: {missing} did not come within {window:g} s. The job goes on without.")
            return present
        missing = ", ".join(self._called(node) for node in range(1, self._most) if node not in present)
        where = join_address(self._here.machines.address, meeting_port(self._port))
        raise TooFewError(
            f"{len(present) + 1} of at least {self._span.least} machines came to {where} within {window:g} s. Missing: "
            f"{missing}. Start `unisono run` there with the same flags, or wait longer: --join-window {2 * window:g}"
        )

    def _called(self, node: int) -> str:
        host = self._open.known.get(node)
        return f"machine {node}" + (f" ({host})" if host else "")

    def _accounts_of_others(self, layout: Layout) -> Iterator[Account]:
        for rank, node in enumerate(self._nodes):
            workers = range(rank * layout.local_size, (rank + 1) * layout.local_size)
            if (report := self._open.reports.get(node)) is not None:
                yield from (_seen_by_the_job(account, report) for account in report.accounts if account.rank in workers)
            elif (loss := self._open.losses.get(node)) is not None:
                what = f"was lost with its machine ({loss.why})"
                yield from (Account(rank=i, code=-signal.SIGKILL, at=loss.at, instead=what) for i in workers)


def _seen_by_the_job(account: Account, report: Report) -> Account:
    """A machine whose launcher was told to end has left: for those who go on, that is what its workers did."""
    if report.left is None or not account.told:
        return account
    what = f"left with its machine ({report.left.name} to the launcher there)"
    return replace(account, code=ExitCode.PREEMPTED, told=False, instead=what)
