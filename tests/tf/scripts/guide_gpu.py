"""Devices: listing, placing, hiding, dividing, and the same model on all of them; GPUs if there are any."""

import os

import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
print("GPUs: ", len(gpus))
tf.debugging.set_log_device_placement(True)
tf.debugging.set_log_device_placement(False)

# Before anything runs.
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
tf.config.set_visible_devices(gpus, "GPU")
tf.config.set_soft_device_placement(True)
number = int(os.environ["UNISONO_CPU_DEVICES"])
(cpu,) = tf.config.list_physical_devices("CPU")[:1]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(number)])
logical = tf.config.list_logical_devices("CPU")
assert len(logical) == number, logical

with tf.device("/CPU:0"):
    a = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    c = tf.matmul(a, b)
assert c.numpy().tolist() == [[22.0, 28.0], [49.0, 64.0]]

try:  # too late: the devices are in use
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration() for _ in range(number + 1)])
except RuntimeError as error:
    print(error)
else:
    raise AssertionError("the devices were changed")

# A tower for each device, by hand.
towers = []
for device in logical:
    with tf.device(device.name):
        left = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        right = tf.constant([[0.0, 1.0], [1.0, 0.0]])
        towers.append(tf.matmul(left, right))
with tf.device("/CPU:0"):
    summed = tf.add_n(towers)
assert summed.numpy().tolist() == [[2.0 * number, number], [4.0 * number, 3.0 * number]]

strategy = tf.distribute.MirroredStrategy([device.name for device in logical])
assert strategy.num_replicas_in_sync == number
with strategy.scope():
    inputs = tf.keras.layers.Input(shape=(1,))
    predictions = tf.keras.layers.Dense(1)(inputs)
    model = tf.keras.models.Model(inputs=inputs, outputs=predictions)
    model.compile(loss="mse", optimizer=tf.keras.optimizers.SGD(learning_rate=0.2))
history = model.fit(tf.ones((64, 1)), tf.ones((64, 1)), epochs=3, verbose=0).history
assert history["loss"][-1] < history["loss"][0] + 1e-6
print("ok")
