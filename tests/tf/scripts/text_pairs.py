"""Pairs of sentences with an LSTM over embeddings: a Sequence of batches, and lines of a text file."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)

words = ["<pad>", "cat", "dog", "runs", "sleeps", "red", "blue", "fast", "well", "now"]
labels = ["same", "other"]
rng = np.random.default_rng(6)
LENGTH = 6


def pairs(number):
    """Two rows of words; they are the same but for one word, or they are not."""
    left = rng.integers(1, len(words), (number, LENGTH))
    right = rng.integers(1, len(words), (number, LENGTH))
    same = rng.random(number) < 0.5
    left[same], right[same] = 1 + left[same] % 4, 1 + right[same] % 4
    return left, right, tf.keras.utils.to_categorical((~same).astype(int), num_classes=2)


class PairGenerator(tf.keras.utils.Sequence):
    def __init__(self, left, right, targets, batch_size=32, shuffle=True):
        super().__init__()
        self.arrays, self.batch_size, self.shuffle = (left, right, targets), batch_size, shuffle
        self.indexes = np.arange(len(targets))
        self.on_epoch_end()

    def __len__(self):
        return len(self.indexes) // self.batch_size

    def __getitem__(self, number):
        rows = self.indexes[number * self.batch_size : (number + 1) * self.batch_size]
        left, right, targets = (array[rows] for array in self.arrays)
        return (np.array(left, dtype="int32"), np.array(right, dtype="int32")), np.array(targets, dtype="float32")

    def on_epoch_end(self):
        if self.shuffle:
            np.random.RandomState(42).shuffle(self.indexes)


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    left = tf.keras.layers.Input(shape=(LENGTH,), dtype=tf.int32, name="left")
    right = tf.keras.layers.Input(shape=(LENGTH,), dtype=tf.int32, name="right")
    embedding = tf.keras.layers.Embedding(len(words), 8)
    recurrent = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(6, return_sequences=True))
    read = recurrent(tf.keras.layers.concatenate([embedding(left), embedding(right)], axis=1))
    average = tf.keras.layers.GlobalAveragePooling1D()(read)
    largest = tf.keras.layers.GlobalMaxPooling1D()(read)
    both = tf.keras.layers.Dropout(0.1)(tf.keras.layers.concatenate([average, largest]))
    output = tf.keras.layers.Dense(2, activation="softmax")(both)
    model = tf.keras.models.Model(inputs=[left, right], outputs=output)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss="categorical_crossentropy", metrics=["acc"])
model.summary()

train_data, valid_data = PairGenerator(*pairs(640)), PairGenerator(*pairs(128), shuffle=False)
history = model.fit(train_data, validation_data=valid_data, epochs=4, verbose=2).history
assert history["val_acc"][-1] > 0.9, history
loss, accuracy = model.evaluate(valid_data, verbose=0)
assert abs(accuracy - history["val_acc"][-1]) < 1e-5
one_pair = [np.array([[1, 2, 3, 4, 1, 2]]), np.array([[2, 2, 4, 1, 3, 3]])]
probabilities = model.predict(one_pair, verbose=0)[0]
print({label: f"{100 * probability:.0f}%" for label, probability in zip(labels, probabilities)})
assert labels[np.argmax(probabilities)] == "same"

# Lines of a file, the long ones only, in batches; a schedule and weight decay.
with open("lines.txt", "w") as file:
    file.write("\n".join(" ".join(rng.choice(words[1:], rng.integers(1, 7))) for _ in range(200)))
lines = tf.data.TextLineDataset("lines.txt").filter(lambda line: tf.strings.length(line) > 12)
texts = [text.decode() for text in lines.as_numpy_iterator()]
assert texts and all(len(text) > 12 for text in texts)
vectorize = tf.keras.layers.TextVectorization(max_tokens=20, output_sequence_length=LENGTH)
vectorize.adapt(lines.batch(16))
with strategy.scope():
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(0.02, decay_steps=20, end_learning_rate=0.0)
    reader = tf.keras.Sequential(
        [tf.keras.layers.Embedding(20, 4), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)]
    )
    reader.compile(tf.keras.optimizers.AdamW(schedule), "mse")
numbered = lines.map(vectorize).map(lambda tokens: (tokens, tf.reduce_max(tokens)))
numbered = numbered.shuffle(100).batch(16).cache().prefetch(tf.data.AUTOTUNE)
history = reader.fit(numbered, epochs=3, verbose=2).history
assert history["loss"][-1] < history["loss"][0]
print("ok")
