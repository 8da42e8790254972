"""`tf.nn`, compared with recorded results of TensorFlow."""

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded


@recorded
def test_activations():
    x = tf.constant(random_numbers(2, 4)) * 3
    return {
        "relu": [tf.nn.relu(x), tf.nn.relu6(x * 3), tf.nn.crelu(x), tf.nn.leaky_relu(x), tf.nn.leaky_relu(x, 0.1)],
        "elu": [tf.nn.elu(x), tf.nn.selu(x), tf.nn.gelu(x), tf.nn.gelu(x, approximate=True)],
        "silu": [tf.nn.silu(x), tf.nn.swish(x), tf.nn.silu(x, beta=2.0)],
        "soft": [tf.nn.softmax(x), tf.nn.softmax(x, axis=0), tf.nn.log_softmax(x), tf.math.softmax(x)],
        "log": tf.math.log_softmax(x, axis=0),
        "more": [tf.nn.softplus(x), tf.nn.softsign(x), tf.nn.tanh(x), tf.nn.sigmoid(x)],
        "integers": tf.nn.relu([-1, 2]),
    }


@recorded
def test_losses():
    logits = tf.constant(random_numbers(3, 4))
    labels, hard = tf.nn.softmax(tf.constant(random_numbers(3, 4, seed=1))), tf.constant([0, 3, 1])
    return {
        "softmax": tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits),
        "sparse": tf.nn.sparse_softmax_cross_entropy_with_logits(labels=hard, logits=logits),
        "sigmoid": tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits),
        "weighted": tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, pos_weight=2.0),
        "poisson": tf.nn.log_poisson_loss(tf.abs(logits) * 3, logits),
        "poisson full": tf.nn.log_poisson_loss(tf.abs(logits) * 3, logits, compute_full_loss=True),
        "l2": tf.nn.l2_loss(logits),
        "average": tf.nn.compute_average_loss(tf.constant([1.0, 2.0]), global_batch_size=4),
        "scaled": tf.nn.scale_regularization_loss(tf.constant(3.0)),
    }


@recorded(tolerance=1e-4)
def test_ctc_loss():
    return tf.nn.ctc_loss(
        labels=tf.constant([[1, 2], [2, 2]]),
        logits=tf.constant(random_numbers(2, 6, 4)),
        label_length=[2, 2],
        logit_length=[6, 5],
        logits_time_major=False,
        blank_index=0,
    )


@recorded(tolerance=1e-4)
def test_convolutions():
    x, kernel = tf.constant(random_numbers(2, 7, 6, 3)), tf.constant(random_numbers(3, 2, 3, 4, seed=1))
    row = tf.constant(random_numbers(2, 7, 3))
    return {
        "2d": [
            tf.nn.conv2d(x, kernel, strides=1, padding="SAME"),
            tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "VALID"),
            tf.nn.conv2d(x, kernel, 1, "SAME", dilations=2),
            tf.nn.conv2d(x, kernel, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]),
        ],
        "any": tf.nn.convolution(x, kernel, strides=[2, 1], padding="SAME"),
        "1d": tf.nn.conv1d(row, tf.constant(random_numbers(3, 3, 2)), stride=2, padding="SAME"),
        "3d": tf.nn.conv3d(
            tf.constant(random_numbers(1, 3, 4, 3, 2)), tf.constant(random_numbers(2, 2, 2, 2, 3)), [1] * 5, "SAME"
        ),
        "depthwise": tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME"),
        "separable": tf.nn.separable_conv2d(x, kernel, tf.constant(random_numbers(1, 1, 12, 2)), [1, 1, 1, 1], "VALID"),
        "transposed": tf.nn.conv2d_transpose(
            tf.constant(random_numbers(2, 4, 3, 4)), kernel, output_shape=[2, 7, 6, 3], strides=2, padding="SAME"
        ),
        "transposed 1d": tf.nn.conv1d_transpose(
            tf.constant(random_numbers(1, 4, 2)), tf.constant(random_numbers(3, 3, 2)), [1, 8, 3], strides=2
        ),
        "transposed 3d": tf.nn.conv3d_transpose(
            tf.constant(random_numbers(1, 2, 2, 2, 1)),
            tf.constant(random_numbers(2, 2, 2, 1, 1)),
            [1, 4, 4, 4, 1],
            strides=[1, 2, 2, 2, 1],
        ),
        "bias": tf.nn.bias_add(x, [1.0, 2.0, 3.0]),
    }


@recorded
def test_pooling():
    x, row, cube = (
        tf.constant(random_numbers(2, 5, 6, 3)),
        tf.constant(random_numbers(2, 5, 3)),
        tf.constant(random_numbers(1, 4, 4, 4, 1)),
    )
    return {
        "max": [tf.nn.max_pool2d(x, 2, 2, "VALID"), tf.nn.max_pool(x, [3, 2], [2, 1], "SAME")],
        "max 1d": tf.nn.max_pool1d(row, 2, 2, "SAME"),
        "max 3d": tf.nn.max_pool3d(cube, 2, 2, "VALID"),
        "mean": [tf.nn.avg_pool2d(x, 2, 2, "SAME"), tf.nn.avg_pool(x, [1, 3, 2, 1], [1, 2, 1, 1], "SAME")],
        "mean 1d": tf.nn.avg_pool1d(row, 2, 2, "SAME"),
        "mean 3d": tf.nn.avg_pool3d(cube, 2, 2, "VALID"),
        "depth": tf.nn.space_to_depth(tf.reshape(tf.range(32), [1, 4, 4, 2]), 2),
        "space": tf.nn.depth_to_space(tf.reshape(tf.range(32), [1, 2, 2, 8]), 2),
    }


@recorded
def test_normalization():
    x = tf.constant(random_numbers(3, 4))
    mean, variance = tf.nn.moments(x, axes=[0])
    kept, spread = tf.nn.moments(x, [0, 1], keepdims=True)
    weighted = tf.nn.weighted_moments(x, [0], tf.constant([[1.0], [2.0], [3.0]]))
    return {
        "moments": [mean, variance, kept, spread, weighted[0], weighted[1]],
        "batch": tf.nn.batch_normalization(x, mean, variance, offset=1.0, scale=2.0, variance_epsilon=1e-3),
        "plain": tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3),
        "response": [
            tf.nn.local_response_normalization(tf.constant(random_numbers(1, 2, 2, 6)), depth_radius=2),
            tf.nn.lrn(tf.constant(random_numbers(1, 2, 2, 6)), depth_radius=1, alpha=0.5),
        ],
        "rows": tf.nn.embedding_lookup(x, [2, 0]),
        "short rows": tf.nn.embedding_lookup(x, [2, 0], max_norm=1.0),
        "nothing dropped": tf.nn.dropout(x, 0.0),
    }
