"""The training loop of `unisono_loop.py` in TensorFlow, with its step as a `tf.function`."""

from __future__ import annotations

import tensorflow as tf
from _cases import Workload
from _steps import Loop, serve_steps

from contenders._keras_loop import distributed_loop
from contenders._tf_strategy import mirrored_strategy


def contender(workload: Workload) -> Loop:
    return distributed_loop(tf, mirrored_strategy(workload.replicas), workload)


if __name__ == "__main__":
    serve_steps(contender)
