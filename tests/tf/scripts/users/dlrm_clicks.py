"""A deep ranking model for clicks: one table per category, pairwise interactions, AUC, a custom loop on replicas."""

import argparse
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)


def parse_args():
    parser = argparse.ArgumentParser(description="DLRM")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--embedding-dim", dest="dim", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.2)
    return parser.parse_args()


class MLP(tf.keras.layers.Layer):
    def __init__(self, sizes, sigmoid_last=False, **kwargs):
        super(MLP, self).__init__(**kwargs)
        self.dense_layers = []
        for i, n in enumerate(sizes):
            act = "sigmoid" if sigmoid_last and i == len(sizes) - 1 else "relu"
            self.dense_layers.append(tf.keras.layers.Dense(n, activation=act))

    def call(self, x):
        for layer in self.dense_layers:
            x = layer(x)
        return x


class DotInteraction(tf.keras.layers.Layer):
    def call(self, inputs):
        feats = tf.stack(inputs, axis=1)  # (batch, n, dim)
        n = feats.shape[1]
        z = tf.matmul(feats, feats, transpose_b=True)
        rows, cols = np.tril_indices(n, k=-1)
        flat = tf.reshape(z, [-1, n * n])
        return tf.gather(flat, (rows * n + cols).tolist(), axis=1)


class DLRM(tf.keras.Model):
    def __init__(self, table_sizes, dim):
        super(DLRM, self).__init__()
        self.tables = [
            tf.keras.layers.Embedding(size, dim, embeddings_initializer=tf.keras.initializers.RandomUniform(-0.1, 0.1))
            for size in table_sizes
        ]
        self.bottom = MLP([16, dim])
        self.interact = DotInteraction()
        self.top = MLP([16, 1], sigmoid_last=True)

    def call(self, inputs, training=None):
        dense, cats = inputs["dense"], inputs["cats"]
        x = self.bottom(dense)
        embedded = [self.tables[i](cats[:, i]) for i in range(len(self.tables))]
        interactions = self.interact([x] + embedded)
        return self.top(tf.concat([x, interactions], axis=1))


def synthetic(n, table_sizes, seed):
    rng = np.random.RandomState(seed)
    dense = rng.randn(n, 5).astype("float32")
    cats = np.stack([rng.randint(0, s, n) for s in table_sizes], axis=1).astype("int32")
    score = dense[:, 0] + 2.0 * (cats[:, 0] % 2) - 2.0 * (cats[:, 1] % 2)
    return {"dense": np.log1p(np.abs(dense)) * np.sign(dense), "cats": cats}, (score > 0).astype("float32")[:, None]


def main():
    args = parse_args()
    table_sizes = [10, 20, 7]
    strategy = tf.distribute.MirroredStrategy()
    features, labels = synthetic(768, table_sizes, 0)
    ds = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(768, seed=1)
    ds = ds.batch(args.batch_size, drop_remainder=True)
    dist_ds = strategy.experimental_distribute_dataset(ds)
    with strategy.scope():
        model = DLRM(table_sizes, args.dim)
        bce = tf.keras.losses.BinaryCrossentropy(reduction=tf.keras.losses.Reduction.NONE)
        opt = tf.keras.optimizers.Adagrad(learning_rate=args.lr)
        auc = tf.keras.metrics.AUC(num_thresholds=50)
        train_loss = tf.keras.metrics.Mean()

    @tf.function
    def distributed_train_step(x, y):
        def step_fn(x, y):
            with tf.GradientTape() as tape:
                prob = model(x, training=True)
                loss = tf.nn.compute_average_loss(bce(y, prob), global_batch_size=args.batch_size)
            grads = tape.gradient(loss, model.trainable_variables)
            opt.apply_gradients(zip(grads, model.trainable_variables))
            auc.update_state(y, prob)
            return loss

        per_replica = strategy.run(step_fn, args=(x, y))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica, axis=None)

    for epoch in range(args.epochs):
        auc.reset_state()
        train_loss.reset_states()
        start = time.time()
        for step, (x, y) in enumerate(dist_ds):
            train_loss(distributed_train_step(x, y))
        print(
            "epoch %d: loss %.4f, auc %.4f, %d steps, %.1fs"
            % (epoch, train_loss.result().numpy(), auc.result().numpy(), step + 1, time.time() - start)
        )
    assert step == 768 // args.batch_size - 1
    assert float(auc.result()) > 0.85, auc.result()
    assert int(opt.iterations.numpy()) == args.epochs * (step + 1)
    x_test, y_test = synthetic(200, table_sizes, 9)
    test_auc = tf.keras.metrics.AUC()
    test_auc.update_state(y_test, model(x_test).numpy())
    print("test auc", test_auc.result().numpy())
    assert test_auc.result().numpy() > 0.75
    print("ok")


if __name__ == "__main__":
    main()
