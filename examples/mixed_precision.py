"""Mixed precision and gradient accumulation: half the memory for activations, and a large batch in small parts.

    python examples/mixed_precision.py
    python examples/mixed_precision.py --policy mixed_float16     # for GPUs without bfloat16; scales the loss
    UNISONO_CPU_DEVICES=2 python examples/mixed_precision.py

Layers compute in 16 bits and keep their weights in 32. The optimizer sums the gradients of four steps of 64 rows, and
updates the weights as one step of 256 rows would. GPUs and TPUs are faster in 16 bits; CPUs are not.

Output on two CPU devices:

    Epoch 1/2
    938/938 - 25s - 26ms/step - accuracy: 0.9158 - loss: 0.2959
    Epoch 2/2
    938/938 - 3s - 3ms/step - accuracy: 0.9644 - loss: 0.1223
    40/40 - 8s - 208ms/step - accuracy: 0.9677 - loss: 0.1055
    the hidden layer computes in bfloat16 and stores float32
    1876 steps of 64 rows, 469 updates of the weights
"""

import argparse

import unisono  # before keras: it selects Keras's JAX backend
import keras
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--policy", default="mixed_bfloat16")
options = parser.parse_args()

keras.utils.set_random_seed(0)
policy = keras.DTypePolicy(options.policy)
(x, y), (x_test, y_test) = unisono.datasets.mnist()

strategy = unisono.MirroredStrategy()
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            layers.Rescaling(1 / 255, dtype=policy),
            layers.Flatten(dtype=policy),
            layers.Dense(256, activation="relu", dtype=policy),
            layers.Dense(10, dtype="float32"),  # logits in 32 bits: the loss needs their digits
        ]
    )
    optimizer = keras.optimizers.Adam(2e-3, gradient_accumulation_steps=4)
    if options.policy == "mixed_float16":  # small gradients would become 0 in float16
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
model.fit(x, y, batch_size=64, epochs=2, verbose=2)
model.evaluate(x_test, y_test, batch_size=256, verbose=2)
dense = model.layers[2]
print(f"the hidden layer computes in {dense.compute_dtype} and stores {dense.kernel.dtype}")
print(f"{2 * -(-len(x) // 64)} steps of 64 rows, {int(optimizer.iterations)} updates of the weights")
