"""Patches of images: a small vision transformer and an MLP mixer with the same training function."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

tf.random.set_seed(0)

num_classes = 4
input_shape = (16, 16, 3)
image_size, patch_size, projection_dim, num_heads, transformer_layers = 16, 4, 16, 2, 1
num_patches = (image_size // patch_size) ** 2

rng = np.random.default_rng(1)
y_train = rng.integers(0, num_classes, (256, 1))
x_train = rng.random((256, 16, 16, 3)).astype("float32") * 0.4
for i, c in enumerate(y_train[:, 0]):
    r, q = divmod(int(c), 2)
    x_train[i, 8 * r : 8 * r + 8, 8 * q : 8 * q + 8] += 0.5
x_test, y_test = x_train[:48], y_train[:48]

data_augmentation = keras.Sequential(
    [
        layers.Normalization(),
        layers.Resizing(image_size, image_size),
        layers.RandomTranslation(0.05, 0.05, fill_mode="nearest"),
    ],
    name="data_augmentation",
)
data_augmentation.layers[0].adapt(x_train)


def mlp(x, hidden_units, dropout_rate):
    for units in hidden_units:
        x = layers.Dense(units, activation=tf.nn.gelu)(x)
        x = layers.Dropout(dropout_rate)(x)
    return x


class Patches(layers.Layer):
    def __init__(self, patch_size):
        super(Patches, self).__init__()
        self.patch_size = patch_size

    def call(self, images):
        batch_size = tf.shape(images)[0]
        patches = tf.image.extract_patches(
            images=images,
            sizes=[1, self.patch_size, self.patch_size, 1],
            strides=[1, self.patch_size, self.patch_size, 1],
            rates=[1, 1, 1, 1],
            padding="VALID",
        )
        patch_dims = patches.shape[-1]
        patches = tf.reshape(patches, [batch_size, -1, patch_dims])
        return patches


class PatchEncoder(layers.Layer):
    def __init__(self, num_patches, projection_dim):
        super(PatchEncoder, self).__init__()
        self.num_patches = num_patches
        self.projection = layers.Dense(units=projection_dim)
        self.position_embedding = layers.Embedding(input_dim=num_patches, output_dim=projection_dim)

    def call(self, patch):
        positions = tf.range(start=0, limit=self.num_patches, delta=1)
        encoded = self.projection(patch) + self.position_embedding(positions)
        return encoded


def create_vit_classifier():
    inputs = layers.Input(shape=input_shape)
    augmented = data_augmentation(inputs)
    patches = Patches(patch_size)(augmented)
    encoded_patches = PatchEncoder(num_patches, projection_dim)(patches)
    for _ in range(transformer_layers):
        x1 = layers.LayerNormalization(epsilon=1e-6)(encoded_patches)
        attention = layers.MultiHeadAttention(num_heads=num_heads, key_dim=projection_dim, dropout=0.1)(x1, x1)
        x2 = layers.Add()([attention, encoded_patches])
        x3 = layers.LayerNormalization(epsilon=1e-6)(x2)
        x3 = mlp(x3, hidden_units=[projection_dim * 2, projection_dim], dropout_rate=0.1)
        encoded_patches = layers.Add()([x3, x2])
    representation = layers.LayerNormalization(epsilon=1e-6)(encoded_patches)
    representation = layers.Flatten()(representation)
    features = mlp(representation, hidden_units=[32], dropout_rate=0.1)
    return keras.Model(inputs=inputs, outputs=layers.Dense(num_classes)(features))


class MLPMixerLayer(layers.Layer):
    def __init__(self, num_patches, hidden_units, dropout_rate, *args, **kwargs):
        super(MLPMixerLayer, self).__init__(*args, **kwargs)
        self.mlp1 = keras.Sequential(
            [layers.Dense(units=num_patches, activation="gelu"), layers.Dense(units=num_patches)]
        )
        self.mlp2 = keras.Sequential([layers.Dense(units=hidden_units, activation="gelu"), layers.Dense(hidden_units)])
        self.normalize = layers.LayerNormalization(epsilon=1e-6)

    def call(self, inputs):
        x = self.normalize(inputs)
        x_channels = tf.linalg.matrix_transpose(x)
        mlp1_outputs = self.mlp1(x_channels)
        mlp1_outputs = tf.linalg.matrix_transpose(mlp1_outputs)
        x = mlp1_outputs + inputs
        x_patches = self.normalize(x)
        return x + self.mlp2(x_patches)


def create_mixer():
    inputs = layers.Input(shape=input_shape)
    x = Patches(patch_size)(inputs)
    x = layers.Dense(units=projection_dim)(x)
    x = MLPMixerLayer(num_patches, projection_dim, 0.1)(x)
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inputs, layers.Dense(num_classes)(x))


def run_experiment(model):
    optimizer = tf.keras.optimizers.AdamW(learning_rate=0.004, weight_decay=0.0001)
    model.compile(
        optimizer=optimizer,
        loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
        metrics=[
            keras.metrics.CategoricalAccuracy(name="accuracy"),
            keras.metrics.TopKCategoricalAccuracy(2, name="top-2-accuracy"),
        ],
    )
    checkpoint_filepath = "vit.weights.h5"
    checkpoint_callback = keras.callbacks.ModelCheckpoint(
        checkpoint_filepath, monitor="val_accuracy", save_best_only=True, save_weights_only=True
    )
    history = model.fit(
        x=x_train,
        y=keras.utils.to_categorical(y_train, num_classes),
        batch_size=32,
        epochs=6,
        validation_split=0.1,
        callbacks=[checkpoint_callback],
        verbose=0,
    )
    model.load_weights(checkpoint_filepath)
    _, accuracy, top = model.evaluate(x_test, keras.utils.to_categorical(y_test, num_classes), verbose=0)
    print(f"Test accuracy: {round(accuracy * 100, 2)}% top 2: {round(top * 100, 2)}%")
    assert accuracy <= top
    return history, accuracy


with tf.distribute.MirroredStrategy().scope():
    _, accuracy = run_experiment(create_vit_classifier())
    assert accuracy > 0.6
    history, _ = run_experiment(create_mixer())
    assert history.history["loss"][-1] < history.history["loss"][0]
print("ok")
