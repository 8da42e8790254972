"""An absl application: flags, a trainer class, strategy.run over a distributed dataset, checkpoints and summaries."""

import os

import numpy as np
import tensorflow as tf
from absl import app, flags, logging

tf.random.set_seed(0)

FLAGS = flags.FLAGS
flags.DEFINE_string("model_dir", "model_dir", "Where checkpoints and summaries are written.")
flags.DEFINE_integer("train_steps", 24, "Steps to train.")
flags.DEFINE_integer("steps_per_loop", 8, "Steps between two summaries.")
flags.DEFINE_float("lr", 0.1, "Learning rate.")
flags.DEFINE_enum("optimizer", "sgd", ["sgd", "adam"], "Optimizer.")
flags.DEFINE_bool("use_nesterov", True, "Nesterov momentum.")


def input_fn(ctx=None, global_batch_size=32):
    batch_size = ctx.get_per_replica_batch_size(global_batch_size) if ctx else global_batch_size
    rng = np.random.RandomState(0)
    x = rng.randn(256, 6).astype("float32")
    y = (x[:, 0] > x[:, 1]).astype("int64")
    ds = tf.data.Dataset.from_tensor_slices({"features": x, "label": y})
    if ctx:
        ds = ds.shard(ctx.num_input_pipelines, ctx.input_pipeline_id)
    return ds.shuffle(256, seed=3).repeat().batch(batch_size, drop_remainder=True).prefetch(2)


class Trainer(tf.Module):
    def __init__(self, strategy, flags_obj):
        super(Trainer, self).__init__(name="trainer")
        self.strategy = strategy
        self.flags_obj = flags_obj
        with self.strategy.scope():
            self.model = tf.keras.Sequential(
                [tf.keras.layers.Dense(16, "relu", input_shape=(6,)), tf.keras.layers.Dense(2)]
            )
            schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([16], [flags_obj.lr, flags_obj.lr / 10])
            if flags_obj.optimizer == "sgd":
                self.optimizer = tf.keras.optimizers.SGD(schedule, momentum=0.9, nesterov=flags_obj.use_nesterov)
            else:
                self.optimizer = tf.keras.optimizers.Adam(schedule)
            self.train_loss = tf.keras.metrics.Mean("train_loss", dtype=tf.float32)
            self.train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy("train_accuracy", dtype=tf.float32)
        self.global_step = self.optimizer.iterations
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer)
        self.manager = tf.train.CheckpointManager(
            self.checkpoint,
            directory=flags_obj.model_dir,
            max_to_keep=2,
            step_counter=self.global_step,
            checkpoint_interval=0,
        )
        self.summary_writer = tf.summary.create_file_writer(os.path.join(flags_obj.model_dir, "summaries/train"))
        self.input = self.strategy.distribute_datasets_from_function(input_fn)

    def replicated_step(self, inputs):
        features, labels = inputs["features"], inputs["label"]
        with tf.GradientTape() as tape:
            logits = self.model(features, training=True)
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            loss = tf.reduce_mean(loss)
            scaled_loss = loss / self.strategy.num_replicas_in_sync
        grads = tape.gradient(scaled_loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.train_loss.update_state(loss)
        self.train_accuracy.update_state(labels, logits)

    @tf.function
    def train_loop(self, iterator, num_steps):
        for _ in tf.range(num_steps):
            self.strategy.run(self.replicated_step, args=(next(iterator),))

    def train(self):
        iterator = iter(self.input)
        if self.manager.latest_checkpoint:
            logging.info("Restoring %s", self.manager.latest_checkpoint)
            self.checkpoint.restore(self.manager.latest_checkpoint).expect_partial()
        with self.summary_writer.as_default():
            while self.global_step.numpy() < self.flags_obj.train_steps:
                self.train_loop(iterator, tf.convert_to_tensor(self.flags_obj.steps_per_loop, dtype=tf.int32))
                step = self.global_step.numpy()
                for metric in (self.train_loss, self.train_accuracy):
                    tf.summary.scalar(metric.name, metric.result(), step=step)
                tf.summary.histogram("kernel", self.model.layers[0].kernel, step=step)
                tf.summary.text("flags", self.flags_obj.optimizer, step=step)
                logging.info("step %d loss %f", step, self.train_loss.result().numpy())
                accuracy = self.train_accuracy.result().numpy()
                self.train_loss.reset_states()
                self.train_accuracy.reset_states()
                self.manager.save(checkpoint_number=step)
        self.summary_writer.flush()
        return accuracy


def main(argv):
    del argv
    strategy = tf.distribute.MirroredStrategy()
    accuracy = Trainer(strategy, FLAGS).train()
    print("accuracy", accuracy)
    assert accuracy > 0.8
    state = tf.train.get_checkpoint_state(FLAGS.model_dir)
    assert len(state.all_model_checkpoint_paths) == 2, state
    assert tf.train.latest_checkpoint(FLAGS.model_dir).endswith("ckpt-24")
    names = [name for name, _ in tf.train.list_variables(FLAGS.model_dir)]
    assert any("model" in name for name in names)
    FLAGS.train_steps = 32
    again = Trainer(strategy, FLAGS)
    again.train()
    assert int(again.global_step.numpy()) == 32
    events = tf.io.gfile.glob(os.path.join(FLAGS.model_dir, "summaries/train/events*"))
    assert events
    print("ok")


if __name__ == "__main__":
    app.run(main)
