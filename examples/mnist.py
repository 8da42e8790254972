"""MNIST in 20 lines: a network trained on all devices of this machine.

python examples/mnist.py                          # all GPUs, else TPUs, else the CPU
UNISONO_CPU_DEVICES=2 python examples/mnist.py    # two CPU devices, to try it out

Output on two CPU devices:

    Epoch 1/3
    235/235 - 19s - 79ms/step - accuracy: 0.8640 - loss: 0.4849
    Epoch 2/3
    235/235 - 1s - 3ms/step - accuracy: 0.9333 - loss: 0.2319
    Epoch 3/3
    235/235 - 1s - 2ms/step - accuracy: 0.9500 - loss: 0.1766
    40/40 - 4s - 97ms/step - accuracy: 0.9598 - loss: 0.1343
    trained on 2 devices
"""

import unisono  # before keras: it selects Keras's JAX backend
import keras

(x, y), (x_test, y_test) = unisono.datasets.mnist()

strategy = unisono.MirroredStrategy()
with strategy.scope():  # the model, its optimizer and its metrics are created on all devices
    model = keras.Sequential(
        [
            keras.layers.Rescaling(1 / 255),
            keras.layers.Flatten(),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dropout(0.2),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])

model.fit(x, y, batch_size=256, epochs=3, verbose=2)  # 256 rows in each step, divided among the devices
model.evaluate(x_test, y_test, batch_size=256, verbose=2)
print("trained on", strategy.num_replicas_in_sync, "devices")
