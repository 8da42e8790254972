"""Anomalies in heartbeats: an autoencoder with an encoder and a decoder inside, a threshold on the error."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, losses
from tensorflow.keras.models import Model

tf.random.set_seed(0)

rng = np.random.RandomState(0)
t = np.linspace(0, 2 * np.pi, 40)
normal = np.sin(t)[None] + 0.05 * rng.randn(300, 40)
anomalous = np.sign(np.sin(3 * t))[None] + 0.05 * rng.randn(60, 40)
raw = np.concatenate([normal, anomalous])
labels = np.concatenate([np.ones(300), np.zeros(60)])
index = rng.permutation(len(raw))
raw, labels = raw[index], labels[index].astype(bool)
train_data, test_data = raw[:280], raw[280:]
train_labels, test_labels = labels[:280], labels[280:]

min_val = tf.reduce_min(train_data)
max_val = tf.reduce_max(train_data)
train_data = (train_data - min_val) / (max_val - min_val)
test_data = (test_data - min_val) / (max_val - min_val)
train_data = tf.cast(train_data, tf.float32)
test_data = tf.cast(test_data, tf.float32)
normal_train_data = train_data[train_labels]
normal_test_data = test_data[test_labels]
anomalous_test_data = test_data[~test_labels]
print(normal_train_data.shape, anomalous_test_data.shape)


class AnomalyDetector(Model):
    def __init__(self):
        super(AnomalyDetector, self).__init__()
        self.encoder = tf.keras.Sequential(
            [
                layers.Dense(16, activation="relu"),
                layers.Dense(8, activation="relu"),
                layers.Dense(4, activation="relu"),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                layers.Dense(8, activation="relu"),
                layers.Dense(16, activation="relu"),
                layers.Dense(40, activation="sigmoid"),
            ]
        )

    def call(self, x):
        encoded = self.encoder(x)
        decoded = self.decoder(encoded)
        return decoded


with tf.distribute.MirroredStrategy().scope():
    autoencoder = AnomalyDetector()
    autoencoder.compile(optimizer="adam", loss="mae")
history = autoencoder.fit(
    normal_train_data,
    normal_train_data,
    epochs=15,
    batch_size=32,
    validation_data=(test_data, test_data),
    shuffle=True,
    verbose=0,
)
encoded_data = autoencoder.encoder(anomalous_test_data).numpy()
decoded_data = autoencoder.decoder(encoded_data).numpy()
assert decoded_data.shape == anomalous_test_data.shape
reconstructions = autoencoder.predict(normal_train_data)
train_loss = tf.keras.losses.mae(reconstructions, normal_train_data)
threshold = np.mean(train_loss) + 2 * np.std(train_loss)
print("Threshold: ", threshold)
test_loss = tf.keras.losses.mae(autoencoder.predict(anomalous_test_data), anomalous_test_data)
assert np.mean(test_loss) > threshold


def predict(model, data, threshold):
    reconstructions = model(data)
    loss = tf.keras.losses.mae(reconstructions, data)
    return tf.math.less(loss, threshold)


preds = predict(autoencoder, test_data, threshold)
accuracy = np.mean(preds.numpy() == test_labels)
print("Accuracy = {}".format(accuracy))
assert accuracy > 0.8
assert float(losses.MeanAbsoluteError()(test_data, test_data)) == 0.0
print("ok")
