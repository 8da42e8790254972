"""The check that all devices and processes have the same weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unisono._src.processes import Processes
from unisono._src.training import _in_sync, check_in_sync

HALVES = [slice(0, 2)], [slice(2, 4)]
WHOLE = [slice(0, 4)]


def variable(*shards: tuple[Any, float]) -> Any:
    """As one process sees it: the index and the value of each piece that its devices store."""
    pieces = [SimpleNamespace(index=index, data=np.full(2, value)) for index, value in shards]
    return SimpleNamespace(path="dense/kernel", _value=SimpleNamespace(addressable_shards=pieces))


def check_on_two_processes(monkeypatch: pytest.MonkeyPatch, *variables: Any) -> None:
    """The check of both must end alike: if one raised alone, the other would wait for it."""
    found: list[str | None] = []
    digests = [[_in_sync._digests(each)] for each in variables]
    monkeypatch.setattr(_in_sync, "all_gather_json", lambda own: digests)
    for index, each in enumerate(variables):
        monkeypatch.setattr(_in_sync, "processes", lambda index=index: Processes(index, ("worker 0", "worker 1")))
        try:
            check_in_sync(SimpleNamespace(variables=[each], optimizer=None))
            found.append(None)
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]
    if found[0] is not None:
        raise RuntimeError(found[0])


def test_processes_may_store_different_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = HALVES
    check_on_two_processes(monkeypatch, variable((first, 1.0)), variable((second, 2.0)))
    check_on_two_processes(monkeypatch, variable((first, 1.0), (second, 2.0)), variable((second, 2.0), (first, 1.0)))


def test_a_process_with_another_value_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match=r"dense/kernel differs in worker 1\."):
        check_on_two_processes(monkeypatch, variable((WHOLE, 1.0)), variable((WHOLE, 2.0)))


@pytest.mark.parametrize("index", [0, 1])
def test_a_process_whose_devices_differ_is_named_on_all(monkeypatch: pytest.MonkeyPatch, index: int) -> None:
    variables = [variable((WHOLE, 1.0), (WHOLE, 1.0)), variable((WHOLE, 1.0), (WHOLE, 1.0))]
    variables[index] = variable((WHOLE, 1.0), (WHOLE, 3.0))
    with pytest.raises(RuntimeError, match=f"dense/kernel differs between the devices of worker {index}"):
        check_on_two_processes(monkeypatch, *variables)
