"""Mixed precision: the policy, what is float16 and what is not, fit, and a loop with loss scaling."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision

tf.random.set_seed(0)

policy = mixed_precision.Policy("mixed_float16")
mixed_precision.set_global_policy(policy)
print("Compute dtype: %s" % policy.compute_dtype)
print("Variable dtype: %s" % policy.variable_dtype)

rng = np.random.RandomState(0)
x_train = rng.rand(320, 20).astype("float32")
y_train = (x_train @ rng.randn(20, 3)).argmax(1)
x_test, y_test = x_train[:64], y_train[:64]

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    inputs = keras.Input(shape=(20,), name="digits")
    dense1 = layers.Dense(32, activation="relu", name="dense_1")
    x = dense1(inputs)
    print(dense1.dtype_policy)
    print("x.dtype: %s" % x.dtype)
    print("dense1.kernel.dtype: %s" % dense1.kernel.dtype)
    x = layers.Dense(3, name="dense_logits")(x)
    outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
    print("Outputs dtype: %s" % tf.as_dtype(outputs.dtype).name)
    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile(
        loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.RMSprop(0.005), metrics=["accuracy"]
    )
initial_weights = model.get_weights()
history = model.fit(x_train, y_train, batch_size=32, epochs=5, validation_split=0.2, verbose=0)
test_scores = model.evaluate(x_test, y_test, verbose=0)
print("Test loss:", test_scores[0], "accuracy:", test_scores[1])
assert history.history["loss"][-1] < history.history["loss"][0]
a = tf.constant(256, dtype="float16")
assert np.isinf((a**2).numpy()) and (tf.constant(1e-5, dtype="float16") ** 2).numpy() == 0.0

model.set_weights(initial_weights)
GLOBAL = 32
with strategy.scope():
    optimizer = keras.optimizers.RMSprop(0.005)
    optimizer = mixed_precision.LossScaleOptimizer(optimizer)
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(reduction="none")
train_dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(320).batch(GLOBAL)
test_dataset = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(GLOBAL)
dist = strategy.experimental_distribute_dataset(train_dataset)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        predictions = model(x, training=True)
        loss = tf.nn.compute_average_loss(loss_object(y, predictions), global_batch_size=GLOBAL)
        scaled_loss = optimizer.get_scaled_loss(loss)
    scaled_gradients = tape.gradient(scaled_loss, model.trainable_variables)
    gradients = optimizer.get_unscaled_gradients(scaled_gradients)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    per_replica = strategy.run(replica_step, args=(x, y))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)


@tf.function
def test_step(x):
    return model(x, training=False)


for epoch in range(5):
    epoch_loss_avg = tf.keras.metrics.Mean()
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
    for x, y in dist:
        epoch_loss_avg(train_step(x, y))
    for x, y in test_dataset:
        test_accuracy.update_state(y, test_step(x))
    print("Epoch {}: loss={}, test accuracy={}".format(epoch, epoch_loss_avg.result(), test_accuracy.result()))
assert test_accuracy.result().numpy() > 0.6
mixed_precision.set_global_policy("float32")
assert mixed_precision.global_policy().name == "float32"
print("ok")
