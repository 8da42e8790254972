"""tf.data from CSV files, Python generators and windows of text, and fit with a plain generator."""

import collections

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)

rng = np.random.RandomState(0)
CSV_COLUMNS = ["survived", "sex", "age", "fare", "deck"]
with open("titanic.csv", "w") as f:
    f.write(",".join(CSV_COLUMNS) + "\n")
    for i in range(200):
        sex = rng.choice(["male", "female"])
        age = rng.uniform(1, 70)
        f.write("%d,%s,%.1f,%.2f,%s\n" % (int(sex == "female"), sex, age, rng.uniform(5, 90), rng.choice(list("ABC"))))


def get_dataset(file_path, **kwargs):
    return tf.data.experimental.make_csv_dataset(
        file_path, batch_size=20, label_name="survived", na_value="?", num_epochs=1, ignore_errors=True, **kwargs
    )


def show_batch(dataset):
    for batch, label in dataset.take(1):
        for key, value in batch.items():
            print("{:20s}: {}".format(key, value.numpy()[:3]))


raw = get_dataset("titanic.csv")
show_batch(raw)
show_batch(get_dataset("titanic.csv", select_columns=["survived", "age", "deck"]))


class PackNumericFeatures(object):
    def __init__(self, names):
        self.names = names

    def __call__(self, features, labels):
        numeric_features = [features.pop(name) for name in self.names]
        numeric_features = [tf.cast(feat, tf.float32) for feat in numeric_features]
        features["numeric"] = tf.stack(numeric_features, axis=-1)
        return features, labels


packed = raw.map(PackNumericFeatures(["age", "fare"]))
vocabulary = tf.keras.layers.StringLookup(vocabulary=["male", "female"], output_mode="one_hot")


def to_vector(features, labels):
    numeric = (features["numeric"] - [30.0, 45.0]) / [20.0, 25.0]
    return tf.concat([numeric, vocabulary(features["sex"])], axis=1), labels


with tf.distribute.MirroredStrategy().scope():
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1, activation="sigmoid")]
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
history = model.fit(packed.map(to_vector).shuffle(50), epochs=25, verbose=0)
assert history.history["accuracy"][-1] > 0.8, history.history

# The same file, parsed line by line.
FEATURE_DEFAULTS = [[0], [""], [0.0], [0.0], [""]]


def parse_line(line):
    fields = tf.io.decode_csv(line, FEATURE_DEFAULTS)
    features = collections.OrderedDict(zip(CSV_COLUMNS, fields))
    label = features.pop("survived")
    return features, label


lines = tf.data.TextLineDataset("titanic.csv").skip(1).map(parse_line)
features, label = next(iter(lines.batch(5)))
assert features["age"].shape == (5,) and label.dtype == tf.int32
ages = tf.data.experimental.CsvDataset("titanic.csv", [tf.int32, tf.float32], header=True, select_cols=[0, 2])
assert len(list(ages)) == 200
mean_age = ages.map(lambda s, a: a).reduce((0.0, 0.0), lambda state, a: (state[0] + a, state[1] + 1.0))
print("mean age", (mean_age[0] / mean_age[1]).numpy())


# Generators.
def count(stop):
    i = 0
    while i < stop:
        yield i
        i += 1


ds_counter = tf.data.Dataset.from_generator(count, args=[25], output_types=tf.int32, output_shapes=())
for count_batch in ds_counter.repeat().batch(10).take(3):
    print(count_batch.numpy())


def gen_series():
    i = 0
    while True:
        size = rng.randint(1, 6)
        yield i, rng.normal(size=(size,))
        i += 1


ds_series = tf.data.Dataset.from_generator(gen_series, output_types=(tf.int32, tf.float32), output_shapes=((), (None,)))
ids, sequence_batch = next(iter(ds_series.shuffle(20).padded_batch(8)))
assert sequence_batch.shape[0] == 8 and sequence_batch.shape[1] <= 5
signature = (tf.TensorSpec(shape=(4,), dtype=tf.float32), tf.TensorSpec(shape=(), dtype=tf.float32))


def pairs():
    for _ in range(64):
        row = rng.rand(4).astype(np.float32)
        yield row, row.sum()


spec_ds = tf.data.Dataset.from_generator(pairs, output_signature=signature).batch(16)
assert spec_ds.element_spec[0].shape.as_list() == [None, 4]

range_ds = tf.data.Dataset.range(50)


def dense_1_step(batch):
    return batch[:-1], batch[1:]


windows = range_ds.window(5, shift=2, drop_remainder=True).flat_map(lambda sub: sub.batch(5, drop_remainder=True))
for w, (a, b) in zip(windows.take(2), windows.map(dense_1_step).take(2)):
    assert np.array_equal(w.numpy()[1:], b.numpy()) and a.shape == (4,)


def batch_generator(features, labels, batch_size):
    while True:
        idx = np.random.choice(len(features), batch_size)
        yield features[idx], labels[idx]


x = rng.randn(128, 4).astype("float32")
y = x.sum(1, keepdims=True)
with tf.distribute.MirroredStrategy().scope():
    regressor = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    regressor.compile(loss="mse", optimizer=tf.keras.optimizers.Adam(0.05))
loss = regressor.fit(batch_generator(x, y, 16), steps_per_epoch=20, epochs=5, verbose=0, workers=1).history["loss"]
assert loss[-1] < loss[0] * 0.2
assert regressor.predict(spec_ds, verbose=0).shape == (64, 1)
print("ok")
