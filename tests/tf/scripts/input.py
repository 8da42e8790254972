"""Distributed input in depth: datasets, functions, values, files, text, partial batches, and their order."""

import os

import numpy as np
import tensorflow as tf

print(tf.__version__)

# Logical devices, where the machine has but one of its kind and the script is the first to ask.
physical = tf.config.list_physical_devices("CPU")
assert physical
wanted = int(os.environ["UNISONO_CPU_DEVICES"])
tf.config.set_logical_device_configuration(physical[0], [tf.config.LogicalDeviceConfiguration() for _ in range(wanted)])
assert len(tf.config.list_logical_devices("CPU")) == wanted

strategy = tf.distribute.MirroredStrategy()
replicas = strategy.num_replicas_in_sync
global_batch_size = 4 * replicas

# A dataset of whole elements.
pairs = tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat(100).batch(global_batch_size)
dist_dataset = strategy.experimental_distribute_dataset(pairs)


@tf.function
def added(inputs):
    features, labels = inputs
    return features + labels


total = 0.0
for x in dist_dataset:
    per_replica = strategy.run(added, args=(x,))
    total += sum(float(tf.reduce_sum(each)) for each in strategy.experimental_local_results(per_replica))
assert total == 300.0, total

# How elements look, as a signature.
print(dist_dataset.element_spec)


@tf.function(input_signature=[dist_dataset.element_spec])
def with_signature(per_replica_inputs):
    return strategy.run(added, args=(per_replica_inputs,))


for x in dist_dataset:
    with_signature(x)

# Sharding by rows.
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
by_rows = tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat(64).batch(16).with_options(options)
assert sum(1 for _ in strategy.experimental_distribute_dataset(by_rows)) == 4


# A function for each input pipeline.
def dataset_fn(input_context):
    per_replica_batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    dataset = tf.data.Dataset.from_tensors(([1.0], [3.0])).repeat(64).batch(per_replica_batch_size)
    dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return dataset.prefetch(2)


from_function = strategy.distribute_datasets_from_function(dataset_fn)
num_batches = sum(1 for _ in from_function)
assert num_batches == 64 // global_batch_size, num_batches

# Iterators: from outside, and inside a function until there is no more.
iterator = iter(dist_dataset)
for _ in range(2):
    strategy.run(added, args=(next(iterator),))


@tf.function
def loop_over(dataset):
    count = 0
    for x in dataset:
        strategy.run(added, args=(x,))
        count += 1
    return count


assert int(loop_over(strategy.experimental_distribute_dataset(by_rows))) == 4

numbers = tf.data.Dataset.range(10).batch(4)
steps_per_loop = 5


@tf.function
def until_the_end(iterator):
    seen = 0
    for _ in tf.range(steps_per_loop):
        optional_data = iterator.get_next_as_optional()
        if not optional_data.has_value():
            break
        per_replica_results = strategy.run(lambda x: x, args=(optional_data.get_value(),))
        tf.print(strategy.experimental_local_results(per_replica_results))
        seen += 1
    return seen


assert int(until_the_end(iter(strategy.experimental_distribute_dataset(numbers)))) == 3


# One value for each replica.
def value_fn(ctx):
    return tf.constant(10 * ctx.replica_id_in_sync_group)


values = strategy.experimental_distribute_values_from_function(value_fn)
tripled = strategy.experimental_local_results(strategy.run(lambda x: x * 3, args=(values,)))
assert [int(each) for each in tripled] == [30 * replica for replica in range(replicas)]


# A generator.
def four_numbers():
    for start in range(12):
        yield np.arange(start, start + 4, dtype="float32")


generated = tf.data.Dataset.from_generator(
    four_numbers, output_types=(tf.float32), output_shapes=tf.TensorShape([4])
).batch(replicas)
rows = [
    row.numpy()
    for batch in strategy.experimental_distribute_dataset(generated)
    for part in strategy.experimental_local_results(batch)
    for row in part
]
np.testing.assert_array_equal(np.stack(rows), np.stack(list(four_numbers())))

# Records in files, of which each pipeline reads its own.
for part in range(2):
    with tf.io.TFRecordWriter(f"part-{part}.tfrecord") as writer:
        for row in range(3):
            writer.write(b"%d" % (10 * part + row))


def from_files(input_context):
    files = tf.data.Dataset.list_files("part-*.tfrecord", shuffle=False)
    files = files.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=1)
    numbers = records.map(lambda text: tf.strings.to_number(text, tf.int32), num_parallel_calls=tf.data.AUTOTUNE)
    return numbers.shuffle(6).batch(1)


found = [
    int(each[0])
    for x in strategy.distribute_datasets_from_function(from_files)
    for each in strategy.experimental_local_results(x)
    if len(each)
]
assert sorted(found) == [0, 1, 2, 10, 11, 12], found

# Text becomes numbers on its way.
with strategy.scope():
    letters = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c", "d"])
    years = tf.keras.layers.IntegerLookup(vocabulary=[1999, 2001, 2024])
words = tf.data.Dataset.from_tensor_slices(["a", "c", "e", "d"]).repeat(2).batch(4).map(letters)
looked_up = [
    int(number)
    for batch in strategy.experimental_distribute_dataset(words)
    for part in strategy.experimental_local_results(batch)
    for number in part
]
assert looked_up == [1, 3, 0, 4] * 2, looked_up
assert years(np.array([2001, 7])).numpy().tolist() == [2, 0]
with strategy.scope():
    embedding = tf.keras.Sequential(
        [tf.keras.layers.Embedding(5, 2), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)]
    )
    embedding.compile("sgd", "mse")
embedding.fit(words.map(lambda index: (index, tf.cast(index, tf.float32))), epochs=2, verbose=0)

# Predictions in the order of the rows: the rows carry their numbers.
doubled = strategy.experimental_distribute_dataset(tf.data.Dataset.range(11).enumerate().batch(4))


@tf.function
def predict(index, inputs):
    return index, 2 * inputs


results = []
for index, inputs in doubled:
    indexes, outputs = strategy.run(predict, args=(index, inputs))
    for some, more in zip(strategy.experimental_local_results(indexes), strategy.experimental_local_results(outputs)):
        results.extend(zip(some.numpy(), more.numpy()))
assert sorted(results) == [(row, 2 * row) for row in range(11)], results


# fit with a function for the data, as parameter servers want it.
def numbers_fn(input_context):
    size = input_context.get_per_replica_batch_size(global_batch_size) if input_context else global_batch_size
    return tf.data.Dataset.from_tensors(([1.0], [2.0])).repeat().batch(size)


with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=5)
history = model.fit(tf.keras.utils.experimental.DatasetCreator(numbers_fn), epochs=2, steps_per_epoch=10, verbose=2)
assert history.history["loss"][1] < history.history["loss"][0]

try:
    tf.distribute.experimental.ParameterServerStrategy(None)
except ValueError as error:
    assert '"ps"' in str(error), error
else:
    raise AssertionError("parameter servers")
print("ok")
