"""Which dimension of a variable is sharded, and why; and what users write wrongly about it."""

from __future__ import annotations

import keras
import pytest
from jax.sharding import PartitionSpec

import unisono
from unisono._src.devices import ShardByMap, ShardLargestDim, VariableInfo
from unisono._src.strategy._sharded_strategies import devices_of_a_machine

FOUR = [f"cpu:{index}" for index in range(4)]


@pytest.mark.parametrize(
    ("shape", "spec", "reason"),
    [
        ((64, 256), PartitionSpec(None, "replica"), "largest dimension"),
        ((50257, 64), PartitionSpec(None, "replica"), "50257 is not divisible by 4"),
        ((64, 64), PartitionSpec("replica", None), "largest dimension"),
        ((3, 3, 64, 128), PartitionSpec(None, None, None, "replica"), "largest dimension"),
        ((1023,), PartitionSpec(), "fewer than 1,024 elements"),
        ((), PartitionSpec(), "fewer than 1,024 elements"),
        ((35, 99), PartitionSpec(), "no dimension is divisible by 4"),
    ],
)
def test_the_largest_dimension_that_divides_is_sharded(
    shape: tuple[int, ...], spec: PartitionSpec, reason: str
) -> None:
    decision = ShardLargestDim(("replica",), 4, 1024).decide(VariableInfo(shape, "layer/kernel"))
    assert (decision.spec, decision.reason) == (spec, reason)


def test_only_optimizer_state_is_sharded_if_weights_are_not() -> None:
    policy = ShardLargestDim(("replica",), 4, 0, weights=False)
    weight = VariableInfo((8, 8), "dense/kernel")
    assert policy.decide(weight).spec == PartitionSpec()
    slot = VariableInfo((8, 8), "adam/momentum", of_optimizer=True, slot_of=weight)
    assert policy.decide(slot).spec == PartitionSpec("replica", None)


@pytest.mark.parametrize(
    ("path", "shape", "spec", "reason"),
    [
        ("mlp/up/kernel", (64, 256), PartitionSpec(None, "model"), "the longer side"),
        ("mlp/down/kernel", (256, 64), PartitionSpec("model", None), "the longer side"),
        ("attention/query/kernel", (64, 8, 8), PartitionSpec(None, "model", None), "attention heads"),
        ("attention/attention_output/kernel", (8, 8, 64), PartitionSpec("model", None, None), "attention heads"),
        ("embedding/embeddings", (1000, 64), PartitionSpec("model", None), "rows of an embedding"),
        ("conv/kernel", (3, 3, 16, 32), PartitionSpec(None, None, None, "model"), "the last dimension"),
        ("head/kernel", (64, 1001), PartitionSpec("model", None), "1001 is not divisible by 4"),
        ("norm/gamma", (64,), PartitionSpec(), "a vector"),
        ("odd/kernel", (35, 9), PartitionSpec(), "no dimension is divisible by 4"),
    ],
)
def test_without_a_map_layouts_are_derived_from_shapes(
    path: str, shape: tuple[int, ...], spec: PartitionSpec, reason: str
) -> None:
    decision = ShardByMap({"batch": 2, "model": 4}, "model", None).decide(VariableInfo(shape, path))
    assert (decision.spec, decision.reason) == (spec, reason)


def test_a_bias_is_sharded_as_the_units_of_its_kernel() -> None:
    policy = ShardByMap({"batch": 2, "model": 4}, "model", None)
    for path, shape, spec in (
        ("up/kernel", (64, 256), PartitionSpec(None, "model")),
        ("up/bias", (256,), PartitionSpec("model")),
        ("down/kernel", (256, 64), PartitionSpec("model", None)),
        ("down/bias", (64,), PartitionSpec(None)),
        ("attention/query/kernel", (64, 8, 16), PartitionSpec(None, "model", None)),
        ("attention/query/bias", (8, 16), PartitionSpec("model", None)),
    ):
        assert policy.decide(VariableInfo(shape, path)).spec == spec


def test_patterns_choose_axes_and_what_does_not_divide_moves() -> None:
    policy = ShardByMap({"batch": 2, "model": 4}, "model", {"dense.*kernel": (None, "model"), "table": ("model", None)})
    decide = policy.decide
    assert decide(VariableInfo((6, 8), "dense_1/kernel")).spec == PartitionSpec(None, "model")
    moved = decide(VariableInfo((8, 6), "dense_2/kernel"))
    assert (moved.spec, moved.reason) == (
        PartitionSpec("model", None),
        "layout_map 'dense.*kernel'; 6 is not divisible by 4",
    )
    assert decide(VariableInfo((6, 10), "dense_3/kernel")).spec == PartitionSpec(None, None)
    assert decide(VariableInfo((6,), "dense_1/bias")).reason == "no pattern matches"
    weight = VariableInfo((6, 8), "dense_1/kernel")
    assert decide(VariableInfo((6, 8), "m", of_optimizer=True, slot_of=weight)).spec == PartitionSpec(None, "model")
    assert decide(VariableInfo((6,), "factor", of_optimizer=True, slot_of=weight)).spec == PartitionSpec()
    with pytest.raises(ValueError, match=r"'table' matches no variable. The closest paths are: 'dense_"):
        policy.check_used()


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ({"kernel": ("modle", None)}, "names the axis 'modle', and the mesh has batch, model"),
        ({"kernel": ("model", "model")}, "an axis is repeated"),
    ],
)
def test_a_map_that_cannot_be_is_refused(patterns: dict[str, tuple[str | None, ...]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ShardByMap({"batch": 2, "model": 2}, "model", patterns)


def test_a_pattern_has_to_fit_the_variables_that_it_matches() -> None:
    policy = ShardByMap({"batch": 2, "model": 2}, "model", {"kernel": ("model", None), "query": (None, "model", None)})
    with pytest.raises(ValueError, match=r"2 dimensions, and matches 'conv/kernel', whose shape \(3, 3, 4, 8\)"):
        policy.decide(VariableInfo((3, 3, 4, 8), "conv/kernel"))
    with pytest.raises(ValueError, match="2 patterns match the variable 'query/kernel': 'kernel', 'query'"):
        policy.decide(VariableInfo((4, 4, 8), "query/kernel"))


def test_strategies_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ValueError, match=r'shard="gradients"|shard=\'gradients\''):
        unisono.FullyShardedStrategy(FOUR, shard="gradients")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="shard_group=3"):
        unisono.FullyShardedStrategy(FOUR, shard_group=3)
    with pytest.raises(ValueError, match='has no axis "batch"'):
        unisono.ModelParallelStrategy({"model": 4}, devices=FOUR)
    with pytest.raises(ValueError, match="needs 8 devices, and there are 4"):
        unisono.ModelParallelStrategy({"batch": 2, "model": 4}, devices=FOUR)
    with pytest.raises(TypeError, match="layout_map is a list"):
        unisono.ModelParallelStrategy({"batch": 2, "model": 2}, ["kernel"], devices=FOUR)


@pytest.mark.slow
def test_a_layout_map_of_keras_is_accepted_and_a_typing_error_in_it_is_found() -> None:
    mesh = keras.distribution.DeviceMesh((2, 2), ("batch", "model"), FOUR)
    layout_map = keras.distribution.LayoutMap(mesh)
    layout_map["dense.*/kernel"] = (None, "model")
    layout_map["output/kernel"] = keras.distribution.TensorLayout(("model", None), mesh)
    strategy = unisono.ModelParallelStrategy({"batch": 2, "model": 2}, layout_map, FOUR)
    with strategy.scope():
        layers = [keras.layers.Dense(8, name="dense_one"), keras.layers.Dense(2, name="output")]
        model = keras.Sequential([keras.Input((4,)), *layers])
        model.compile("adam", "mse")
        model.optimizer.build(model.trainable_variables)
    texts: list[str] = []
    report = strategy.explain(model, texts.append)
    layouts = {row.path: row.layout for row in report.rows}
    assert next(layout for path, layout in layouts.items() if path.endswith("dense_one/kernel")) == (None, "model")
    assert [row.layout for row in report.rows if row.path.endswith("output/kernel")] == [("model", None)]
    assert "layout_map 'output/kernel'" in texts[0]
    layout_map["outptu/kernel"] = (None, "model")
    wrong = unisono.ModelParallelStrategy({"batch": 2, "model": 2}, layout_map, FOUR)
    with wrong.scope():
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), keras.layers.Dense(2, name="output")])
        model.compile("adam", "mse")
    with pytest.raises(
        ValueError, match=r"'outptu/kernel' matches no variable. The closest paths are: .*output/kernel"
    ):
        wrong.explain(model)


def test_the_devices_of_a_machine_are_a_group() -> None:
    assert devices_of_a_machine(["a", "a", "b", "b", "c", "c"]) == 2
    assert devices_of_a_machine(["a", "b"]) == 1
    assert devices_of_a_machine(["a", "a", "a"]) == 3


def test_machines_that_differ_or_whose_ranks_are_not_consecutive_are_refused() -> None:
    with pytest.raises(ValueError, match=r"found 4 on a, 2 on b\. Write a number that divides each of these"):
        devices_of_a_machine(["a"] * 4 + ["b"] * 2)
    with pytest.raises(ValueError, match=r"the ranks of a are not: by rank, the devices are on a, b, a, b\."):
        devices_of_a_machine(["a", "b", "a", "b"])


def test_in_one_process_all_devices_are_on_one_machine() -> None:
    strategy = unisono.FullyShardedStrategy(FOUR, shard_group="machine", min_shard_size=0)
    with strategy.scope():
        kernel = keras.Variable(keras.ops.ones((8, 4)))
    assert [shard.data.shape for shard in kernel.value.addressable_shards] == [(2, 4)] * 4
