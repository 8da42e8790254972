from __future__ import annotations

from typing import Any

import pytest

from unisono_launch.cluster import ClusterSpec


@pytest.mark.parametrize(
    ("given", "as_dict", "indices", "tasks"),
    [
        ({"worker": ["a:1", "b:1"]}, {"worker": ["a:1", "b:1"]}, [0, 1], ["a:1", "b:1"]),
        ({"worker": ("a:1",)}, {"worker": ["a:1"]}, [0], ["a:1"]),
        ({"worker": {1: "b:1", 0: "a:1"}}, {"worker": ["a:1", "b:1"]}, [0, 1], ["a:1", "b:1"]),
        ({"worker": {"0": "a:1"}}, {"worker": ["a:1"]}, [0], ["a:1"]),
        ({"worker": {2: "c:1"}}, {"worker": {2: "c:1"}}, [2], [None, None, "c:1"]),
        ({"worker": []}, {"worker": {}}, [], []),
    ],
)
def test_jobs_are_given_as_lists_or_by_index(
    given: dict[str, Any], as_dict: dict[str, Any], indices: list[int], tasks: list[str | None]
) -> None:
    spec = ClusterSpec(given)
    assert spec.as_dict() == as_dict
    assert spec.task_indices("worker") == indices
    assert spec.num_tasks("worker") == len(indices)
    assert spec.job_tasks("worker") == tasks
    assert [spec.task_address("worker", i) for i in indices] == [task for task in tasks if task]
    assert ClusterSpec(spec) == spec


def test_it_looks_and_compares_as_tensorflows() -> None:
    spec = ClusterSpec({"worker": ["b:1"], "chief": ["a:1"]})
    assert spec.jobs == ["worker", "chief"]
    assert repr(spec) == "ClusterSpec({'chief': ['a:1'], 'worker': ['b:1']})"
    assert spec == ClusterSpec({"chief": {0: "a:1"}, "worker": ["b:1"]})
    assert spec == {"worker": {0: "b:1"}, "chief": {0: "a:1"}}
    assert spec != ClusterSpec({"worker": ["b:1"]})
    assert spec
    assert not ClusterSpec({})


def test_changing_what_it_gives_does_not_change_it() -> None:
    spec = ClusterSpec({"worker": ["a:1"]})
    spec.as_dict()["worker"].clear()
    spec.job_tasks("worker").clear()
    assert spec.num_tasks("worker") == 1


@pytest.mark.parametrize("given", [None, ["a:1"], {"worker": "a:1"}, {"worker": [1]}, {1: ["a:1"]}])
def test_what_is_no_cluster_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match=r"got|has|string"):
        ClusterSpec(given)


def test_a_job_or_task_that_is_not_there_is_a_value_error_that_says_what_is() -> None:
    spec = ClusterSpec({"worker": ["a:1"]})
    with pytest.raises(ValueError, match=r"No such job in cluster: 'ps'. It has \['worker'\]"):
        spec.num_tasks("ps")
    with pytest.raises(ValueError, match=r"No task with index 3 in job 'worker': it has \[0\]"):
        spec.task_address("worker", 3)
