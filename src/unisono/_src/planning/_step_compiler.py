"""Training steps for any batch size, compiled from shapes: nothing is run, and no array is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import jax

from unisono._src.data.feed import StackReader, StepChunk
from unisono._src.devices import Placement
from unisono._src.training import MethodCall, Program, StepVariables, build_program

NOT_COMPILED = """{function}: this model is compiled with run_eagerly=True, so that its step is no program whose memory
is known. Leave run_eagerly out of model.compile(...)."""

# Of the memory that a device reports. The rest is for what is not in the program: batches on their way to the device,
# fragmentation, and the libraries of a GPU.
_USABLE: Final = 0.95


@dataclass(frozen=True)
class StepMemory:
    """Bytes of one device, as XLA says (`jax.stages.Compiled.memory_analysis`).

    Attributes:
        arguments: weights, optimizer state, metrics, and the batch.
        outputs: new weights and so on; most of them use the memory of the arguments.
        shared: what outputs share with arguments.
        temporaries: activations, gradients, and buffers of operations.
        resident: training data that `fit` keeps on the device.
    """

    arguments: int
    outputs: int
    shared: int
    temporaries: int
    resident: int = 0

    @property
    def total(self) -> int:
        return self.arguments + self.outputs - self.shared + self.temporaries + self.resident


class StepCompiler:
    """Compiles the training step of one call of `fit`. The model is built, and its variables are placed.

    Args:
        call: the model and its strategy, whose scope is active.
        variables: those of the step.
        function: what the user called, for errors.
    """

    def __init__(self, call: MethodCall, variables: StepVariables, function: str):
        self._call, self._variables, self._function = call, variables, function

    def compile(self, batch_spec: Any) -> Program:
        """The program of one step on a batch of this shape."""
        placement = self._call.placement
        state = jax.tree.map(lambda value: _struct_like(value, placement.layout(value)), self._variables.read())
        carry = (state, jax.ShapeDtypeStruct((), "int32", sharding=placement.replicated))
        stacks = jax.tree.map(lambda leaf: _stack_struct(leaf, placement), batch_spec)
        chunk = StepChunk((stacks, None), StackReader(), start=0, count=1, capacity=1, is_regular=False)
        program = build_program(self._call.model, "train", placement, self._variables, carry, chunk)
        if program.form == "eager":
            raise ValueError(NOT_COMPILED.format(function=self._function))
        return program

    def memory(self, program: Program, resident: int = 0) -> StepMemory:
        """What the program needs on each device, beside ``resident`` bytes of data."""
        found = program.memory
        return StepMemory(
            found.argument_size_in_bytes,
            found.output_size_in_bytes,
            found.alias_size_in_bytes,
            found.temp_size_in_bytes,
            resident,
        )


def device_memory(device: jax.Device) -> int | None:
    """How many bytes a program may use on a device; None if the device does not say."""
    limit = (device.memory_stats() or {}).get("bytes_limit")
    return None if limit is None else int(_USABLE * limit)


def _struct_like(value: Any, layout: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=layout)


def _stack_struct(leaf: Any, placement: Placement) -> jax.ShapeDtypeStruct:
    shape = (1, *leaf.shape)  # of one step
    return jax.ShapeDtypeStruct(shape, leaf.dtype, sharding=placement.row_layout(shape, row_dim=1))
