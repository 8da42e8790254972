"""What a device stores and needs under each strategy, and what the devices exchange in a step: from the programs."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.device_memory import page
from tests.device_memory._from_shapes import Memory, memory_of
from tests.device_memory._state import bytes_of_devices
from tests.device_memory._transformer import CONFIGURATIONS, SMALL, compile_model, make_transformer
from unisono._src.training import Program

# Matrices of the model by the number of their elements: embedding, output, up and down, and four of attention.
VOCABULARY, DENSE, ATTENTION = 256 * 256, 256 * 1024, 256 * 256
MATRICES = {VOCABULARY: 6, DENSE: 2}
POSITIONS = 8 * 256


@functools.cache
def measured(name: str) -> tuple[Memory, Program]:
    return memory_of(CONFIGURATIONS[name], SMALL)


def collectives(text: str, operation: str) -> Counter[int]:
    """How many of them there are in a program, by the number of elements that they yield. Vectors are left out."""
    yields = re.findall(rf"= (.*?) {operation}(?:-start)?\(", text)
    shapes = [shape for types in yields for shape in re.findall(r"\bf32\[([\d,]*)\]", types)]
    sizes = [math.prod(int(size) for size in shape.split(",") if size) for shape in shapes]
    return Counter(size for size in sizes if size > 1024)


@pytest.mark.full
def test_a_fully_sharded_model_needs_a_fraction_of_the_memory_of_a_mirrored_one() -> None:
    (sharded, _), (mirrored, _) = measured("zero3"), measured("mirrored")
    assert mirrored.state == mirrored.whole == sharded.whole
    assert sharded.state <= 1.05 * sharded.whole / 8
    assert sharded.peak < 0.3 * mirrored.peak


@pytest.mark.slow
def test_a_weight_is_gathered_once_in_each_direction_and_the_optimizers_state_never() -> None:
    text = measured("zero3")[1].text
    gathered, summed = collectives(text, "all-gather"), collectives(text, "all-reduce")
    gathered[POSITIONS] -= 1  # only the forward pass needs the tables of embeddings
    gathered[VOCABULARY] += 1
    assert +gathered == {size: 2 * number for size, number in MATRICES.items()}
    assert summed == MATRICES | {POSITIONS: 1}, "one sum for each gradient"


@pytest.mark.full
def test_a_sharded_optimizer_gathers_each_new_weight_once() -> None:
    memory, program = measured("zero1")
    assert collectives(program.text, "all-gather") == MATRICES | {POSITIONS: 1}
    assert collectives(program.text, "all-reduce") == MATRICES | {POSITIONS: 1}
    assert memory.state <= 1.05 * (memory.whole / 3 + memory.whole * 2 / 3 / 8)


@pytest.mark.full
def test_a_mesh_gathers_no_weight() -> None:
    memory, program = measured("mesh")
    assert not collectives(program.text, "all-gather")
    assert memory.state <= 1.05 * memory.whole / 4
    assert memory.peak < 0.5 * measured("mirrored")[0].peak


@pytest.mark.full
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_the_figures_of_shapes_are_those_of_a_model_that_exists(name: str) -> None:
    with CONFIGURATIONS[name].strategy().scope():
        model = make_transformer(SMALL, remat=CONFIGURATIONS[name].remat)
        compile_model(model)
        model.optimizer.build(model.trainable_variables)
    stored = bytes_of_devices([*model.variables, *model.optimizer.variables])
    assert len(stored) == 8
    assert set(stored.values()) == {measured(name)[0].state - METRICS}


METRICS = 8  # the loss and its number of rows, which `fit` makes


def test_the_page_has_a_row_for_every_strategy() -> None:
    text = (Path(__file__).parents[2] / "docs" / "sharding.md").read_text()
    table = text[text.index(page.BEGIN) : text.index(page.END)]
    assert all(f"| {each.title} |" in table for each in CONFIGURATIONS.values())
