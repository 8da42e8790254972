"""Ragged and sparse tensors from records to a trained and a saved model, as scripts for TensorFlow use them."""

import tempfile

import numpy as np
import tensorflow as tf
from google.protobuf import text_format

strategy = tf.distribute.MirroredStrategy()

# Records whose features have different lengths.
RECORD = 'features {{ feature {{ key: "words" value {{ bytes_list {{ value: [{words}] }} }} }} {numbers} }}'
NUMBERS = 'feature {{ key: "ids" value {{ int64_list {{ value: {ids} }} }} }}'


def make_record(words, ids):
    quoted = ", ".join(f'"{word}"' for word in words)
    text = RECORD.format(words=quoted, numbers=NUMBERS.format(ids=ids) if ids else "")
    return text_format.Merge(text, tf.train.Example()).SerializeToString()


records = [make_record(["a", "cat"], [3, 1]), make_record(["sleeps"], []), make_record(["all", "the", "day"], [2])]
ragged = tf.io.parse_example(records, {"words": tf.io.RaggedFeature(tf.string), "ids": tf.io.RaggedFeature(tf.int64)})
sparse = tf.io.parse_example(records, {"ids": tf.io.VarLenFeature(tf.int64)})["ids"]
assert ragged["words"].to_list() == [[b"a", b"cat"], [b"sleeps"], [b"all", b"the", b"day"]]
assert tf.RaggedTensor.from_sparse(sparse).to_list() == ragged["ids"].to_list() == [[3, 1], [], [2]]
print(ragged["words"], sparse)
tf.print(ragged["ids"])

# Pairs of neighbours, with a mark at both ends, and the mean of the embeddings of words and of pairs.
words = ragged["words"]
mark = tf.fill([words.nrows(), 1], "|")
marked = tf.concat([mark, words, mark], axis=1)
pairs = tf.strings.join([marked[:, :-1], marked[:, 1:]], separator=" ")
assert pairs.to_list()[1] == [b"| sleeps", b"sleeps |"]
table = tf.Variable(tf.random.normal([50, 4]))
embedded = [tf.nn.embedding_lookup(table, tf.strings.to_hash_bucket_fast(each, 50)) for each in (words, pairs)]
means = tf.reduce_mean(tf.concat(embedded, axis=1), axis=1)
assert means.shape == (3, 4)

# Datasets of rows, of batches, and of what maps make of them.
dataset = tf.data.Dataset.from_tensor_slices(ragged)
for element in dataset.batch(2).unbatch():
    print({name: f"{value}" for name, value in element.items()})
lengths = dataset.map(lambda row: {"count": tf.size(row["ids"]), "ranges": tf.ragged.range(row["ids"])})
assert [int(each["count"]) for each in lengths] == [2, 0, 1]
assert next(iter(lengths.batch(3)))["ranges"].to_list() == [[[0, 1, 2], [0]], [], [[0, 1]]]
grown = tf.data.Dataset.range(1, 4).map(tf.range).apply(tf.data.experimental.dense_to_ragged_batch(3))
assert next(iter(grown)).to_list() == [[0], [0, 1], [0, 1, 2]]


# Functions, with and without a signature.
@tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int64)])
def span(rows):
    return tf.reduce_max(rows, axis=-1) - tf.reduce_min(rows, axis=-1)


assert span(tf.ragged.constant([[1, 5], [3]], tf.int64)).numpy().tolist() == [4, 0]
increment = tf.function(lambda x: x + 1).get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32))
assert increment(tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [3, 4]]
try:
    tf.ragged.constant([[1, 2], [3]]) + tf.constant([[1, 2, 3], [4, 5, 6]])
    raise AssertionError("rows of different lengths were added")
except tf.errors.InvalidArgumentError as error:
    print(error)


class Scaler(tf.Module):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(100.0)

    @tf.function
    def __call__(self, x):
        return self.factor * x


scaler = Scaler()
scaler.__call__.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.float32))
folder = tempfile.mkdtemp()
tf.saved_model.save(scaler, folder)
restored = tf.saved_model.load(folder)
assert restored(tf.ragged.constant([[1.0, 4.0], [2.0]])).to_list() == [[100.0, 400.0], [200.0]]

# A model of rows of different lengths, trained on all devices.
sentences = ["is it so", "so it is", "what is it", "it is what it is so it is", "is it what", "so"] * 4
labels = np.array([[float(text.startswith(("is", "what")))] for text in sentences], np.float32)
rows = tf.strings.to_hash_bucket_fast(tf.strings.split(sentences), 20)
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input(shape=[None], dtype=tf.int64, ragged=True),
            tf.keras.layers.Embedding(20, 8),
            tf.keras.layers.LSTM(8),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(loss="binary_crossentropy", optimizer=tf.keras.optimizers.Adam(0.05))
batches = tf.data.Dataset.from_tensor_slices((rows, labels)).shuffle(24, seed=1).batch(8)
losses = model.fit(batches, epochs=6, verbose=0).history["loss"]
assert losses[-1] < losses[0], losses
one_by_one = [float(model(rows[number : number + 1])[0, 0]) for number in range(6)]
np.testing.assert_allclose(model.predict(rows[:6], verbose=0)[:, 0], one_by_one, atol=1e-5)

# Sparse features: sums, products, slices, and a model.
features = tf.sparse.SparseTensor([(0, 0), (0, 1), (2, 3), (3, 0)], [1.0, 2.0, 3.0, 4.0], (4, 4))
dense = tf.sparse.to_dense(features)
np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(features, dense), dense.numpy() @ dense.numpy())
assert tf.sparse.to_dense(tf.sparse.add(features, features)).numpy().tolist() == (2 * dense.numpy()).tolist()
joined = tf.sparse.concat(axis=1, sp_inputs=[features, features])
assert tf.sparse.to_dense(tf.sparse.slice(joined, [0, 4], [4, 4])).numpy().tolist() == dense.numpy().tolist()
assert tf.sparse.map_values(tf.add, features, 5.0).values.numpy().tolist() == [6.0, 7.0, 8.0, 9.0]
with strategy.scope():
    x = tf.keras.Input(shape=(4,), sparse=True)
    linear = tf.keras.Model(x, tf.keras.layers.Dense(1)(x))
    linear.compile("sgd", "mse")
linear.fit(tf.data.Dataset.from_tensor_slices((features, np.ones((4, 1)))).batch(4), epochs=2, verbose=0)
np.testing.assert_allclose(linear(features), linear.predict(dense, verbose=0), atol=1e-5)
print("ok")
