from __future__ import annotations

from typing import Any

import pytest

from unisono_launch.cluster import (
    ClusterResolver,
    ClusterSpec,
    GCEClusterResolver,
    SageMakerClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    UnionResolver,
    membership,
)

from . import recorded

TWO = ClusterSpec({"worker": ["a:1", "b:1"]})


def test_it_gives_back_what_it_was_given() -> None:
    found = SimpleClusterResolver(
        TWO, "m:1", "worker", 1, environment="google", num_accelerators={"GPU": 8}, rpc_layer="grpc"
    )
    assert found.cluster_spec() is TWO
    assert (found.task_type, found.task_id, found.environment, found.rpc_layer) == ("worker", 1, "google", "grpc")
    assert found.num_accelerators() == {"GPU": 8}
    assert (found.master(), found.master("worker", 0), found.master(rpc_layer="x")) == (
        "grpc://m:1",
        "grpc://a:1",
        "x://m:1",
    )
    found.task_id = 0
    assert membership(found).is_chief


def test_without_accelerators_it_counts_none() -> None:
    assert SimpleClusterResolver(TWO).num_accelerators() == {}


@pytest.mark.parametrize("arguments", [({"worker": ["a:1"]},), (TWO, 1)])
def test_wrong_types_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="got"):
        SimpleClusterResolver(*arguments)


def test_a_union_of_one_cluster_takes_each_fact_from_the_first_that_knows_it() -> None:
    two_gpus = SimpleClusterResolver(TWO, num_accelerators={"GPU": 2})
    second = SimpleClusterResolver(TWO, task_type="worker", task_id=1, rpc_layer="grpc")
    found = UnionResolver(two_gpus, second)
    assert found.cluster_spec() == TWO
    assert (found.task_type, found.task_id, found.rpc_layer) == ("worker", 1, "grpc")
    assert found.num_accelerators() == {"GPU": 2}
    assert found.master("worker", 0) == "grpc://a:1"
    assert UnionResolver(two_gpus, second, task_id=0).task_id == 0


def test_a_union_meets_where_the_resolver_says_that_knows_the_task() -> None:
    slurm = SlurmClusterResolver(environ=dict(recorded.SRUN))
    override = SimpleClusterResolver(slurm.cluster_spec(), num_accelerators={"GPU": 1})
    assert membership(UnionResolver(override, slurm)) == membership(slurm)


def test_a_union_of_different_clusters_is_refused_with_what_to_write() -> None:
    other = SimpleClusterResolver(ClusterSpec({"ps": ["p:1"]}))
    with pytest.raises(ValueError, match=r"different clusters: .*'a:1'.*'p:1'.* Write one ClusterSpec"):
        UnionResolver(SimpleClusterResolver(TWO), other).cluster_spec()


def test_a_union_needs_resolvers() -> None:
    with pytest.raises(ValueError, match="at least one"):
        UnionResolver()
    with pytest.raises(TypeError, match="made of ClusterResolvers"):
        UnionResolver(TWO)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [GCEClusterResolver, SageMakerClusterResolver])
def test_clouds_that_would_have_to_be_asked_are_refused_in_one_sentence(kind: type[ClusterResolver]) -> None:
    with pytest.raises(
        NotImplementedError, match=f"{kind.__name__} is not supported: .*TF_CONFIG.*SimpleClusterResolver"
    ):
        kind("project", zone="here")  # type: ignore[call-arg]


def test_a_kind_of_ones_own_needs_a_cluster_and_a_master_only() -> None:
    class Own(ClusterResolver):
        def cluster_spec(self) -> ClusterSpec:
            return TWO

        def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
            return ""

    found = Own()
    assert (found.task_type, found.task_id, found.rpc_layer, found.environment) == (None, None, None, "")
    found.task_type, found.task_id = "worker", 1
    assert membership(found).process_id == 1
    assert membership(found).source == "Own"
