"""The programs that initialise and train a model, compiled from shapes: no array of the model exists.

A mirrored model of 200 million parameters and its optimizer's state take 21 GB on eight CPU devices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import keras
import numpy as np
from keras.src.backend.common import global_state

from tests.device_memory._transformer import Configuration, Size, compile_model, make_transformer
from unisono._src.data.feed import StepChunk
from unisono._src.keras_hooks import initial_value_program, layout_of
from unisono._src.training import Program
from unisono._src.training._programs import program_for
from unisono._src.training._step_variables import StepVariables, step_variables


@dataclass(frozen=True)
class Memory:
    """Bytes of one device.

    Attributes:
        parameters: the number of parameters of the model.
        state: of the weights and of the optimizer's variables.
        whole: the same on one device that stores all of it.
        initialise: the most while variables get their first values.
        temporaries: what a step needs beside the state and its batch.
        step: the most while a step runs.
    """

    parameters: int
    state: int
    whole: int
    initialise: int
    temporaries: int
    step: int

    @property
    def peak(self) -> int:
        return max(self.initialise, self.step)


def memory_of(configuration: Configuration, size: Size) -> tuple[Memory, Program]:
    """From XLA's figures for the compiled programs, and the program of the step."""
    strategy = configuration.strategy()
    with strategy.scope():
        model = _without_values(configuration, size)
    variables = step_variables(model, "train")
    program = _step(model, strategy.placement, variables, size)
    used = program.memory
    state = sum(map(_bytes_stored, variables.all()))
    memory = Memory(
        parameters=model.count_params(),
        state=state,
        whole=sum(math.prod(each.shape) * np.dtype(each.dtype).itemsize for each in variables.all()),
        initialise=state + max(map(_bytes_to_initialise, model.trainable_variables)),
        temporaries=used.temp_size_in_bytes,
        step=used.argument_size_in_bytes
        + used.temp_size_in_bytes
        + used.output_size_in_bytes
        - used.alias_size_in_bytes,
    )
    return memory, program


def _without_values(configuration: Configuration, size: Size) -> keras.Model:
    with keras.StatelessScope(initialize_variables=False):
        model = make_transformer(size, remat=configuration.remat)
    compile_model(model)
    with keras.StatelessScope(initialize_variables=False):
        model.optimizer.build(model.trainable_variables)
    global_state.set_global_attribute("uninitialized_variables", [])  # else the first trace would initialise them
    return model


def _step(model: keras.Model, placement: Any, variables: StepVariables, size: Size) -> Program:
    def struct(shape: Any, dtype: Any, layout: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(tuple(shape), dtype, sharding=layout)

    state = tuple([struct(each.shape, each.dtype, layout_of(each)) for each in group] for group in variables.groups)
    carry = (state, struct((), "int32", placement.replicated))
    shape = (1, size.rows, size.length)  # one step
    tokens = struct(shape, "int32", placement.row_layout(shape, row_dim=1))
    chunk = StepChunk((tokens, tokens), _OneStep(), start=0, count=1, capacity=1, is_regular=True)
    return program_for(model, "train", placement, variables, carry, chunk)


@dataclass(frozen=True)
class _OneStep:
    """Reads the batch of a step from batches that are stacked."""

    def read(self, operands: Any, step: Any) -> Any:
        return jax.tree.map(lambda stacked: stacked[step], operands)


def _bytes_stored(variable: Any) -> int:
    shape = tuple(variable.shape)
    return math.prod(layout_of(variable).shard_shape(shape)) * np.dtype(variable.dtype).itemsize


def _bytes_to_initialise(variable: Any) -> int:
    """What it takes beside its own value. One that every device stores whole is computed by one of them, and copied."""
    layout = layout_of(variable)
    is_whole = layout.is_fully_replicated
    if is_whole:
        layout = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    program = initial_value_program(variable._initializer, tuple(variable.shape), variable.dtype, layout)
    used = program.lower(jax.ShapeDtypeStruct((2,), "uint32")).compile().memory_analysis()
    return used.temp_size_in_bytes + (used.output_size_in_bytes if is_whole else 0)
