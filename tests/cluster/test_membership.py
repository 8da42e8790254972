from __future__ import annotations

from typing import Any

import pytest

from unisono_launch.cluster import ClusterSpec, Membership, SimpleClusterResolver, membership

CHIEF_AND_TWO = {"chief": ["c:1"], "worker": ["a:1", "b:1"], "evaluator": ["e:1"]}


def resolve(cluster: dict[str, Any], task_type: str | None, task_id: int | None) -> Membership:
    return membership(SimpleClusterResolver(ClusterSpec(cluster), task_type=task_type, task_id=task_id))


@pytest.mark.parametrize(
    ("cluster", "task", "process_id", "is_chief"),
    [
        (CHIEF_AND_TWO, ("chief", 0), 0, True),
        (CHIEF_AND_TWO, ("worker", 0), 1, False),
        (CHIEF_AND_TWO, ("worker", 1), 2, False),
        ({"worker": ["a:1", "b:1", "c:1"]}, ("worker", 0), 0, True),
        ({"worker": ["a:1", "b:1", "c:1"]}, ("worker", 2), 2, False),
        ({"worker": ["a:1", "b:1", "c:1"], "ps": []}, ("worker", 2), 2, False),
    ],
)
def test_the_chief_comes_first_and_without_one_the_first_worker_is_it(
    cluster: dict[str, Any], task: tuple[str, int], process_id: int, is_chief: bool
) -> None:
    found = resolve(cluster, *task)
    assert (found.num_processes, found.process_id, found.is_chief) == (3, process_id, is_chief)
    assert found.role == task[0]
    assert found.coordinator == found.names[0].split(" at ")[1]


@pytest.mark.parametrize("cluster", [CHIEF_AND_TWO, {"worker": ["a:1", "b:1"]}])
def test_an_evaluator_is_a_group_of_its_own_in_the_cluster_or_not(cluster: dict[str, Any]) -> None:
    found = resolve(cluster, "evaluator", 0)
    assert (found.num_processes, found.process_id, found.coordinator) == (1, 0, None)
    assert (found.role, found.is_chief, found.name) == ("evaluator", True, "evaluator 0")


@pytest.mark.parametrize("cluster", [{}, {"worker": ["a:1"]}])
def test_one_process_needs_no_coordinator(cluster: dict[str, Any]) -> None:
    found = resolve(cluster, "worker", 0)
    assert (found.num_processes, found.coordinator, found.is_chief) == (1, None, True)


def test_processes_on_one_host_are_numbered_there() -> None:
    cluster = {"chief": ["[fd00::1]:1"], "worker": ["b:1", "[fd00::1]:2", "[fd00::1]:3"]}
    found = resolve(cluster, "worker", 2)
    assert (found.local_rank, found.local_size) == (2, 3)


@pytest.mark.parametrize("task", [("ps", 0), ("worker", 0), ("chief", 0)])
def test_parameter_servers_are_refused_on_every_process_with_what_to_use(task: tuple[str, int]) -> None:
    cluster = {"chief": ["c:1"], "ps": ["p:1"], "worker": ["a:1"]}
    with pytest.raises(ValueError, match=r"(?s)\('ps': \['p:1'\]\).* cannot use.*Use unisono.ParameterServerStrategy;"):
        resolve(cluster, *task)


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ({"master": ["m:1"], "worker": ["a:1"]}, r"has the jobs \['master'\].*'master' is now called 'chief'"),
        ({"trainer": ["m:1"]}, r"has the jobs \['trainer'\]. Expected 'chief', 'worker' and 'evaluator' only.$"),
        ({"chief": ["a:1", "b:1"]}, "2 tasks in job 'chief'. There is at most one"),
        ({"worker": ["a:1"], "evaluator": ["a:1", "b:1"]}, "2 tasks in job 'evaluator'"),
        ({"worker": {0: "a:1", 2: "b:1"}}, r"the tasks \[0, 2\] in job 'worker'.*without gaps"),
    ],
)
def test_clusters_that_cannot_train_are_refused(cluster: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve(cluster, "worker", 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"process_id": 2}, "process 2 of 2"),
        ({"process_id": -1}, "process -1 of 2"),
        ({"names": ("one",)}, "names 1 of 2 processes"),
        ({"coordinator": None}, "does not say where the coordinator of 2 processes is"),
        ({"coordinator": "host"}, "'host' is not an address"),
        ({"coordinator": "host:99999"}, "'host:99999' is not an address"),
        ({"coordinator": "fd00::2:80"}, "'fd00::2:80' is not an address"),
        ({"local_rank": 1}, "process 1 of 1 on its machine"),
        ({"local_size": 3}, "process 0 of 3 on its machine, of 2 in all"),
    ],
)
def test_a_place_that_cannot_be_is_refused(changed: dict[str, Any], message: str) -> None:
    fitting = {"num_processes": 2, "process_id": 0, "coordinator": "a:1", "names": ("one", "two"), "source": "a test"}
    Membership(**fitting)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        Membership(**{**fitting, **changed})
