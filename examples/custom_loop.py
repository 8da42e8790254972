"""Fashion-MNIST with a training loop of your own: `strategy.run`, `GradientTape` and `strategy.reduce`.

    python examples/custom_loop.py
    UNISONO_CPU_DEVICES=2 python examples/custom_loop.py --epochs 1

Fashion-MNIST is read from this machine if it is there (docs/datasets.md says where), else Keras downloads it.

Output on two CPU devices:

    epoch 1: loss 0.5646, accuracy 0.8037, test accuracy 0.8239
    epoch 2: loss 0.4069, accuracy 0.8559, test accuracy 0.8545
    epoch 3: loss 0.3669, accuracy 0.8693, test accuracy 0.8577
"""

import argparse

import unisono  # before keras: it selects Keras's JAX backend
import keras

GLOBAL_BATCH = 256

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
options = parser.parse_args()

keras.utils.set_random_seed(0)
(x, y), (x_test, y_test) = unisono.datasets.fashion_mnist()
train = unisono.data.Dataset.from_tensor_slices((x / 255.0, y)).shuffle(len(x)).batch(GLOBAL_BATCH)
test = unisono.data.Dataset.from_tensor_slices((x_test / 255.0, y_test)).batch(GLOBAL_BATCH)

strategy = unisono.MirroredStrategy()
train, test = map(strategy.experimental_distribute_dataset, (train, test))
with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((28, 28)),
            keras.layers.Flatten(),
            keras.layers.Dense(256, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-3)
    compute_losses = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    accuracy = keras.metrics.SparseCategoricalAccuracy()


def replica_step(images, labels):
    """What one replica does with its rows of the batch."""
    with unisono.GradientTape() as tape:
        logits = model(images, training=True)
        losses = compute_losses(labels, logits)  # one for each row
        loss = unisono.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))  # summed over the replicas
    accuracy.update_state(labels, logits)
    return loss


@unisono.function  # compiled into one program for all devices
def train_step(images, labels):
    losses = strategy.run(replica_step, args=(images, labels))
    return strategy.reduce(unisono.ReduceOp.SUM, losses, axis=None)


@unisono.function
def test_step(images, labels):
    strategy.run(lambda images, labels: accuracy.update_state(labels, model(images)), args=(images, labels))


for epoch in range(options.epochs):
    accuracy.reset_state()
    losses = [train_step(images, labels) for images, labels in train]
    trained = float(accuracy.result())
    accuracy.reset_state()
    for images, labels in test:
        test_step(images, labels)
    mean = sum(map(float, losses)) / len(losses)
    print(f"epoch {epoch + 1}: loss {mean:.4f}, accuracy {trained:.4f}, test accuracy {float(accuracy.result()):.4f}")
