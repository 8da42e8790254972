"""Speech to text with CTC: a recurrent network over frames, greedy decoding, and the word error of a callback."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
import tensorflow.keras.backend as K

tf.random.set_seed(0)

characters = [x for x in "abcdefgh "]
char_to_num = keras.layers.StringLookup(vocabulary=characters, oov_token="")
num_to_char = keras.layers.StringLookup(vocabulary=char_to_num.get_vocabulary(), oov_token="", invert=True)
print(f"The vocabulary is: {char_to_num.get_vocabulary()} (size ={char_to_num.vocabulary_size()})")

FRAMES, LENGTH = 24, 4
rng = np.random.RandomState(3)
codebook = rng.randn(len(characters) + 1, 12).astype("float32")
texts, frames = [], []
for _ in range(160):
    letters = rng.choice(list("abcdefgh"), LENGTH, replace=False)
    texts.append("".join(letters))
    idx = [characters.index(c) + 1 for c in letters]
    rows = np.repeat(np.array(idx), FRAMES // LENGTH)
    frames.append(codebook[rows] + 0.05 * rng.randn(FRAMES, 12))
frames = np.array(frames, dtype="float32")


def encode_single_sample(x, label):
    label = tf.strings.lower(label)
    label = tf.strings.unicode_split(label, input_encoding="UTF-8")
    label = char_to_num(label)
    return x, label


dataset = (
    tf.data.Dataset.from_tensor_slices((frames, texts))
    .map(encode_single_sample, num_parallel_calls=tf.data.AUTOTUNE)
    .padded_batch(16)
    .prefetch(buffer_size=tf.data.AUTOTUNE)
)


def CTCLoss(y_true, y_pred):
    batch_len = tf.cast(tf.shape(y_true)[0], dtype="int64")
    input_length = tf.cast(tf.shape(y_pred)[1], dtype="int64")
    label_length = tf.cast(tf.shape(y_true)[1], dtype="int64")
    input_length = input_length * tf.ones(shape=(batch_len, 1), dtype="int64")
    label_length = label_length * tf.ones(shape=(batch_len, 1), dtype="int64")
    loss = keras.backend.ctc_batch_cost(y_true, y_pred, input_length, label_length)
    return loss


def build_model(input_dim, output_dim, rnn_units=24):
    input_spectrogram = keras.layers.Input((None, input_dim), name="input")
    x = keras.layers.Conv1D(24, 3, padding="same", use_bias=False, name="conv_1")(input_spectrogram)
    x = keras.layers.BatchNormalization(name="conv_1_bn")(x)
    x = keras.layers.ReLU(name="conv_1_relu")(x)
    recurrent = keras.layers.GRU(units=rnn_units, return_sequences=True, reset_after=True, name="gru_1")
    x = keras.layers.Bidirectional(recurrent, name="bidirectional_1", merge_mode="concat")(x)
    output = keras.layers.Dense(units=output_dim + 1, activation="softmax")(x)
    model = keras.Model(input_spectrogram, output, name="DeepSpeech_small")
    opt = keras.optimizers.Adam(learning_rate=1e-2)
    model.compile(optimizer=opt, loss=CTCLoss)
    return model


with tf.distribute.MirroredStrategy().scope():
    model = build_model(input_dim=12, output_dim=char_to_num.vocabulary_size())
model.summary(line_length=110)


def decode_batch_predictions(pred):
    input_len = np.ones(pred.shape[0]) * pred.shape[1]
    results = keras.backend.ctc_decode(pred, input_length=input_len, greedy=True)[0][0]
    output_text = []
    for result in results:
        result = tf.strings.reduce_join(num_to_char(result)).numpy().decode("utf-8")
        output_text.append(result)
    return output_text


class CallbackEval(keras.callbacks.Callback):
    def __init__(self, dataset):
        super().__init__()
        self.dataset = dataset
        self.right = 0.0

    def on_epoch_end(self, epoch: int, logs=None):
        predictions, targets = [], []
        for batch in self.dataset:
            X, y = batch
            batch_predictions = model.predict(X, verbose=0)
            predictions.extend(decode_batch_predictions(batch_predictions))
            for label in y:
                label = tf.strings.reduce_join(num_to_char(label)).numpy().decode("utf-8")
                targets.append(label)
        self.right = np.mean([p == t for p, t in zip(predictions, targets)])
        print("-" * 20, epoch, f"right: {self.right:.2f}", targets[0], predictions[0])


callback = CallbackEval(dataset.take(3))
history = model.fit(dataset, epochs=14, callbacks=[callback], verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0] / 4
assert callback.right > 0.8
assert K.floatx() == "float32"
print("ok")
