"""Parameter servers are refused in clear words; what the tutorial trains on them is trained under MirroredStrategy."""

import os
import random

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def refused(attempt, *words):
    try:
        attempt()
    except (NotImplementedError, AttributeError) as error:
        assert all(word in str(error) for word in words), error
        print(error)
    else:
        raise AssertionError(words)


cluster_spec = tf.train.ClusterSpec({"worker": ["localhost:1111"], "ps": ["localhost:2222"]})
cluster_resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster_spec, rpc_layer="grpc")
assert cluster_resolver.cluster_spec().as_dict() == cluster_spec.as_dict()
refused(lambda: tf.compat.v1.ConfigProto(), "tf.config")
refused(lambda: tf.distribute.Server(cluster_spec, job_name="ps", task_index=0, protocol="grpc"), "unisono run")
refused(
    lambda: tf.distribute.experimental.partitioners.MinSizePartitioner(min_shard_bytes=256 << 10, max_shards=2),
    "MultiWorkerMirroredStrategy",
)
refused(
    lambda: tf.distribute.ParameterServerStrategy(cluster_resolver, variable_partitioner=None),
    "MultiWorkerMirroredStrategy",
)

strategy = tf.distribute.MirroredStrategy()
refused(lambda: tf.distribute.coordinator.ClusterCoordinator(strategy), "MultiWorkerMirroredStrategy")


# fit, with everything that is kept on the way.
def small_dataset(input_context=None):
    x, y = tf.random.uniform((64, 10)), tf.random.uniform((64,))
    return tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64).repeat().batch(8).prefetch(2)


with strategy.scope():
    line = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
    line.compile(tf.keras.optimizers.legacy.SGD(), loss="mse", steps_per_execution=5)
callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir="./logs"),
    tf.keras.callbacks.ModelCheckpoint(filepath=os.path.join(".", "kept", "ckpt-{epoch}"), save_weights_only=True),
    tf.keras.callbacks.BackupAndRestore(backup_dir="./backup"),
]
line.fit(small_dataset(), epochs=2, steps_per_epoch=10, callbacks=callbacks, verbose=2)
assert os.listdir("./logs") and tf.train.latest_checkpoint("./kept") is not None

# Words of which some are wanted; the answer is yes or no.
feature_vocab = ["plum", "pear", "fig", "quince", "rose", "oak"]
label_vocab = ["yes", "no"]
with strategy.scope():
    feature_lookup = tf.keras.layers.StringLookup(vocabulary=feature_vocab, mask_token=None)
    label_lookup = tf.keras.layers.StringLookup(vocabulary=label_vocab, num_oov_indices=0, mask_token=None)
    raw_words = tf.keras.layers.Input(shape=(3,), dtype=tf.string, name="words")
    preprocess_words = tf.keras.Model({"features": raw_words}, feature_lookup(raw_words))
    raw_answer = tf.keras.layers.Input(shape=(1,), dtype=tf.string, name="answer")
    preprocess_answer = tf.keras.Model({"label": raw_answer}, label_lookup(raw_answer))
assert feature_lookup.get_vocabulary()[1:] == feature_vocab

rng = random.Random(4)


def examples(number):
    words, answers = [], []
    for _ in range(number):
        chosen = rng.sample(feature_vocab, 3)
        words.append(chosen)
        answers.append(["yes"] if "fig" in chosen else ["no"])
    return words, answers


def dataset_fn(input_context):
    words, answers = examples(120)
    dataset = tf.data.Dataset.from_tensor_slices((words, answers))
    dataset = dataset.map(lambda x, y: (feature_lookup(x), label_lookup(y)))
    size = input_context.get_per_replica_batch_size(4 * strategy.num_replicas_in_sync)
    return dataset.shuffle(120).batch(size).repeat()


with strategy.scope():
    model_input = tf.keras.layers.Input(shape=(3,), dtype=tf.int64, name="numbers")
    embedded = tf.keras.layers.Embedding(input_dim=len(feature_vocab) + 1, output_dim=8)(model_input)
    averaged = tf.reduce_mean(embedded, axis=1)
    output = tf.keras.layers.Dense(units=1, activation="sigmoid", kernel_regularizer=tf.keras.regularizers.L2(1e-5))(
        averaged
    )
    model = tf.keras.Model({"features": model_input}, output)
    optimizer = tf.keras.optimizers.legacy.RMSprop(learning_rate=0.05)
    accuracy = tf.keras.metrics.Accuracy()


@tf.function
def step_fn(iterator):
    def replica_fn(batch, labels):
        with tf.GradientTape() as tape:
            predictions = model(batch, training=True)
            per_example = tf.keras.losses.BinaryCrossentropy(reduction=tf.keras.losses.Reduction.NONE)(
                labels, predictions
            )
            loss = tf.nn.compute_average_loss(per_example)
            if model.losses:
                loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        accuracy.update_state(labels, tf.cast(tf.greater(predictions, 0.5), tf.int64))
        return loss

    batch, labels = next(iterator)
    losses = strategy.run(replica_fn, args=(batch, labels))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


iterator = iter(strategy.distribute_datasets_from_function(dataset_fn))
for epoch in range(3):
    accuracy.reset_states()
    for _ in range(20):
        loss = step_fn(iterator)
    print("Epoch %d: accuracy %f, loss %f." % (epoch, accuracy.result().numpy(), loss.numpy()))
assert accuracy.result().numpy() > 0.9, accuracy.result()

# A second reader of the checkpoints, as an evaluator beside the training.
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, directory="./by-hand", max_to_keep=3)
manager.save()
words, answers = examples(40)
eval_data = tf.data.Dataset.from_tensor_slices(
    (preprocess_words({"features": tf.constant(words)}), preprocess_answer({"label": tf.constant(answers)}))
).batch(8)
eval_accuracy = tf.keras.metrics.Accuracy()
other = tf.keras.models.clone_model(model)
for path in tf.train.checkpoints_iterator("./by-hand", timeout=5):
    status = tf.train.Checkpoint(model=other).restore(path)
    status.assert_existing_objects_matched()
    status.expect_partial()
    for batch, labels in eval_data:
        predictions = other(batch, training=False)
        eval_accuracy.update_state(labels, tf.cast(tf.greater(predictions, 0.5), tf.int64))
    break
print("Evaluated: {}".format(eval_accuracy.result().numpy()))
assert eval_accuracy.result().numpy() > 0.9
for one, same in zip(other.weights, model.weights):
    np.testing.assert_array_equal(one.numpy(), same.numpy())
assert issubclass(tf.errors.UnavailableError, tf.errors.OpError)
print("ok")
