"""`tf.distribute`: the strategies by TensorFlow's names, their older names, and what is not supported."""

import json

import jax
import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf


@pytest.fixture(scope="module")
def strategy() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_the_classes_are_those_of_unisono() -> None:
    assert tf.distribute.MirroredStrategy is unisono.MirroredStrategy
    assert tf.distribute.MultiWorkerMirroredStrategy is unisono.MultiWorkerMirroredStrategy
    assert tf.distribute.OneDeviceStrategy is unisono.OneDeviceStrategy
    assert tf.distribute.TPUStrategy is unisono.TPUStrategy
    assert tf.distribute.ReplicaContext is unisono.ReplicaContext
    assert tf.distribute.RunOptions is unisono.RunOptions
    assert tf.distribute.experimental.CentralStorageStrategy is unisono.CentralStorageStrategy
    assert tf.distribute.experimental.PreemptionCheckpointHandler is unisono.checkpoint.PreemptionCheckpointHandler
    assert tf.distribute.experimental.TerminationConfig is unisono.checkpoint.TerminationConfig


def test_an_empty_list_of_devices_means_all_as_in_tensorflow() -> None:
    strategy = tf.distribute.MirroredStrategy(tf.config.list_logical_devices("GPU"))
    assert strategy.num_replicas_in_sync == tf.distribute.MirroredStrategy().num_replicas_in_sync > 1
    assert tf.distribute.MirroredStrategy(devices=()).num_replicas_in_sync == strategy.num_replicas_in_sync


@pytest.mark.parametrize(
    "names",
    [
        ["/cpu:0", "/cpu:1"],
        ["CPU:0", "CPU:1"],
        ["/device:CPU:0", "/device:CPU:1"],
        ["/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"],
    ],
)
def test_devices_may_be_spelled_in_all_of_tensorflows_ways(names: list[str]) -> None:
    assert tf.distribute.MirroredStrategy(devices=names).extended.worker_devices == ("cpu:0", "cpu:1")


def test_logical_devices_may_be_passed() -> None:
    devices = tf.config.list_logical_devices("CPU")[:2]
    assert tf.distribute.MirroredStrategy(devices).num_replicas_in_sync == 2
    assert tf.distribute.OneDeviceStrategy(device="/cpu:3").extended.parameter_devices == ("cpu:3",)


def test_missing_gpus_are_named() -> None:
    with pytest.raises(ValueError, match=r"There is no device gpu:0 on this machine. It has: cpu:0"):
        tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])


def test_scopes_runs_and_reductions(strategy: tf.distribute.Strategy) -> None:
    with strategy.scope():
        assert tf.distribute.has_strategy()
        assert tf.distribute.in_cross_replica_context()
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.get_replica_context() is None
        variable = tf.Variable(2.0)
    assert isinstance(strategy, tf.distribute.Strategy)
    assert isinstance(strategy.extended, tf.distribute.StrategyExtended)

    def step(x: jax.Array) -> jax.Array:
        context = tf.distribute.get_replica_context()
        assert len(context.devices) == 2
        return context.all_reduce(tf.distribute.ReduceOp.SUM, x * variable)

    value = strategy.experimental_distribute_values_from_function(
        lambda context: np.float32(context.replica_id_in_sync_group + 1)
    )
    assert isinstance(value, tf.distribute.DistributedValues)
    total = strategy.run(step, args=(value,))
    assert strategy.reduce(tf.distribute.ReduceOp.MEAN, total, axis=None).numpy() == 6.0


def test_a_strategy_is_set_for_the_process_and_taken_back(strategy: tf.distribute.Strategy) -> None:
    tf.distribute.experimental_set_strategy(strategy)
    try:
        assert tf.distribute.get_strategy() is strategy
    finally:
        tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_datasets_of_the_namespace_are_distributed(strategy: tf.distribute.Strategy) -> None:
    dataset = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).batch(2)
    options = tf.distribute.InputOptions(experimental_fetch_to_device=True)
    distributed = strategy.experimental_distribute_dataset(dataset, options)
    assert isinstance(distributed, tf.distribute.DistributedDataset)
    iterator = iter(distributed)
    assert isinstance(iterator, tf.distribute.DistributedIterator)
    assert [value.numpy().tolist() for value in iterator.get_next().values] == [[1.0], [2.0]]
    assert iterator.get_next_as_optional().has_value()
    with pytest.raises(tf.errors.OutOfRangeError, match="the data has ended"):
        iterator.get_next()
    spec = tf.TensorSpec(shape=(None,), dtype=tf.float32)
    assert distributed.element_spec.specs == (spec, spec)

    def batches(context: tf.distribute.InputContext) -> tf.data.Dataset:
        return tf.data.Dataset.range(4).batch(context.get_per_replica_batch_size(4))

    (step,) = strategy.distribute_datasets_from_function(batches)
    assert strategy.gather(step, axis=0).numpy().tolist() == [0, 1, 2, 3]


def test_older_names_of_methods_work(strategy: tf.distribute.Strategy) -> None:
    with pytest.warns(DeprecationWarning, match="Write strategy.run"):
        result = strategy.experimental_run_v2(lambda x: x + 1, args=(1.0,))
    with pytest.warns(DeprecationWarning, match="experimental_local_results"):
        assert [float(value) for value in strategy.unwrap(result)] == [2.0, 2.0]
    strategy.group(result)
    dataset = tf.data.Dataset.range(4).batch(4)
    with pytest.warns(DeprecationWarning, match="experimental_distribute_dataset"):
        iterator = strategy.make_dataset_iterator(dataset)
    with pytest.warns(DeprecationWarning, match="next"):
        sums = strategy.experimental_run(lambda x: x.sum(), iterator)
    assert [int(value) for value in sums.values] == [1, 5]
    with pytest.warns(DeprecationWarning, match="distribute_datasets_from_function"):
        assert len(list(strategy.make_input_fn_iterator(lambda context: dataset.unbatch().batch(2)))) == 1
    with pytest.warns(DeprecationWarning, match="from_tensor_slices"):
        assert len(strategy.experimental_make_numpy_dataset(np.zeros(3))) == 3
    with strategy.scope():
        variable = keras.Variable(1.0)
    with strategy.colocate_vars_with(variable):
        assert strategy.extended.variable_created_in_scope(keras.Variable(1.0))
    with pytest.raises(NotImplementedError, match="sessions of TensorFlow 1"):
        strategy.configure()
    with pytest.raises(NotImplementedError, match="sessions of TensorFlow 1"):
        strategy.update_config_proto(None)


def test_cross_device_ops_are_accepted_and_custom_ones_raise(strategy: tf.distribute.Strategy) -> None:
    for ops in (
        tf.distribute.NcclAllReduce(num_packs=2),
        tf.distribute.HierarchicalCopyAllReduce(),
        tf.distribute.ReductionToOneDevice(),
    ):
        tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"], cross_device_ops=ops)
        value = strategy.experimental_distribute_values_from_function(
            lambda context: np.float32(context.replica_id_in_sync_group)
        )
        assert float(ops.reduce("MEAN", value, destinations="cpu:0")) == 0.5
        assert [float(each) for each in ops.batch_reduce("SUM", [(value, None)])] == [1.0]
        assert ops.broadcast(3, None) == 3

    class OwnRing(tf.distribute.CrossDeviceOps):
        pass

    with pytest.raises(NotImplementedError, match="would never be called"):
        tf.distribute.MirroredStrategy(["cpu:0"], cross_device_ops=OwnRing())


def test_older_spellings_of_strategies_have_their_older_signatures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    old = tf.distribute.experimental.MultiWorkerMirroredStrategy(
        communication=tf.distribute.experimental.CollectiveCommunication.RING
    )
    assert isinstance(old, tf.distribute.MultiWorkerMirroredStrategy)
    assert tf.distribute.experimental.CollectiveHints(timeout_seconds=5.0).timeout_seconds == 5.0
    options = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation.NCCL
    )
    assert options.implementation.name == "NCCL"
    assert tf.distribute.experimental.ValueContext(1, 2).num_replicas_in_sync == 2
    assert tf.distribute.InputReplicationMode.PER_WORKER.name == "PER_WORKER"


def test_a_tpu_strategy_has_one_logical_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_FAKE_TPU", "2")
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="")
    tf.config.experimental_connect_to_cluster(resolver)
    assert tf.tpu.experimental.initialize_tpu_system(resolver).num_cores == 2
    assert len(tf.config.list_logical_devices("TPU")) == 2
    strategy = tf.distribute.experimental.TPUStrategy(resolver, device_assignment=None)
    assert strategy.num_replicas_in_sync == 2
    assert strategy.experimental_assign_to_logical_device(1.0, 0) == 1.0
    assert strategy.experimental_split_to_logical_devices(1.0, [1, 1]) == 1.0
    assert strategy.experimental_replicate_to_logical_devices(1.0) == 1.0
    with pytest.raises(NotImplementedError, match="logical device 1 is not supported"):
        strategy.experimental_assign_to_logical_device(1.0, 1)
    with pytest.raises(NotImplementedError, match=r"a split into \[2, 1\]"):
        strategy.experimental_split_to_logical_devices(1.0, [2, 1])
    tf.tpu.experimental.shutdown_tpu_system(resolver)


def test_the_names_of_parameter_servers_are_those_of_unisono() -> None:
    servers = unisono.parameter_servers
    experimental = tf.distribute.experimental
    assert tf.distribute.ParameterServerStrategy is experimental.ParameterServerStrategy
    assert tf.distribute.ParameterServerStrategy is servers.ParameterServerStrategy
    assert tf.distribute.coordinator.ClusterCoordinator is experimental.coordinator.ClusterCoordinator
    assert tf.distribute.coordinator.RemoteValue is experimental.coordinator.RemoteValue
    assert tf.distribute.coordinator.PerWorkerValue is experimental.coordinator.PerWorkerValues
    assert experimental.partitioners.Partitioner is servers.Partitioner
    assert experimental.partitioners.FixedShardsPartitioner(2)((3, 3), tf.float32) == [2, 1]
    assert experimental.partitioners.MaxSizePartitioner(8, max_shards=4)((3, 2), tf.float32) == [3, 1]
    assert experimental.partitioners.MinSizePartitioner(8, max_shards=2)((3, 2), tf.float32) == [2, 1]
    with pytest.raises(RuntimeError, match="outside functions that run for a worker"):
        tf.distribute.coordinator.experimental_get_current_worker_index()
    server = tf.distribute.Server.create_local_server(start=False)
    assert server.server_def["job_name"] == "worker"
    assert server.target.startswith("grpc://localhost:")
    server.start()
    server.stop()
    server.join()


def test_remote_procedure_calls_name_the_alternative() -> None:
    for unsupported in (tf.distribute.experimental.rpc.Client, tf.distribute.experimental.rpc.Server):
        with pytest.raises(NotImplementedError, match="remote procedure calls"):
            unsupported()
    with pytest.raises(NotImplementedError, match="PreemptionCheckpointHandler"):
        tf.distribute.experimental.PreemptionWatcher()


def test_resolvers_are_those_of_unisono(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"worker": ["a:1", "b:2"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 1}}))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    assert isinstance(resolver, tf.distribute.cluster_resolver.ClusterResolver)
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), task_type="worker", task_id=0, rpc_layer="grpc"
    )
    tf.config.experimental_connect_to_cluster(simple)
    assert simple.cluster_spec().as_dict() == cluster
    union = tf.distribute.cluster_resolver.UnionResolver(simple)
    assert union.cluster_spec().num_tasks("worker") == 2
    assert issubclass(
        tf.distribute.cluster_resolver.SlurmClusterResolver, tf.distribute.cluster_resolver.ClusterResolver
    )
    assert issubclass(
        tf.distribute.cluster_resolver.KubernetesClusterResolver, tf.distribute.cluster_resolver.ClusterResolver
    )
    assert len(tf.distribute.cluster_resolver.KubernetesExecutableLocation) == 2
    for unsupported in (
        tf.distribute.cluster_resolver.GCEClusterResolver,
        tf.distribute.cluster_resolver.SageMakerClusterResolver,
    ):
        with pytest.raises(NotImplementedError, match="TF_CONFIG"):
            unsupported()


def test_a_missing_name_is_named_in_the_error() -> None:
    with pytest.raises(AttributeError, match=r"tf\.distribute\.MirroredStrategi is not available"):
        _ = tf.distribute.MirroredStrategi
