"""What a worker does: it runs programs on the present values of variables, and sends the updates to their servers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import jax
import numpy as np

from unisono._src.parameter_servers._arrays import Array
from unisono._src.parameter_servers._channel import Channel, RefusedError, RequestError
from unisono._src.parameter_servers._daemon_threads import DaemonThreads
from unisono._src.parameter_servers._exported import load_program
from unisono_launch.connection import Message, PeerLostError

SERVER_LOST = "server lost"


@dataclass(frozen=True)
class _LoadedProgram:
    run: Callable[..., Any]
    num_results: int
    reads: list[list[int]]
    """(server, variable) of each value that it reads."""
    updates: list[Message]
    """{"server", "program", "variables", "received"}; the last are positions among its outputs."""


@dataclass
class _Copy:
    """A variable as it was last read."""

    version: int = -1
    value: Any = None


@dataclass(eq=False)  # a key of dicts
class _ServerConnection:
    channel: Channel
    copies: dict[int, _Copy] = field(default_factory=dict)


@final
class ClosureRunner:
    """The worker of one job. Requests come from the chief, one at a time.

    Args:
        job: the name of the job.
        device: on which programs run.
    """

    def __init__(self, job: str, device: Any) -> None:
        self._job, self._device = job, device
        self._addresses: list[str] = []
        self._servers: dict[int, _ServerConnection] = {}
        self._receivers: DaemonThreads | None = None  # a thread for each server
        self._programs: dict[int, _LoadedProgram] = {}

    def handle(self, message: Message, arrays: Sequence[Array], data: bytes) -> tuple[Message, Sequence[Any]]:
        """The answer to a request."""
        if message["type"] == "servers":
            self._addresses = message["addresses"]
            return {}, ()
        if message["type"] == "program":
            self._programs[message["number"]] = _LoadedProgram(
                load_program(data), message["num_results"], message["reads"], message["updates"]
            )
            return {}, ()
        return {}, self._run(message, arrays)

    def close(self) -> None:
        """Closes the connections to the parameter servers."""
        self._disconnect()
        if self._receivers is not None:
            self._receivers.close()

    def _disconnect(self) -> None:
        for server in self._servers.values():
            server.channel.close()
        self._servers.clear()

    def _run(self, message: Message, arrays: Sequence[Array]) -> list[Any]:
        program = self._programs[message["program"]]
        with jax.default_device(self._device):
            outputs = program.run(self._read(program), list(arrays))
        # To the host at once: on CPUs this is the memory of the arrays themselves, on others one transfer.
        outputs = [np.asarray(output) for output in outputs]
        self._send_updates(program, outputs, message)
        return outputs[: program.num_results]

    def _read(self, program: _LoadedProgram) -> list[Any]:
        """The present values of the variables; those that have not changed since are not sent again."""
        wanted: dict[int, list[int]] = {}
        for server, number in program.reads:
            wanted.setdefault(server, []).append(number)
        with self._requests(wanted) as servers:
            for index, numbers in wanted.items():
                copies = [servers[index].copies.setdefault(number, _Copy()) for number in numbers]
                known = [copy.version for copy in copies]
                servers[index].channel.start({"type": "read", "variables": numbers, "known": known})
            self._receive_all({servers[index]: numbers for index, numbers in wanted.items()})
        return [self._servers[server].copies[number].value for server, number in program.reads]

    def _receive_all(self, wanted: Mapping[_ServerConnection, list[int]]) -> None:
        """Receives from all servers at the same time: one that could not send for two minutes, while another one sends
        what takes that long, would drop the connection (see `FrameConnection`)."""
        if len(wanted) < 2:
            for server, numbers in wanted.items():
                self._receive(server, numbers)
            return
        if self._receivers is None:
            self._receivers = DaemonThreads(len(self._addresses), name="unisono receiver")
        self._receivers.run_all([partial(self._receive, server, numbers) for server, numbers in wanted.items()])

    def _receive(self, server: _ServerConnection, numbers: list[int]) -> None:
        answer, arrays = server.channel.finish()
        for position, array in zip(answer["changed"], arrays, strict=True):
            copy = server.copies[numbers[position]]
            copy.version, copy.value = answer["versions"][position], jax.device_put(array, self._device)

    def _send_updates(self, program: _LoadedProgram, outputs: list[Any], message: Message) -> None:
        by_server: dict[int, list[Message]] = {}
        for update in program.updates:
            by_server.setdefault(update["server"], []).append(update)
        with self._requests(by_server) as servers:
            for index, updates in by_server.items():
                positions = sorted({position for update in updates for position in update["received"]})
                renumbered = [
                    {**update, "received": [positions.index(position) for position in update["received"]]}
                    for update in updates
                ]
                request = {"type": "update", "updates": renumbered}
                request |= {"closure": message["closure"], "finished_below": message["finished_below"]}
                servers[index].channel.start(request, [outputs[position] for position in positions])
            for index in by_server:
                servers[index].channel.finish()

    @contextlib.contextmanager
    def _requests(self, indices: Any) -> Iterator[dict[int, _ServerConnection]]:
        """The servers, connected. One that is lost is an error of its own kind, by which the chief knows it.

        After any error all connections are made anew: answers to this request may still arrive in them, and would be
        taken for those to the next one.
        """
        try:
            for index in indices:
                if index not in self._servers:
                    self._servers[index] = _ServerConnection(Channel.open(self._addresses[index], "worker", self._job))
            yield self._servers
        except BaseException as error:
            self._disconnect()
            if isinstance(error, PeerLostError | RefusedError):
                raise RequestError(SERVER_LOST, str(error)) from error
            raise
