"""Which GPU a worker takes is said by its membership: a new resolver needs no change in the strategies."""

from typing import Any

import pytest

from unisono._src.strategy import _join_cluster
from unisono_launch.cluster import ClusterResolver, ClusterSpec, Membership


class Launcher(ClusterResolver):
    """A resolver that the package has never heard of."""

    def __init__(self, takes_gpu: bool, local_size: int) -> None:
        self._takes_gpu, self._local_size = takes_gpu, local_size

    def cluster_spec(self) -> ClusterSpec:
        return ClusterSpec({"worker": ["a:1", "a:2"]})

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        return ""

    def membership(self) -> Membership:
        return Membership(
            num_processes=2,
            process_id=1,
            coordinator="a:1",
            names=("worker 0", "worker 1"),
            local_rank=self._local_size - 1,
            local_size=self._local_size,
            takes_gpu_of_local_rank=self._takes_gpu,
            source="a launcher",
        )


@pytest.mark.parametrize(
    ("takes_gpu", "local_size", "gpus"), [(True, 2, [1]), (True, 1, None), (False, 2, None), (False, 1, None)]
)
def test_a_worker_takes_the_gpu_of_its_local_rank_if_its_launcher_leaves_that_to_it(
    takes_gpu: bool, local_size: int, gpus: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[Any] = []
    monkeypatch.setattr(_join_cluster, "join_processes", lambda *arguments: joined.append(arguments))
    _join_cluster.join_cluster(Launcher(takes_gpu, local_size), 5.0)
    ((coordinator, everyone, seconds, _, _, found),) = joined
    assert (coordinator, everyone.index, everyone.count, seconds) == ("a:1", 1, 2, 5.0)
    assert found == gpus
