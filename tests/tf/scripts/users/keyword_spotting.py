"""Short tones instead of spoken words: spectrograms in tf.data, Normalization.adapt, a small convolutional network."""

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

seed = 42
tf.random.set_seed(seed)
np.random.seed(seed)
AUTOTUNE = tf.data.AUTOTUNE
commands = np.array(["down", "go", "left"])
SAMPLES = 1024

data_dir = pathlib.Path("tones")
data_dir.mkdir(exist_ok=True)


def synth(label, n=60):
    t = np.arange(SAMPLES) / 4000.0
    f = 200.0 * (1 + label)
    phase = np.random.uniform(0, 2 * np.pi, size=(n, 1))
    return (np.sin(2 * np.pi * f * t[None] + phase) + 0.1 * np.random.randn(n, SAMPLES)).astype("float32")


waves = np.concatenate([synth(i) for i in range(3)])
labels = np.repeat(np.arange(3), 60)
order = np.random.permutation(len(waves))
waves, labels = waves[order], labels[order]
for i in range(3):
    np.save(str(data_dir / (commands[i] + ".npy")), waves[labels == i])
print("Files:", sorted(p.name for p in data_dir.glob("*.npy")))


def get_spectrogram(waveform):
    input_len = 1000
    waveform = waveform[:input_len]
    zero_padding = tf.zeros([1100] - tf.shape(waveform), dtype=tf.float32)
    waveform = tf.cast(waveform, dtype=tf.float32)
    equal_length = tf.concat([waveform, zero_padding], 0)
    spectrogram = tf.signal.stft(equal_length, frame_length=128, frame_step=64)
    spectrogram = tf.abs(spectrogram)
    spectrogram = spectrogram[..., tf.newaxis]
    return spectrogram


def get_spectrogram_and_label_id(audio, label):
    return get_spectrogram(audio), tf.argmax(label == commands)


def preprocess_dataset(x, names):
    ds = tf.data.Dataset.from_tensor_slices((x, names))
    return ds.map(get_spectrogram_and_label_id, num_parallel_calls=AUTOTUNE)


names = commands[labels]
train_ds = preprocess_dataset(waves[:140], names[:140])
val_ds = preprocess_dataset(waves[140:], names[140:])
for spectrogram, _ in train_ds.take(1):
    input_shape = spectrogram.shape
print("Input shape:", input_shape)
num_labels = len(commands)
norm_layer = layers.Normalization()
norm_layer.adapt(data=train_ds.map(map_func=lambda spec, label: spec))

batch_size = 20
train_batches = train_ds.cache().shuffle(140).batch(batch_size).prefetch(AUTOTUNE)
val_batches = val_ds.batch(batch_size).cache().prefetch(AUTOTUNE)

with tf.distribute.MirroredStrategy().scope():
    model = models.Sequential(
        [
            layers.Input(shape=input_shape),
            layers.Resizing(16, 16),
            norm_layer,
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Dropout(0.25),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(num_labels),
        ]
    )
    model.summary()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
history = model.fit(
    train_batches,
    validation_data=val_batches,
    epochs=6,
    callbacks=tf.keras.callbacks.EarlyStopping(verbose=1, patience=2),
    verbose=2,
)
test_audio, test_labels = [], []
for audio, label in val_ds:
    test_audio.append(audio.numpy())
    test_labels.append(label.numpy())
test_audio, y_true = np.array(test_audio), np.array(test_labels)
y_pred = np.argmax(model.predict(test_audio), axis=1)
test_acc = sum(y_pred == y_true) / len(y_true)
print(f"Test set accuracy: {test_acc:.0%}")
assert test_acc > 0.8
confusion_mtx = tf.math.confusion_matrix(y_true, y_pred, num_classes=num_labels)
assert int(tf.linalg.trace(confusion_mtx)) == int(sum(y_pred == y_true))

mel = tf.signal.linear_to_mel_weight_matrix(20, 65, 4000, 80.0, 1900.0)
log_mel = tf.math.log(tf.tensordot(test_audio[0, ..., 0], mel, 1) + 1e-6)
mfcc = tf.signal.mfccs_from_log_mel_spectrograms(log_mel)[..., :13]
assert mfcc.shape[-1] == 13
print("ok")
