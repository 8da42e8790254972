"""The members of what `tf.distribute` has, one by one."""

from pathlib import Path

import jax
import keras
import numpy as np
import pytest

import unisono.tf as tf


@pytest.fixture(scope="module")
def strategy() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_an_input_context_describes_the_input_of_a_worker() -> None:
    context = tf.distribute.InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4)
    assert context.num_input_pipelines == 2
    assert context.input_pipeline_id == 1
    assert context.num_replicas_in_sync == 4
    own = tf.data.Dataset.range(6).shard(context.num_input_pipelines, context.input_pipeline_id)
    assert list(own.as_numpy_iterator()) == [1, 3, 5]
    assert list(own.skip(1).enumerate().as_numpy_iterator()) == [(0, 3), (1, 5)]


def test_options_have_tensorflows_defaults(strategy: tf.distribute.MirroredStrategy) -> None:
    options = tf.distribute.InputOptions()
    assert options.experimental_fetch_to_device is True
    assert options.experimental_per_replica_buffer_size == 1
    assert options.experimental_place_dataset_on_device is False
    assert options.experimental_replication_mode is tf.distribute.InputReplicationMode.PER_WORKER
    dataset = tf.data.Dataset.range(2).batch(2)
    per_replica = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA
    )
    with pytest.raises(NotImplementedError, match="only PER_WORKER"):
        strategy.experimental_distribute_dataset(dataset, per_replica)
    run = tf.distribute.RunOptions()
    assert run.experimental_enable_dynamic_batch_size is True
    assert run.experimental_bucketizing_dynamic_shape is False
    assert run.experimental_xla_options is None
    sharing = tf.data.Options()
    sharing.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    distribute = tf.data.experimental.DistributeOptions(tf.data.experimental.AutoShardPolicy.OFF)
    assert (
        distribute.auto_shard_policy
        == dataset.with_options(sharing).options().experimental_distribute.auto_shard_policy
    )


def test_replicas_know_each_other(strategy: tf.distribute.MirroredStrategy) -> None:
    def step() -> tuple[jax.Array, jax.Array, jax.Array]:
        context: tf.distribute.ReplicaContext = tf.distribute.get_replica_context()
        assert context.strategy is strategy
        assert context.num_replicas_in_sync == 2
        own = tf.cast(context.replica_id_in_sync_group, tf.float32)
        everyones = context.all_gather(tf.reshape(own, [1]), axis=0)
        merged = context.merge_call(
            lambda strategy, value: strategy.extended.reduce_to("SUM", value, destinations=value), args=(own,)
        )
        return own, everyones, merged

    own, everyones, merged = strategy.run(step)
    assert [float(value) for value in own.values] == [0.0, 1.0]
    assert [value.tolist() for value in everyones.values] == [[0.0, 1.0]] * 2
    assert [float(value) for value in merged.values] == [1.0, 1.0]


def test_the_second_level_of_a_strategy(strategy: tf.distribute.MirroredStrategy) -> None:
    extended: tf.distribute.StrategyExtended = strategy.extended
    with strategy.scope():
        variable = tf.Variable(1.0)
        value = strategy.experimental_distribute_values_from_function(
            lambda context: np.float32(context.replica_id_in_sync_group)
        )
        assert float(extended.reduce_to(tf.distribute.ReduceOp.SUM, value, variable)) == 1.0
        assert [float(each) for each in extended.batch_reduce_to("MEAN", [(value, variable)])] == [0.5]
        extended.update(variable, lambda target, amount: target.assign_add(amount), args=(2.0,))
        with extended.colocate_vars_with(variable):
            assert extended.variable_created_in_scope(tf.Variable(0.0))
    assert variable.numpy() == 3.0
    assert extended.value_container(variable) is variable
    assert extended.experimental_require_static_shapes
    assert strategy.cluster_resolver is None


def test_values_are_joined_outside_of_programs(strategy: tf.distribute.MirroredStrategy) -> None:
    ops = tf.distribute.CrossDeviceOps()
    value = strategy.experimental_distribute_values_from_function(
        lambda context: np.float32(context.replica_id_in_sync_group)
    )
    assert float(ops.reduce(tf.distribute.ReduceOp.SUM, value, destinations="cpu:0")) == 1.0
    assert [float(each) for each in ops.batch_reduce(tf.distribute.ReduceOp.MEAN, [(value, "cpu:0")])] == [0.5]
    assert ops.broadcast(2.0, ["cpu:0"]) == 2.0
    for unsupported in (ops.reduce_implementation, ops.batch_reduce_implementation, ops.broadcast_implementation):
        with pytest.raises(NotImplementedError, match="XLA sums over devices"):
            unsupported("SUM", value, None, None)


def test_distributed_datasets_are_reduced_and_described(strategy: tf.distribute.MirroredStrategy) -> None:
    distributed: tf.distribute.DistributedDataset = strategy.experimental_distribute_dataset(
        tf.data.Dataset.range(4).batch(2)
    )
    assert distributed.reduce(0, lambda total, step: total + sum(int(each.sum()) for each in step.values)) == 6
    iterator: tf.distribute.DistributedIterator = iter(distributed)
    assert iterator.element_spec == distributed.element_spec
    with pytest.warns(DeprecationWarning, match="old name"):
        old = strategy.experimental_distribute_datasets_from_function(lambda context: tf.data.Dataset.range(2).batch(1))
    assert len(list(old)) == 1


def test_resolvers_tell_where_things_are(monkeypatch: pytest.MonkeyPatch) -> None:
    simple = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": ["a:1", "b:2"]}), task_type="worker", task_id=1, rpc_layer="grpc"
    )
    resolver: tf.distribute.cluster_resolver.ClusterResolver = simple
    assert resolver.master("worker", 0) == "grpc://a:1"
    assert resolver.environment == ""
    assert resolver.num_accelerators() == {}
    assert simple.rpc_layer == "grpc"
    assert tf.distribute.cluster_resolver.UnionResolver(simple).rpc_layer == "grpc"
    monkeypatch.setenv("TF_CONFIG", '{"rpc_layer": "grpc"}')
    assert tf.distribute.cluster_resolver.TFConfigClusterResolver().rpc_layer == "grpc"
    locations = tf.distribute.cluster_resolver.KubernetesExecutableLocation
    assert locations.WITHIN_CLUSTER != locations.OFF_CLUSTER
    assert (
        tf.distribute.cluster_resolver.KubernetesExecutableLocation.WITHIN_CLUSTER
        != tf.distribute.cluster_resolver.KubernetesExecutableLocation.OFF_CLUSTER
    )


def test_a_slurm_resolver_knows_its_task(monkeypatch: pytest.MonkeyPatch) -> None:
    variables = {"NTASKS": "2", "PROCID": "1", "STEP_NODELIST": "host[1-2]", "STEP_TASKS_PER_NODE": "1(x2)"}
    for name, value in variables.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(auto_set_gpu=False)
    resolver.cluster_spec()
    assert resolver.get_task_info() == ("worker", 1)


def test_a_tpu_resolver_knows_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_FAKE_TPU", "2")
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect(tpu="local")
    assert resolver.get_tpu_system_metadata().num_cores == 2
    assert resolver.get_job_name() == "worker"
    assert resolver.get_master() == resolver.master()
    assert resolver.get_coordination_service_leader() == "/job:worker/task:0"
    with pytest.raises(NotImplementedError, match="JAX finds the topology"):
        resolver.set_tpu_topology(None)


def test_a_preemption_handler_counts_steps(tmp_path: Path) -> None:
    variable = keras.Variable(0.0)
    handler = tf.distribute.experimental.PreemptionCheckpointHandler(
        None, tf.train.Checkpoint(variable=variable), str(tmp_path)
    )
    try:
        assert handler.run(lambda amount: float(variable.assign_add(amount)), 2.0) == 2.0
        with handler.watch_preemption_scope():
            variable.assign_add(1.0)
        handler.save_checkpoint_if_preempted()
        assert handler.total_run_calls == 2
    finally:
        handler.close()
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(variable=variable), str(tmp_path), max_to_keep=1)
    assert manager.checkpoint.variable is variable
    assert manager.checkpoints == []
