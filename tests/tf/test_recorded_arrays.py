"""Shapes, indexing and sorting of tensors, compared with recorded results of TensorFlow."""

import numpy as np

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded


@recorded
def test_shapes():
    x = tf.constant(random_numbers(2, 3, 1))
    return {
        "shape": tf.shape(x),
        "long": tf.shape(x, out_type=tf.int64),
        "several": tf.shape_n([x, x[0]]),
        "size": tf.size(x),
        "rank": tf.rank(x),
        "reshape": tf.reshape(x, [3, -1]),
        "by a tensor": tf.reshape(x, tf.shape(x)[:2]),
        "expand": tf.expand_dims(x, 0),
        "expand last": tf.expand_dims(x, axis=-1),
        "squeeze": tf.squeeze(x),
        "squeeze one": tf.squeeze(x, axis=[2]),
        "static": list(tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([1, 3]))),
        "dynamic": tf.broadcast_dynamic_shape([2, 1], [1, 3]),
        "broadcast": tf.broadcast_to([1.0, 2.0], [2, 2]),
        "ensured": tf.ensure_shape(x, [2, None, 1]),
        "identity": tf.identity(x),
    }


@recorded
def test_casts():
    x = tf.constant([1.7, -1.7, 300.0, 0.0])
    return {
        "int32": tf.cast(x, tf.int32),
        "int64": tf.cast([1, 2], tf.int64),
        "bool": tf.cast(x, tf.bool),
        "float16": tf.cast(x, tf.float16),
        "bfloat16": tf.cast(x, tf.bfloat16),
        "of bool": tf.cast([True, False], tf.float32),
        "by name": tf.cast(x, "float32"),
        "saturated": tf.saturate_cast(x, tf.uint8),
        "saturated integers": tf.saturate_cast([-3, 500], tf.uint8),
        "bits": tf.bitcast(tf.constant([1.0, -2.0]), tf.int32),
        "dtypes": tf.dtypes.cast(x, tf.uint8)[:1],
    }


@recorded
def test_concatenation_and_splitting():
    x, y = tf.constant([[1, 2], [3, 4]]), tf.constant([[5, 6], [7, 8]])
    return {
        "concat": tf.concat([x, y], axis=0),
        "concat last": tf.concat([x, y], -1),
        "with lists": tf.concat([x, [[9, 9]]], 0),
        "stack": tf.stack([x, y], axis=1),
        "stack numbers": tf.stack([1, tf.constant(2), 3]),
        "unstack": tf.unstack(x, axis=1),
        "split": tf.split(tf.range(6), 3),
        "split sizes": tf.split(tf.range(6), [1, -1, 2]),
        "tile": tf.tile(x, [1, 2]),
        "repeat": tf.repeat(x, 2, axis=0),
        "repeat flat": tf.repeat([1, 2], [2, 3]),
        "transpose": tf.transpose(x),
        "perm": tf.transpose(tf.reshape(tf.range(6), [1, 2, 3]), perm=[2, 0, 1]),
        "reverse": tf.reverse(x, axis=[1]),
        "sequences": tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1, batch_axis=0),
        "roll": tf.roll(tf.range(5), shift=2, axis=0),
        "roll two": tf.roll(x, shift=[1, 1], axis=[0, 1]),
        "pad": tf.pad(x, [[1, 0], [0, 1]]),
        "pad value": tf.pad(x, tf.constant([[0, 0], [1, 1]]), constant_values=7),
        "reflect": tf.pad(tf.range(4), [[2, 2]], mode="REFLECT"),
        "symmetric": tf.pad(tf.range(4), [[2, 2]], "SYMMETRIC"),
        "mesh": tf.meshgrid([1, 2, 3], [4, 5]),
        "mesh ij": tf.meshgrid([1, 2, 3], [4, 5], indexing="ij"),
        "blocks back": tf.batch_to_space(tf.reshape(tf.range(24), [4, 2, 3, 1]), [2, 2], [[1, 0], [0, 2]]),
        "blocks of one": tf.space_to_batch(tf.reshape(tf.range(8), [2, 2, 2]), [2], [[0, 0]]),
        "identities": tf.identity_n([x, y]),
        "blocks": tf.space_to_batch_nd(tf.reshape(tf.range(16), [1, 4, 4, 1]), [2, 2], [[0, 0], [0, 0]]),
    }


@recorded
def test_creation():
    return {
        "zeros": tf.zeros([2, 2]),
        "zeros int": tf.zeros((2,), tf.int32),
        "ones": tf.ones([3], dtype=tf.float16),
        "zeros like": tf.zeros_like([1, 2]),
        "ones like": tf.ones_like([1.0, 2.0], dtype=tf.int32),
        "fill": tf.fill([2, 2], 9),
        "eye": tf.eye(2, 3),
        "eyes": tf.eye(2, batch_shape=[2], dtype=tf.int32),
        "range": tf.range(5),
        "range step": tf.range(3, 18, 4),
        "range down": tf.range(3, 0, -1),
        "range float": tf.range(0.0, 1.0, 0.25),
        "range dtype": tf.range(3, dtype=tf.float32),
        "linspace": tf.linspace(0.0, 1.0, 5),
        "linspace many": tf.linspace([0.0, 1.0], [1.0, 3.0], 3),
        "one hot": tf.one_hot([0, 2, -1, 5], 3),
        "one hot values": tf.one_hot([0, 1], 2, on_value=5, off_value=-1),
        "one hot axis": tf.one_hot([0, 1], 3, axis=0, dtype=tf.int32),
        "mask": tf.sequence_mask([1, 3, 2]),
        "mask long": tf.sequence_mask([1, 2], maxlen=4, dtype=tf.float32),
        "constant": tf.constant(3, shape=[2]),
        "convert": tf.convert_to_tensor([1.0, 2.0]),
    }


@recorded
def test_gather_scatter_and_slices():
    x = tf.reshape(tf.range(12), [3, 4])
    return {
        "gather": tf.gather(x, [2, 0]),
        "gather axis": tf.gather(x, [[0, 1], [3, 3]], axis=1),
        "gather batch": tf.gather(x, [[0], [1], [3]], batch_dims=1),
        "gather one": tf.gather(x, 1),
        "nd": tf.gather_nd(x, [[0, 1], [2, 3]]),
        "nd rows": tf.gather_nd(x, [[1]]),
        "nd batch": tf.gather_nd(tf.reshape(x, [2, 3, 2]), [[0], [2]], batch_dims=1),
        "scatter": tf.scatter_nd([[1], [3], [1]], [10, 20, 30], [5]),
        "update": tf.tensor_scatter_nd_update(x, [[0, 0], [2, 3]], [100, 200]),
        "rows": tf.tensor_scatter_nd_update(x, [[1]], [[0, 0, 0, 0]]),
        "add": tf.tensor_scatter_nd_add(x, [[0, 0], [0, 0]], [1, 2]),
        "sub": tf.tensor_scatter_nd_sub(x, [[0, 0]], [1]),
        "max": tf.tensor_scatter_nd_max(x, [[0, 0]], [50]),
        "min": tf.tensor_scatter_nd_min(x, [[2, 3]], [-1]),
        "where": tf.where(x > 5, x, -x),
        "where indices": tf.where([[True, False], [True, True]]),
        "where number": tf.where(x > 5, 1, 0),
        "mask": tf.boolean_mask(x, x > 5),
        "mask rows": tf.boolean_mask(x, [True, False, True]),
        "slice": tf.slice(x, [1, 0], [2, -1]),
        "strided": tf.strided_slice(x, [0, 1], [3, 4], [2, 2]),
        "strided mask": tf.strided_slice(x, [0, 1], [0, 4], end_mask=1),
        "index": x[1, ::2],
        "newaxis": x[tf.newaxis, 0],
        "partition": tf.dynamic_partition(tf.range(5), [0, 1, 0, 1, 1], 2),
        "stitch": tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]),
        "unravel": tf.unravel_index([5, 7], [3, 4]),
    }


@recorded
def test_sorting_and_counting():
    x = tf.constant([[3, 1, 2], [9, 7, 8]])
    return {
        "sort": tf.sort(x),
        "sort down": tf.sort(x, axis=0, direction="DESCENDING"),
        "argsort": tf.argsort(x),
        "argsort down": tf.argsort([1, 3, 3, 2], direction="DESCENDING", stable=True),
        "search": tf.searchsorted([[1, 3, 5]], [[0, 3, 6]]),
        "search right": tf.searchsorted([1, 3, 5], [3], side="right"),
        "unique": tf.unique([3, 1, 3, 2])._asdict(),
        "counts": tf.unique_with_counts([3, 1, 3, 2])._asdict(),
        "argmax": tf.argmax(x),
        "argmax rows": tf.argmax(x, axis=1),
        "argmin": tf.argmin(x, axis=-1, output_type=tf.int32),
        "bins": tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5),
        "histogram": tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5),
        "top": tf.math.top_k(x, k=2)._asdict(),
        "in top": tf.math.in_top_k([0, 1], [[0.1, 0.9, 0.5], [0.2, 0.7, 0.1]], 2),
    }


@recorded
def test_clipping():
    x = tf.constant([3.0, -4.0])
    clipped, length = tf.clip_by_global_norm([x, None, tf.ones([2])], 1.0)
    return {
        "value": tf.clip_by_value(x, -1.0, 1.0),
        "norm": tf.clip_by_norm(x, 2.0),
        "norm rows": tf.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=[1]),
        "global": [each for each in clipped if each is not None],
        "length": length,
    }


@recorded
def test_operators_of_tensors():
    x, y = tf.constant([5, -7]), tf.constant([2, 2])
    z = tf.constant([1.5, 2.5])
    return {
        "ints": [x + y, x - 1, 2 * x, x // y, x % y, -x, x**2, abs(x)],
        "true division": x / y,
        "floats": [z + 1, 1 / z, z[None] @ z[:, None], z**0.5],
        "compared": [x > y, x <= 2, x == y, x != y],
        "logic": [(x > 0) & (y > 0), (x > 0) | (y > 0), ~(x > 0)],
        "numpy": np.add(z, 1),
        "item": float(z[0]),
        "shape": z.shape.as_list(),
        "dtype": z.dtype.name,
        "text": f"{z[0].numpy():.2f}",
    }
