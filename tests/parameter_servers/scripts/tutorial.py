"""A script in the shape of TensorFlow's tutorial on parameter servers, for a cluster of real processes.

It knows nothing of Unisono. Tasks are killed meanwhile by the test, which reads what the chief prints.
"""

import os
import random

import tensorflow as tf

os.environ["GRPC_FAIL_FAST"] = "use_caller"
cluster_resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if cluster_resolver.task_type in ("worker", "ps"):
    server = tf.distribute.Server(
        cluster_resolver.cluster_spec(),
        job_name=cluster_resolver.task_type,
        task_index=cluster_resolver.task_id,
        protocol=cluster_resolver.rpc_layer or "grpc",
        start=True,
    )
    server.join()

variable_partitioner = tf.distribute.experimental.partitioners.MinSizePartitioner(
    min_shard_bytes=(16 << 10), max_shards=2
)
strategy = tf.distribute.ParameterServerStrategy(cluster_resolver, variable_partitioner=variable_partitioner)


# Training with fit.
def numbers_fn(input_context):
    global_batch_size = 64
    batch_size = input_context.get_per_replica_batch_size(global_batch_size)
    x, y = tf.random.uniform((10, 10)), tf.random.uniform((10,))
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10).repeat()
    dataset = dataset.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)
    return dataset.batch(batch_size).prefetch(2)


input_options = tf.distribute.InputOptions(experimental_fetch_to_device=True)
dataset_creator = tf.keras.utils.experimental.DatasetCreator(numbers_fn, input_options=input_options)
with strategy.scope():
    line = tf.keras.models.Sequential([tf.keras.layers.Dense(10)])
    line.compile(tf.keras.optimizers.legacy.SGD(), loss="mse", steps_per_execution=10)
callbacks = [
    tf.keras.callbacks.ModelCheckpoint(filepath="./kept/ckpt-{epoch}", save_weights_only=True),
    tf.keras.callbacks.BackupAndRestore(backup_dir="./backup"),
]
history = line.fit(dataset_creator, epochs=6, steps_per_epoch=100, callbacks=callbacks, verbose=2)
print(f"Fit has run {line.optimizer.iterations.numpy()} steps", flush=True)
assert history.history["loss"][-1] < history.history["loss"][0], history.history

# Training with a custom loop.
feature_vocab = ["tea", "rice", "salt", "milk", "bread", "honey"]
label_vocab = ["yes", "no"]
with strategy.scope():
    feature_lookup_layer = tf.keras.layers.StringLookup(vocabulary=feature_vocab, mask_token=None)
    label_lookup_layer = tf.keras.layers.StringLookup(vocabulary=label_vocab, num_oov_indices=0, mask_token=None)
    raw_feature_input = tf.keras.layers.Input(shape=(3,), dtype=tf.string, name="feature")
    feature_preprocess_stage = tf.keras.Model({"features": raw_feature_input}, feature_lookup_layer(raw_feature_input))
    raw_label_input = tf.keras.layers.Input(shape=(1,), dtype=tf.string, name="label")
    label_preprocess_stage = tf.keras.Model({"label": raw_label_input}, label_lookup_layer(raw_label_input))


def feature_and_label_gen(num_examples):
    examples = {"features": [], "label": []}
    for _ in range(num_examples):
        features = random.sample(feature_vocab, 3)
        examples["features"].append(features)
        examples["label"].append(["yes"] if "milk" in features else ["no"])
    return examples


def dataset_fn(_):
    raw_dataset = tf.data.Dataset.from_tensor_slices(feature_and_label_gen(200))
    return (
        raw_dataset.map(
            lambda x: ({"features": feature_preprocess_stage(x["features"])}, label_preprocess_stage(x["label"]))
        )
        .shuffle(200)
        .batch(32)
        .repeat()
    )


with strategy.scope():
    model_input = tf.keras.layers.Input(shape=(3,), dtype=tf.int64, name="model_input")
    emb_layer = tf.keras.layers.Embedding(input_dim=len(feature_lookup_layer.get_vocabulary()) + 1, output_dim=1024)
    emb_output = tf.reduce_mean(emb_layer(model_input), axis=1)
    dense_output = tf.keras.layers.Dense(units=1, activation="sigmoid")(emb_output)
    model = tf.keras.Model({"features": model_input}, dense_output)
    optimizer = tf.keras.optimizers.legacy.RMSprop(learning_rate=0.01)
    accuracy = tf.keras.metrics.Accuracy()
assert len(emb_layer.weights) == 2
assert emb_layer.weights[0].device != emb_layer.weights[1].device


@tf.function
def step_fn(iterator):
    def replica_fn(batch_data, labels):
        with tf.GradientTape() as tape:
            pred = model(batch_data, training=True)
            loss_object = tf.keras.losses.BinaryCrossentropy(reduction=tf.keras.losses.Reduction.NONE)
            loss = tf.nn.compute_average_loss(loss_object(labels, pred))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        accuracy.update_state(labels, tf.cast(tf.greater(pred, 0.5), tf.int64))
        return loss

    batch_data, labels = next(iterator)
    losses = strategy.run(replica_fn, args=(batch_data, labels))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)


@tf.function
def per_worker_dataset_fn():
    return strategy.distribute_datasets_from_function(dataset_fn)


per_worker_iterator = iter(coordinator.create_per_worker_dataset(per_worker_dataset_fn))
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
checkpoint_manager = tf.train.CheckpointManager(checkpoint, "./checkpoints", max_to_keep=3)
num_epochs, steps_per_epoch = 6, 100
for i in range(num_epochs):
    accuracy.reset_states()
    print(f"Beginning epoch {i}", flush=True)
    for _ in range(steps_per_epoch):
        coordinator.schedule(step_fn, args=(per_worker_iterator,))
    coordinator.join()
    checkpoint_manager.save()
    print(f"Finished epoch {i}, accuracy is {accuracy.result().numpy():f}.", flush=True)
loss = coordinator.schedule(step_fn, args=(per_worker_iterator,))
print(f"Final loss is {loss.fetch():f}", flush=True)
print(f"The loop has run {optimizer.iterations.numpy()} steps", flush=True)

eval_accuracy = tf.keras.metrics.Accuracy()
for batch_data, labels in dataset_fn(None).take(5):
    pred = model(batch_data, training=False)
    eval_accuracy.update_state(labels, tf.cast(tf.greater(pred, 0.5), tf.int64))
print(f"Evaluation accuracy: {eval_accuracy.result():f}", flush=True)
