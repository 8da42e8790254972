"""Joins with a time limit, given as argument."""

import sys

from jax._src import xla_bridge

import unisono

options = unisono.CommunicationOptions(timeout_seconds=float(sys.argv[1]))
unisono.MultiWorkerMirroredStrategy(communication_options=options)
print("visible GPUs:", xla_bridge.CUDA_VISIBLE_DEVICES.value)
