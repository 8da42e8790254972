"""Structured data with preprocessing layers: one input per column, lookups, buckets, crosses, a dataset of dicts."""

import csv

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.random.set_seed(0)

rng = np.random.RandomState(0)
N = 400
table = {
    "Type": rng.choice(["Cat", "Dog"], N),
    "Age": rng.randint(1, 100, N),
    "Breed1": rng.choice(["Tabby", "Poodle", "Beagle", "Mixed"], N),
    "Color": rng.choice(["Black", "Brown"], N),
    "Fee": rng.uniform(0, 300, N).round(1),
    "PhotoAmt": rng.randint(0, 10, N),
}
table["target"] = ((table["Fee"] < 120) & (table["Type"] == "Cat")).astype(int)
with open("pets.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(table)
    writer.writerows(zip(*table.values()))
with open("pets.csv") as f:
    rows = list(csv.DictReader(f))
columns = {k: np.array([r[k] for r in rows]) for k in rows[0]}
for k in ("Age", "Fee", "PhotoAmt", "target"):
    columns[k] = columns[k].astype(np.float32 if k == "Fee" else np.int64)


def df_to_dataset(dataframe, shuffle=True, batch_size=32):
    df = dict(dataframe)
    labels = df.pop("target")
    df = {key: value[:, tf.newaxis] for key, value in df.items()}
    ds = tf.data.Dataset.from_tensor_slices((dict(df), labels))
    if shuffle:
        ds = ds.shuffle(buffer_size=len(labels))
    ds = ds.batch(batch_size)
    ds = ds.prefetch(batch_size)
    return ds


train = {k: v[:300] for k, v in columns.items()}
val = {k: v[300:] for k, v in columns.items()}
train_ds, val_ds = df_to_dataset(train), df_to_dataset(val, shuffle=False)
[(train_features, label_batch)] = train_ds.take(1)
print("Every feature:", list(train_features.keys()))
print("A batch of types:", train_features["Type"][:3])
print("A batch of targets:", label_batch[:3])


def get_normalization_layer(name, dataset):
    normalizer = layers.Normalization(axis=None)
    feature_ds = dataset.map(lambda x, y: x[name])
    normalizer.adapt(feature_ds)
    return normalizer


def get_category_encoding_layer(name, dataset, dtype, max_tokens=None):
    if dtype == "string":
        index = layers.StringLookup(max_tokens=max_tokens)
    else:
        index = layers.IntegerLookup(max_tokens=max_tokens)
    feature_ds = dataset.map(lambda x, y: x[name])
    index.adapt(feature_ds)
    encoder = layers.CategoryEncoding(num_tokens=index.vocabulary_size())
    return lambda feature: encoder(index(feature))


print(get_normalization_layer("PhotoAmt", train_ds)(train_features["PhotoAmt"])[:3])
print(get_category_encoding_layer("Type", train_ds, "string")(train_features["Type"])[:3])

with tf.distribute.MirroredStrategy().scope():
    all_inputs, encoded_features = {}, []
    for header in ["PhotoAmt", "Fee"]:
        numeric_col = tf.keras.Input(shape=(1,), name=header)
        normalization_layer = get_normalization_layer(header, train_ds)
        all_inputs[header] = numeric_col
        encoded_features.append(normalization_layer(numeric_col))
    age_col = tf.keras.Input(shape=(1,), name="Age", dtype="int64")
    buckets = layers.Discretization(bin_boundaries=[12, 24, 48])(age_col)
    all_inputs["Age"] = age_col
    encoded_features.append(layers.CategoryEncoding(num_tokens=4, output_mode="one_hot")(buckets))
    for header in ["Type", "Color", "Breed1"]:
        categorical_col = tf.keras.Input(shape=(1,), name=header, dtype="string")
        encoding_layer = get_category_encoding_layer(name=header, dataset=train_ds, dtype="string", max_tokens=5)
        all_inputs[header] = categorical_col
        encoded_features.append(encoding_layer(categorical_col))
    all_features = tf.keras.layers.concatenate(encoded_features)
    x = tf.keras.layers.Dense(32, activation="relu")(all_features)
    x = tf.keras.layers.Dropout(0.2)(x)
    output = tf.keras.layers.Dense(1)(x)
    model = tf.keras.Model(all_inputs, output)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
model.fit(train_ds, epochs=8, validation_data=val_ds, verbose=2)
result = model.evaluate(val_ds, return_dict=True)
assert result["accuracy"] > 0.8, result
model.save("my_pet_classifier.keras")
sample = {"Type": "Cat", "Age": 3, "Breed1": "Tabby", "Color": "Black", "Fee": 50.0, "PhotoAmt": 2}
input_dict = {name: tf.convert_to_tensor([[value]]) for name, value in sample.items()}
predictions = model.predict(input_dict)
prob = tf.nn.sigmoid(predictions[0])
print("This particular pet had a %.1f percent probability of getting adopted." % (100 * prob))
crossed = layers.HashedCrossing(num_bins=8)((np.array(["Cat", "Dog"]), np.array(["Black", "Black"])))
assert crossed.shape[0] == 2
hashed = layers.Hashing(num_bins=4)(np.array([["Tabby"], ["Poodle"]]))
assert hashed.shape == (2, 1) and int(tf.reduce_max(hashed)) < 4
print("ok")
