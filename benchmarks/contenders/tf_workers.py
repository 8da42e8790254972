"""The training loop of `unisono_workers.py` in TensorFlow."""

from __future__ import annotations

import tensorflow as tf
from _cases import Workload
from _protocol import Train
from _steps import rounds_of
from _worker_processes import serve_workers

from contenders._keras_loop import distributed_loop


def contender(workload: Workload) -> Train:
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    return rounds_of(workload, distributed_loop(tf, strategy, workload))


if __name__ == "__main__":
    serve_workers(contender)
