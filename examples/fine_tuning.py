"""Fine-tuning: a network that knows the ten digits learns from 100 images which are even, its first layers frozen.

python examples/fine_tuning.py
UNISONO_CPU_DEVICES=2 python examples/fine_tuning.py

Output on two CPU devices:

    469/469 - 10s - 22ms/step - accuracy: 0.9025 - loss: 0.3453
    2 of 8 variables are trained
    new last layer, the rest frozen: test accuracy 0.896
    then all layers: test accuracy 0.901
    the same network from scratch: test accuracy 0.805
"""

import unisono  # before keras: it selects Keras's JAX backend
import keras
from keras import layers

keras.utils.set_random_seed(0)
(x, y), (x_test, y_test) = unisono.datasets.mnist()
x_few, even_few, even_test = x[:100], y[:100] % 2 == 0, y_test % 2 == 0

strategy = unisono.MirroredStrategy()


def compile_for_two_classes(model, learning_rate):
    loss = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(learning_rate), loss, metrics=[keras.metrics.BinaryAccuracy(threshold=0)])


def evaluate(model, how):
    _, accuracy = model.evaluate(x_test, even_test, batch_size=256, verbose=0)
    print(f"{how}: test accuracy {accuracy:.3f}")


with strategy.scope():
    features = keras.Sequential(
        [
            keras.Input((28, 28)),
            layers.Rescaling(1 / 255),
            layers.Reshape((28, 28, 1)),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
        ]
    )
    pretrained = keras.Sequential([features, layers.Dense(10)])
    pretrained.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
pretrained.fit(x, y, batch_size=128, verbose=2)

features.trainable = False  # before compile, which decides what is trained
with strategy.scope():
    model = keras.Sequential([features, layers.Dense(1)])
    compile_for_two_classes(model, 1e-2)
print(f"{len(model.trainable_variables)} of {len(model.variables)} variables are trained")
model.fit(x_few, even_few, batch_size=20, epochs=10, verbose=0)
evaluate(model, "new last layer, the rest frozen")

features.trainable = True
with strategy.scope():
    compile_for_two_classes(model, 1e-4)  # small steps, which keep what the layers know
model.fit(x_few, even_few, batch_size=20, epochs=10, verbose=0)
evaluate(model, "then all layers")

with strategy.scope():
    from_scratch = keras.models.clone_model(model)
    compile_for_two_classes(from_scratch, 1e-3)
from_scratch.fit(x_few, even_few, batch_size=20, epochs=20, verbose=0)
evaluate(from_scratch, "the same network from scratch")
