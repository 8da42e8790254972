"""What is read from the text of a compiled program, and what it costs in a ring."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.planning import examine_model
from unisono._src.planning._collectives import Collective, expect_collectives, read_collectives

X = np.zeros((32, 64), "float32")
Y = np.zeros((32, 1), "float32")

TEXT = """
  %all-reduce.1 = (f32[784,256]{1,0}, f32[256]{0}, f32[]) all-reduce(%a, %b, %c), replica_groups=[1,8]<=[8]
  %all-gather.2 = bf16[1024,64]{1,0} all-gather(%d), dimensions={0}
  %all-gather-start.3 = (f32[128,64]{1,0}, f32[1024,64]{1,0}) all-gather-start(%d), dimensions={0}
  %reduce-scatter.4 = f32[128,64]{1,0} reduce-scatter(%e), dimensions={0}
  %all-reduce.5 = s32[] all-reduce(%f), replica_groups=[1,8]<=[8]
"""


def test_kinds_and_bytes_are_read_and_single_numbers_left_out() -> None:
    assert read_collectives(TEXT, num_devices=8) == [
        Collective("all-reduce", (784 * 256 + 256 + 1) * 4),
        Collective("all-gather", 1024 * 64 * 2),
        Collective("all-gather", 1024 * 64 * 4),
        Collective("reduce-scatter", 8 * 128 * 64 * 4),
    ]


@pytest.mark.parametrize(
    ("line", "kind", "size"),
    [
        ("((f32[1024,64]{1,0}), f32[128,64]{1,0}) reduce-scatter-start(%a)", "reduce-scatter", 1024 * 64 * 4),
        ("((f32[64]{0}, f32[8]{0}), (f32[8]{0}, f32[1]{0})) reduce-scatter-start(%a, %b)", "reduce-scatter", 72 * 4),
        ("((c64[32,512]{1,0}), c64[32,512]{1,0}) all-to-all-start(%a)", "all-to-all", 32 * 512 * 8),
        ("(f32[512]{0}, f32[512]{0}, u32[], u32[]) collective-permute-start(%a)", "collective-permute", 512 * 4),
        ("(f32[8,4]{1,0:T(8,128)}, f32[64,4]{1,0:T(8,128)S(1)}) all-gather-start(%a)", "all-gather", 64 * 4 * 4),
        ("((f32[1]{0}, f32[2]{0}), (f32[8]{0:T(128)}, f32[16]{0})) all-gather-start(%a, %b)", "all-gather", 24 * 4),
        ("(f32[784,256]{1,0}, f32[256]{0}) all-reduce-start(%a, %b)", "all-reduce", (784 * 256 + 256) * 4),
    ],
)
def test_the_operands_of_asynchronous_operations_are_not_counted(line: str, kind: Any, size: int) -> None:
    assert read_collectives(f"  %x.1 = {line}, channel_id=1\n", num_devices=8) == [Collective(kind, size)]


@pytest.mark.parametrize(
    ("kind", "sent", "messages"), [("all-reduce", 150, 6), ("all-gather", 75, 3), ("collective-permute", 100, 1)]
)
def test_a_device_of_a_ring_sends_a_part_of_the_array(kind: str, sent: float, messages: int) -> None:
    collective = Collective(kind, 100)  # type: ignore[arg-type]
    assert collective.bytes_sent(4) == sent
    assert collective.num_messages(4) == messages


@pytest.mark.slow
def test_a_mirrored_step_sums_its_gradients() -> None:
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = keras.Sequential([keras.Input((64,)), keras.layers.Dense(128), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    with examine_model(model, (X, Y), None, "test") as examined:
        program = examined.compiler.compile(examined.batch.spec(32))
        found = read_collectives(program.text, 2)
        expected = expect_collectives(model.trainable_variables, examined.call.placement)
    gradients = sum(weight.size * 4 for weight in model.get_weights())
    assert [each.num_bytes for each in expected] == [gradients]
    # With them the loss and the number of rows. Vectors may be summed by themselves, and are left out if small.
    assert gradients - 1024 <= sum(each.num_bytes for each in found) <= gradients + 64


_SMALL = "  %all-reduce.1 = f32[161]{0} all-reduce(%a), channel_id=1\n"
_LARGE = "  %all-reduce.2 = f32[512,512]{1,0} all-reduce(%b), channel_id=2\n"


def test_the_only_exchange_of_a_small_model_counts() -> None:
    assert [each.num_bytes for each in read_collectives(_SMALL, 2)] == [644]


def test_small_arrays_beside_large_gradients_do_not_count() -> None:
    assert [each.num_bytes for each in read_collectives(_SMALL + _LARGE, 2)] == [512 * 512 * 4]
