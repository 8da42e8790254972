"""A custom training loop with tf.distribute's API, shared by the two libraries that have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _data
import keras
from _cases import Workload
from _reference import initial_weights
from _steps import Loop

from contenders._keras_model import new_model


def distributed_loop(library: Any, strategy: Any, workload: Workload, *, eager: bool = False) -> Loop:
    """The loop of the guides, over all replicas of the strategy."""
    with strategy.scope():
        step, accuracy = step_of_one_replica(library, workload)

    def train_step(inputs: Any) -> Any:
        per_replica = strategy.run(step, args=(inputs,))
        return strategy.reduce("SUM", per_replica, axis=None)

    dataset = library.data.Dataset.from_tensor_slices(_data.load(workload))
    dataset = dataset.batch(workload.global_batch_size, drop_remainder=True)
    batches = strategy.experimental_distribute_dataset(dataset)
    batches = batches if workload.feeds else list(batches)
    return Loop(train_step if eager else library.function(train_step), batches, accuracy.result)


def step_of_one_replica(library: Any, workload: Workload) -> tuple[Callable[[Any], Any], Any]:
    """The function that each replica runs with its rows of a batch, and the accuracy that it updates."""
    model = new_model(workload.network)
    model.set_weights(initial_weights())
    optimizer = keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)  # TensorFlow cannot do it in the first step of several replicas
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    accuracy = keras.metrics.SparseCategoricalAccuracy()

    def step(inputs: Any) -> Any:
        x, y = inputs
        with library.GradientTape() as tape:
            logits = model(x, training=True)
            loss = library.nn.compute_average_loss(loss_of(y, logits), global_batch_size=workload.global_batch_size)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(y, logits)
        return loss

    return step, accuracy
