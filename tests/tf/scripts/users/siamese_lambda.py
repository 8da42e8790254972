"""Siamese network, Keras 2 style: Lambda with the backend, pairs of images, a contrastive loss."""

import random

import numpy as np
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Dropout, Flatten, Input, Lambda
from tensorflow.keras.models import Model
from tensorflow.keras.optimizers import RMSprop
import tensorflow as tf

tf.random.set_seed(0)

num_classes = 4
epochs = 5
random.seed(0)
np.random.seed(0)


def euclidean_distance(vects):
    x, y = vects
    sum_square = K.sum(K.square(x - y), axis=1, keepdims=True)
    return K.sqrt(K.maximum(sum_square, K.epsilon()))


def eucl_dist_output_shape(shapes):
    shape1, shape2 = shapes
    return (shape1[0], 1)


def contrastive_loss(y_true, y_pred):
    margin = 1
    y_true = K.cast(y_true, y_pred.dtype)
    square_pred = K.square(y_pred)
    margin_square = K.square(K.maximum(margin - y_pred, 0))
    return K.mean(y_true * square_pred + (1 - y_true) * margin_square)


def create_pairs(x, digit_indices):
    pairs = []
    labels = []
    n = min([len(digit_indices[d]) for d in range(num_classes)]) - 1
    for d in range(num_classes):
        for i in range(n):
            z1, z2 = digit_indices[d][i], digit_indices[d][i + 1]
            pairs += [[x[z1], x[z2]]]
            inc = random.randrange(1, num_classes)
            dn = (d + inc) % num_classes
            z1, z2 = digit_indices[d][i], digit_indices[dn][i]
            pairs += [[x[z1], x[z2]]]
            labels += [1, 0]
    return np.array(pairs), np.array(labels)


def create_base_network(input_shape):
    input = Input(shape=input_shape)
    x = Flatten()(input)
    x = Dense(32, activation="relu")(x)
    x = Dropout(0.1)(x)
    x = Dense(16, activation="relu")(x)
    return Model(input, x)


def compute_accuracy(y_true, y_pred):
    pred = y_pred.ravel() < 0.5
    return np.mean(pred == y_true)


def accuracy(y_true, y_pred):
    return K.mean(K.equal(y_true, K.cast(y_pred < 0.5, y_true.dtype)))


protos = np.random.rand(num_classes, 8, 8)
y = np.random.randint(0, num_classes, 320)
x = (protos[y] + 0.15 * np.random.randn(320, 8, 8)).astype("float32")
x_train, y_train, x_test, y_test = x[:240], y[:240], x[240:], y[240:]
input_shape = x_train.shape[1:]
tr_pairs, tr_y = create_pairs(x_train, [np.where(y_train == i)[0] for i in range(num_classes)])
te_pairs, te_y = create_pairs(x_test, [np.where(y_test == i)[0] for i in range(num_classes)])
print(tr_pairs.shape, tr_y.shape)

with tf.distribute.MirroredStrategy().scope():
    base_network = create_base_network(input_shape)
    input_a = Input(shape=input_shape)
    input_b = Input(shape=input_shape)
    processed_a = base_network(input_a)
    processed_b = base_network(input_b)
    distance = Lambda(euclidean_distance, output_shape=eucl_dist_output_shape)([processed_a, processed_b])
    model = Model([input_a, input_b], distance)
    rms = RMSprop()
    model.compile(loss=contrastive_loss, optimizer=rms, metrics=[accuracy])
model.fit(
    [tr_pairs[:, 0], tr_pairs[:, 1]],
    tr_y.astype("float32"),
    batch_size=32,
    epochs=epochs,
    validation_data=([te_pairs[:, 0], te_pairs[:, 1]], te_y.astype("float32")),
)
y_pred = model.predict([tr_pairs[:, 0], tr_pairs[:, 1]])
tr_acc = compute_accuracy(tr_y, y_pred)
te_acc = compute_accuracy(te_y, model.predict([te_pairs[:, 0], te_pairs[:, 1]]))
print("* Accuracy on training set: %0.2f%%" % (100 * tr_acc))
print("* Accuracy on test set: %0.2f%%" % (100 * te_acc))
assert te_acc > 0.8
get_embedding = K.function([base_network.input], [base_network.output])
assert get_embedding([x_test[:3]])[0].shape == (3, 16)
assert K.int_shape(distance) == (None, 1) and K.ndim(processed_a) == 2
print("ok")
