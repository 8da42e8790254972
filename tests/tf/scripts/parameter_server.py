"""Parameter servers in the shape of TensorFlow's tutorial: `fit`, then a custom loop with a coordinator."""

import multiprocessing
import os
import random

import numpy as np
import portpicker
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def start_cluster(num_workers, num_ps):
    spec = tf.train.ClusterSpec(
        {
            "worker": ["localhost:%s" % portpicker.pick_unused_port() for _ in range(num_workers)],
            "ps": ["localhost:%s" % portpicker.pick_unused_port() for _ in range(num_ps)],
        }
    )
    worker_config = tf.compat.v1.ConfigProto()
    if multiprocessing.cpu_count() < num_workers + 1:
        worker_config.inter_op_parallelism_threads = num_workers + 1
    for index in range(num_workers):
        tf.distribute.Server(spec, job_name="worker", task_index=index, config=worker_config, protocol="grpc")
    for index in range(num_ps):
        tf.distribute.Server(spec, job_name="ps", task_index=index, protocol="grpc")
    return tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")


os.environ["GRPC_FAIL_FAST"] = "use_caller"
NUM_WORKERS, NUM_PS = 3, 2
strategy = tf.distribute.ParameterServerStrategy(
    start_cluster(NUM_WORKERS, NUM_PS),
    variable_partitioner=tf.distribute.experimental.partitioners.MinSizePartitioner(
        min_shard_bytes=(256 << 10), max_shards=NUM_PS
    ),
)


# fit, with everything that is kept on the way.
def numbers_fn(input_context):
    size = input_context.get_per_replica_batch_size(64)
    x, y = tf.random.uniform((10, 10)), tf.random.uniform((10,))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10).repeat()
    dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return dataset.batch(size).prefetch(2)


with strategy.scope():
    line = tf.keras.models.Sequential([tf.keras.layers.Dense(10)])
    line.compile(tf.keras.optimizers.legacy.SGD(), loss="mse", steps_per_execution=10)
callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir="./logs"),
    tf.keras.callbacks.ModelCheckpoint(filepath=os.path.join(".", "kept", "ckpt-{epoch}"), save_weights_only=True),
    tf.keras.callbacks.BackupAndRestore(backup_dir="./backup"),
]
creator = tf.keras.utils.experimental.DatasetCreator(numbers_fn)
history = line.fit(creator, epochs=3, steps_per_epoch=20, callbacks=callbacks, verbose=2)
assert history.history["loss"][-1] < history.history["loss"][0], history.history
assert line.optimizer.iterations.numpy() == 60
assert os.listdir("./logs") and tf.train.latest_checkpoint("./kept") is not None
plain = tf.data.Dataset.from_tensor_slices((tf.random.uniform((10, 10)), tf.random.uniform((10,)))).repeat().batch(4)
line.fit(plain, epochs=1, steps_per_epoch=4, validation_data=plain.take(2), verbose=0)
assert line.evaluate(creator, steps=2, verbose=0) > 0 and line.predict(np.ones((3, 10), "float32")).shape == (3, 10)

# Words of which one is wanted; the answer is yes or no.
feature_vocab = ["plum", "pear", "fig", "quince", "rose", "oak"]
label_vocab = ["yes", "no"]
with strategy.scope():
    feature_lookup = tf.keras.layers.StringLookup(vocabulary=feature_vocab, mask_token=None)
    label_lookup = tf.keras.layers.StringLookup(vocabulary=label_vocab, num_oov_indices=0, mask_token=None)
    raw_features = tf.keras.layers.Input(shape=(3,), dtype=tf.string, name="feature")
    feature_stage = tf.keras.Model({"features": raw_features}, feature_lookup(raw_features))
    raw_label = tf.keras.layers.Input(shape=(1,), dtype=tf.string, name="label")
    label_stage = tf.keras.Model({"label": raw_label}, label_lookup(raw_label))


def make_examples(number):
    examples = {"features": [], "label": []}
    for _ in range(number):
        chosen = random.sample(feature_vocab, 3)
        examples["features"].append(chosen)
        examples["label"].append(["yes"] if "fig" in chosen else ["no"])
    return examples


examples = make_examples(200)


def dataset_fn(_):
    raw = tf.data.Dataset.from_tensor_slices(examples)
    return (
        raw.map(lambda x: ({"features": feature_stage(x["features"])}, label_stage(x["label"])))
        .shuffle(200)
        .batch(32)
        .repeat()
    )


with strategy.scope():
    model_input = tf.keras.layers.Input(shape=(3,), dtype=tf.int64, name="model_input")
    emb_layer = tf.keras.layers.Embedding(input_dim=len(feature_lookup.get_vocabulary()) + 1, output_dim=16384)
    emb_output = tf.reduce_mean(emb_layer(model_input), axis=1)
    dense_output = tf.keras.layers.Dense(
        units=1, activation="sigmoid", kernel_regularizer=tf.keras.regularizers.L2(1e-4)
    )(emb_output)
    model = tf.keras.Model({"features": model_input}, dense_output)
    optimizer = tf.keras.optimizers.legacy.RMSprop(learning_rate=0.001)
    accuracy = tf.keras.metrics.Accuracy()

assert len(emb_layer.weights) == 2
assert emb_layer.weights[0].shape == emb_layer.weights[1].shape == (4, 16384)
print(emb_layer.weights[0].device)
assert emb_layer.weights[0].device != emb_layer.weights[1].device


@tf.function
def step_fn(iterator):
    def replica_fn(batch_data, labels):
        with tf.GradientTape() as tape:
            pred = model(batch_data, training=True)
            per_example_loss = tf.keras.losses.BinaryCrossentropy(reduction=tf.keras.losses.Reduction.NONE)(
                labels, pred
            )
            loss = tf.nn.compute_average_loss(per_example_loss)
            model_losses = model.losses
            if model_losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(model_losses))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        actual_pred = tf.cast(tf.greater(pred, 0.5), tf.int64)
        accuracy.update_state(labels, actual_pred)
        return loss

    batch_data, labels = next(iterator)
    losses = strategy.run(replica_fn, args=(batch_data, labels))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)


@tf.function
def per_worker_dataset_fn():
    return strategy.distribute_datasets_from_function(dataset_fn)


per_worker_iterator = iter(coordinator.create_per_worker_dataset(per_worker_dataset_fn))
for epoch in range(4):
    accuracy.reset_states()
    for _ in range(5):
        coordinator.schedule(step_fn, args=(per_worker_iterator,))
    coordinator.join()
    print("Finished epoch %d, accuracy is %f." % (epoch, accuracy.result().numpy()))
loss = coordinator.schedule(step_fn, args=(per_worker_iterator,))
print("Final loss is %f" % loss.fetch())
assert loss.get() == loss.fetch() and coordinator.strategy is strategy
assert coordinator.done() and optimizer.iterations.numpy() == 21
assert accuracy.result().numpy() > 0.9, accuracy.result()

# Evaluation by the chief, and by whoever reads the checkpoints.
eval_dataset = (
    tf.data.Dataset.from_tensor_slices(make_examples(40))
    .map(lambda x: ({"features": feature_stage(x["features"])}, label_stage(x["label"])))
    .batch(8)
)
eval_accuracy = tf.keras.metrics.Accuracy()
for batch_data, labels in eval_dataset:
    pred = model(batch_data, training=False)
    eval_accuracy.update_state(labels, tf.cast(tf.greater(pred, 0.5), tf.int64))
print("Evaluation accuracy: %f" % eval_accuracy.result())
assert eval_accuracy.result().numpy() > 0.9

checkpoint_dir = "./by-hand"
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, directory=checkpoint_dir, max_to_keep=3)
saved = [weight.numpy() for weight in model.weights]
manager.save()
model.set_weights([np.zeros_like(weight) for weight in saved])
coordinator.schedule(step_fn, args=(per_worker_iterator,))
coordinator.join()
checkpoint.restore(manager.latest_checkpoint).assert_existing_objects_matched()
for weight, before in zip(model.weights, saved):
    np.testing.assert_array_equal(weight.numpy(), before)


@tf.function
def next_number(iterator):
    return next(iterator)


def short_fn():
    index = tf.distribute.coordinator.experimental_get_current_worker_index()
    return tf.data.Dataset.range(2).map(lambda number: number + 10 * index)


short = iter(coordinator.create_per_worker_dataset(short_fn))
results = coordinator.fetch([coordinator.schedule(next_number, args=(short,)) for _ in range(2)])
assert all(int(result) % 10 in (0, 1) for result in results), results
for _ in range(20):
    try:
        coordinator.schedule(next_number, args=(short,))
    except tf.errors.OutOfRangeError:
        break
try:
    coordinator.join()
except tf.errors.OutOfRangeError as error:
    print("As expected:", error)
assert coordinator.schedule(tf.function(lambda x: x + 1), args=(tf.constant(1),)).fetch() == 2
print("ok")
