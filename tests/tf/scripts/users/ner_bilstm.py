"""Named entities with a BiLSTM: mask_zero, TimeDistributed, weights of tokens, predictions per sentence."""

import random

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import (
    LSTM,
    Bidirectional,
    Dense,
    Dropout,
    Embedding,
    Input,
    SpatialDropout1D,
    TimeDistributed,
)
from tensorflow.keras.models import Model
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.utils import to_categorical

tf.random.set_seed(0)

random.seed(1)
np.random.seed(1)
names = ["anna", "bob", "carl", "dora"]
places = ["paris", "rome", "oslo"]
verbs = ["visits", "likes", "leaves"]
fill = ["today", "often", "with", "and", "never"]


class SentenceGetter(object):
    def __init__(self, n):
        self.sentences = []
        for _ in range(n):
            s = [(random.choice(names), "B-per"), (random.choice(verbs), "O"), (random.choice(places), "B-geo")]
            s += [(random.choice(fill), "O") for _ in range(random.randint(0, 3))]
            self.sentences.append(s)


sentences = SentenceGetter(300).sentences
words = sorted(set(w for s in sentences for w, _ in s))
tags = ["PAD", "B-geo", "B-per", "O"]
word2idx = {w: i + 2 for i, w in enumerate(words)}
word2idx["UNK"] = 1
word2idx["PAD"] = 0
idx2word = {i: w for w, i in word2idx.items()}
tag2idx = {t: i for i, t in enumerate(tags)}
idx2tag = {i: w for w, i in tag2idx.items()}
max_len = 8
num_words = len(word2idx)
num_tags = len(tags)

X = [[word2idx[w[0]] for w in s] for s in sentences]
X = pad_sequences(maxlen=max_len, sequences=X, padding="post", value=word2idx["PAD"])
y = [[tag2idx[w[1]] for w in s] for s in sentences]
y = pad_sequences(maxlen=max_len, sequences=y, padding="post", value=tag2idx["PAD"])
y = np.array([to_categorical(i, num_classes=num_tags) for i in y])
x_train, x_test, y_train, y_test = X[:240], X[240:], y[:240], y[240:]


class MaskedAccuracy(tf.keras.metrics.Metric):
    def __init__(self, name="masked_acc", **kwargs):
        super(MaskedAccuracy, self).__init__(name=name, **kwargs)
        self.right = self.add_weight(name="right", initializer="zeros")
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        t = tf.argmax(y_true, -1)
        p = tf.argmax(y_pred, -1)
        m = tf.cast(tf.not_equal(t, 0), tf.float32)
        self.right.assign_add(tf.reduce_sum(m * tf.cast(tf.equal(t, p), tf.float32)))
        self.total.assign_add(tf.reduce_sum(m))

    def result(self):
        return tf.math.divide_no_nan(self.right, self.total)

    def reset_states(self):
        self.right.assign(0.0)
        self.total.assign(0.0)


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    input_word = Input(shape=(max_len,))
    model = Embedding(input_dim=num_words, output_dim=12, input_length=max_len, mask_zero=True)(input_word)
    model = SpatialDropout1D(0.1)(model)
    model = Bidirectional(LSTM(units=12, return_sequences=True, recurrent_dropout=0.1))(model)
    model = Dropout(0.1)(model)
    out = TimeDistributed(Dense(num_tags, activation="softmax"))(model)
    model = Model(input_word, out)
    model.compile(
        optimizer=tf.keras.optimizers.Nadam(0.02),
        loss="categorical_crossentropy",
        metrics=["accuracy", MaskedAccuracy()],
    )
model.summary()
weights = np.where(np.argmax(y_train, -1) == 0, 0.0, 1.0)
history = model.fit(
    x_train, y_train, sample_weight=weights, validation_data=(x_test, y_test), batch_size=32, epochs=6, verbose=1
)
assert history.history["val_masked_acc"][-1] > 0.95
i = np.random.randint(0, x_test.shape[0])
p = model.predict(np.array([x_test[i]]))
p = np.argmax(p, axis=-1)
print("{:15}||{:5}||{}".format("Word", "True", "Pred"))
for w, true, pred in zip(x_test[i], np.argmax(y_test[i], -1), p[0]):
    if w != 0:
        print("{:15}: {:5} {}".format(idx2word[w], idx2tag[true], idx2tag[pred]))
print("ok")
