from __future__ import annotations

import json
from typing import Any

import pytest

from unisono_launch.cluster import TFConfigClusterResolver, membership

from . import recorded

TWO = {"cluster": {"worker": ["a:1", "b:1"]}}


def resolver(config: dict[str, Any] | str, **arguments: Any) -> TFConfigClusterResolver:
    text = config if isinstance(config, str) else json.dumps(config)
    return TFConfigClusterResolver(**arguments, environ={"TF_CONFIG": text})


@pytest.mark.parametrize(
    ("config", "arguments", "task", "master"),
    [
        ({**TWO, "task": {"type": "worker", "index": 1}}, {}, ("worker", 1), "b:1"),
        ({**TWO, "task": {"type": "worker", "index": "1"}}, {}, ("worker", 1), "b:1"),
        ({**TWO, "task": {"type": "worker", "index": 1}}, {"task_id": 0}, ("worker", 0), "a:1"),
        ({**TWO, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"}, {}, ("worker", 1), "grpc://b:1"),
        (
            {**TWO, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"},
            {"rpc_layer": "x"},
            ("worker", 1),
            "x://b:1",
        ),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}, {}, ("worker", 0), ""),
        ({"session_master": "s:1"}, {}, (None, None), "s:1"),
        ("{}", {}, (None, None), ""),
        ("", {}, (None, None), ""),
    ],
)
def test_task_and_master_are_those_of_tensorflow(
    config: dict[str, Any] | str, arguments: dict[str, Any], task: tuple[Any, Any], master: str
) -> None:
    found = resolver(config, **arguments)
    assert (found.task_type, found.task_id) == task
    assert found.master() == master


def test_the_variable_is_read_when_asked_and_not_when_made() -> None:
    environ: dict[str, str] = {}
    found = TFConfigClusterResolver(environ=environ)
    assert not found.cluster_spec()
    environ.update(recorded.TF_CONFIG)
    assert found.cluster_spec().num_tasks("worker") == 2


def test_task_and_layer_can_be_set_afterwards() -> None:
    found = resolver(TWO)
    found.task_type, found.task_id, found.rpc_layer = "worker", 1, "grpc"
    assert found.master() == "grpc://b:1"
    assert membership(found).process_id == 1


def test_the_environment_is_what_was_passed_else_that_of_the_variable() -> None:
    config = recorded.TF_JOB["TF_CONFIG"]
    assert resolver(config).environment == "cloud"
    assert resolver(config, environment="google").environment == "google"
    assert resolver(TWO).environment is None


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{'cluster': {}}", r"TF_CONFIG is not JSON \(Expecting property name.*\): \{'cluster': \{\}\}\nExpected: \{"),
        ("[1]", "TF_CONFIG is not a JSON object"),
        ({"cluster": ["a:1", "b:1"]}, "The cluster of TF_CONFIG is .* Expected: "),
        ({"cluster": {"worker": "a:1"}}, "The tasks of job 'worker' are a list of addresses"),
        (TWO, r"does not say which task of it this process is: task type None, index None.\nGive both"),
        ({**TWO, "task": {"type": "worker"}}, "task type 'worker', index None"),
        ({**TWO, "task": {"index": 1}}, "task type None, index 1"),
        ({**TWO, "task": ["worker", 1]}, r"The task of TF_CONFIG is \['worker', 1\]"),
        ({**TWO, "task": {"type": "worker", "index": "one"}}, "The task index of TF_CONFIG is 'one', not a number"),
        (
            {**TWO, "task": {"type": "worker", "index": 2}},
            "'worker' 2, which is not in its cluster .*worker 0, worker 1",
        ),
        ({**TWO, "task": {"type": "chief", "index": 0}}, "'chief' 0, which is not in its cluster"),
        (
            {"cluster": {"worker": ["a", "b"]}, "task": {"type": "worker", "index": 0}},
            "'a' is not an address of the form",
        ),
    ],
)
def test_a_broken_variable_is_refused_with_what_was_expected(config: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        membership(resolver(config))
