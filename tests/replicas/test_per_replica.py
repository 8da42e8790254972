from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import unisono
import unisono._src.replicas.values
from unisono._src.data.plans import flatten
from unisono._src.replicas.values import DistributedValues, PerReplica, PerReplicaSpec, put_on_devices, regroup


class Batch(NamedTuple):
    x: Any
    y: Any


def test_the_base_class_is_public_and_cannot_be_made() -> None:
    assert issubclass(PerReplica, unisono.DistributedValues)
    with pytest.raises(TypeError, match="abstract"):
        DistributedValues()  # type: ignore[abstract]


def test_it_shows_the_value_of_each_replica_as_tensorflow_does() -> None:
    assert repr(PerReplica([np.array([1]), None])) == "PerReplica:{\n  0: array([1]),\n  1: None\n}"


def test_it_is_one_leaf_of_a_nest_for_us_and_for_jax() -> None:
    leaf = PerReplica([1, 2])
    assert flatten({"a": leaf}) == jax.tree.leaves({"a": leaf}) == [leaf]


def test_specs_are_equal_if_those_of_all_replicas_are() -> None:
    assert PerReplicaSpec(1, 2) == PerReplicaSpec(1, 2) != PerReplicaSpec(1, 3)
    assert len({PerReplicaSpec(1, 2), PerReplicaSpec(1, 2)}) == 1
    assert PerReplicaSpec(1, 2).specs == (1, 2)


def test_nests_of_replicas_become_one_nest_of_the_same_kind() -> None:
    nest = regroup([Batch((1, None), {"a": 3}), Batch((4, None), {"a": 6})])
    assert isinstance(nest, Batch)
    assert (nest.x[0].values, nest.x[1], nest.y["a"].values) == ((1, 4), None, (3, 6))


def test_numbers_and_arrays_move_to_their_device_and_strings_and_objects_do_not() -> None:
    thing = object()
    devices = jax.devices("cpu")[1:3]
    placed = put_on_devices([(np.ones(2), 3, "a", np.array(["b"]), thing, None)] * 2, devices)
    for (array, number, *rest), device in zip(placed, devices, strict=True):
        assert array.devices() == number.devices() == {device}
        assert rest == ["a", np.array(["b"]), thing, None]


def test_a_random_key_moves_too() -> None:
    device = jax.devices("cpu")[1]
    (key,) = put_on_devices([jax.random.key(0)], [device])
    assert key.devices() == {device}
