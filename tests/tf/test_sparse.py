"""`tf.SparseTensor` and `tf.sparse`: tensors of few values that are not zero."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import unisono.tf as tf

DENSE = [[0, 3, 0], [0, 0, 0], [7, 0, 2]]


def example() -> Any:
    return tf.SparseTensor(indices=[[0, 1], [2, 0], [2, 2]], values=np.array([3, 7, 2], np.int32), dense_shape=[3, 3])


def floats(dense: Any = DENSE) -> Any:
    return tf.sparse.from_dense(np.array(dense, np.float32))


def dense_list(tensor: Any) -> Any:
    return tf.sparse.to_dense(tensor).numpy().tolist()


def test_a_sparse_tensor_has_indices_values_and_a_shape() -> None:
    tensor = example()
    assert tensor.indices.numpy().tolist() == [[0, 1], [2, 0], [2, 2]]
    assert tensor.values.numpy().tolist() == [3, 7, 2]
    assert tensor.dense_shape.numpy().tolist() == [3, 3] == tensor.shape.as_list()
    assert (tensor.dtype, tensor.rank) == (tf.int32, 2)
    assert str(tensor).startswith("SparseTensor(indices=[[0 1]")
    assert dense_list(tensor) == DENSE
    assert tf.sparse.to_dense(tensor, default_value=-1).numpy()[1].tolist() == [-1, -1, -1]
    assert tf.is_tensor(tensor)
    with pytest.raises(ValueError, match=r"Expected \[values, 2\]"):
        tf.SparseTensor([[0]], [1], [2, 2])
    with pytest.raises(ValueError, match="2 indices"):
        tf.SparseTensor([[0], [1]], [1], [2])


def test_it_is_made_from_dense_and_ragged_tensors() -> None:
    assert dense_list(tf.sparse.from_dense(DENSE)) == DENSE
    text = tf.sparse.from_dense([["a", ""], ["", "b"]])
    assert text.values.numpy().tolist() == [b"a", b"b"]
    assert dense_list(text) == [[b"a", b""], [b"", b"b"]]
    ragged = tf.ragged.constant([[1, 2], [], [3]])
    assert dense_list(ragged.to_sparse()) == [[1, 2], [0, 0], [3, 0]]
    assert ragged.to_sparse().indices.numpy().tolist() == [[0, 0], [0, 1], [2, 0]]
    assert tf.RaggedTensor.from_sparse(ragged.to_sparse()).to_list() == [[1, 2], [], [3]]
    with pytest.raises(ValueError, match="gaps"):
        tf.RaggedTensor.from_sparse(example())
    assert dense_list(tf.sparse.eye(2, 3)) == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    with pytest.raises(TypeError, match="from_dense"):
        tf.sparse.reorder([[1]])


def test_values_are_moved() -> None:
    tensor, dense = example(), np.array(DENSE)
    mixed = tf.SparseTensor([[2, 2], [0, 1]], [2, 3], [3, 3])
    assert tf.sparse.reorder(mixed).indices.numpy().tolist() == [[0, 1], [2, 2]]
    assert dense_list(tf.sparse.transpose(tensor)) == dense.T.tolist()
    assert tf.sparse.transpose(tensor).indices.numpy().tolist() == [[0, 2], [1, 0], [2, 2]]
    assert dense_list(tf.sparse.reshape(tensor, [1, -1])) == dense.reshape(1, -1).tolist()
    assert dense_list(tf.sparse.slice(tensor, [1, 0], [2, 2])) == dense[1:, :2].tolist()
    assert dense_list(tf.sparse.concat(1, [tensor, tensor])) == np.concatenate([dense, dense], 1).tolist()
    assert dense_list(tf.sparse.concat(axis=0, sp_inputs=[tensor, tensor])) == DENSE + DENSE
    narrow = tf.sparse.slice(tensor, [0, 0], [3, 2])
    assert tf.sparse.concat(0, [tensor, narrow], expand_nonconcat_dims=True).shape == (6, 3)
    with pytest.raises(ValueError, match="differ"):
        tf.sparse.concat(0, [tensor, narrow])
    assert [dense_list(part) for part in tf.sparse.split(sp_input=tensor, num_split=2, axis=1)] == [
        dense[:, :2].tolist(),
        dense[:, 2:].tolist(),
    ]
    assert tf.sparse.expand_dims(tensor, 0).shape == (1, 3, 3)
    assert tf.sparse.expand_dims(tensor).shape == (3, 3, 1)
    assert dense_list(tf.sparse.retain(tensor, [True, False, True])) == [[0, 3, 0], [0, 0, 0], [0, 0, 2]]
    assert tf.sparse.reset_shape(tensor, [4, 5]).shape == (4, 5)
    assert tf.sparse.reset_shape(tf.sparse.retain(tensor, [True, False, False])).shape == (1, 2)
    filled, was_empty = tf.sparse.fill_empty_rows(tensor, -1)
    assert dense_list(filled) == [[0, 3, 0], [-1, 0, 0], [7, 0, 2]]
    assert was_empty.numpy().tolist() == [False, True, False]


def test_sums_and_extremes() -> None:
    tensor = example()
    other = tf.SparseTensor([[0, 1], [1, 1]], np.array([-3, 5], np.int32), [3, 3])
    total = tf.sparse.add(tensor, other)
    assert dense_list(total) == [[0, 0, 0], [0, 5, 0], [7, 0, 2]]
    assert len(tf.sparse.add(tensor, other, threshold=1).values) == 3
    assert tf.sparse.add(tensor, tf.ones([3, 3], tf.int32)).numpy()[0].tolist() == [1, 4, 1]
    assert dense_list(tf.sparse.maximum(tensor, other)) == [[0, 3, 0], [0, 5, 0], [7, 0, 2]]
    assert dense_list(tf.sparse.minimum(tensor, other)) == [[0, -3, 0], [0, 0, 0], [0, 0, 0]]
    assert int(tf.sparse.reduce_sum(tensor)) == 12
    assert tf.sparse.reduce_sum(tensor, axis=1).numpy().tolist() == [3, 0, 9]
    assert tf.sparse.reduce_sum(tensor, axis=0, keepdims=True).numpy().tolist() == [[7, 3, 2]]
    assert tf.sparse.reduce_max(tensor, axis=1).numpy().tolist() == [3, 0, 7]
    assert tf.sparse.reduce_max(tensor, axis=[0, 1]).numpy() == 7
    kept = tf.sparse.reduce_sum(tensor, axis=1, output_is_sparse=True)
    assert kept.indices.numpy().tolist() == [[0], [2]]


def test_values_are_mapped() -> None:
    tensor = example()
    assert dense_list(tf.sparse.map_values(tf.add, tensor, 5)) == [[0, 8, 0], [0, 0, 0], [12, 0, 7]]
    assert dense_list(tf.sparse.map_values(tf.multiply, tensor, tensor)) == [[0, 9, 0], [0, 0, 0], [49, 0, 4]]
    with pytest.raises(ValueError, match="different indices"):
        tf.sparse.map_values(tf.add, tensor, tf.sparse.eye(3))
    assert dense_list(tensor * 2) == (2 * np.array(DENSE)).tolist()
    assert dense_list(tensor * tf.constant([[1, 10, 100]])) == [[0, 30, 0], [0, 0, 0], [7, 0, 200]]
    assert (tensor / 2).values.numpy().tolist() == [1.5, 3.5, 1.0]
    assert dense_list(-tensor) == (-np.array(DENSE)).tolist()
    assert tf.cast(tensor, tf.float32).dtype == tf.float32
    assert tf.shape(tensor).numpy().tolist() == [3, 3]
    with pytest.raises(TypeError, match=r"tf\.sparse\.map_values"):
        tf.cumsum(tensor)
    soft = tf.sparse.softmax(floats())
    assert soft.values.numpy() == pytest.approx([1, np.exp(5) / (1 + np.exp(5)), 1 / (1 + np.exp(5))])


def test_matrices_are_multiplied_and_have_gradients() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    expected = np.array(DENSE, np.float32) @ matrix
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(floats(), matrix), expected)
    np.testing.assert_allclose(
        tf.sparse.sparse_dense_matmul(floats(), matrix, adjoint_a=True), np.array(DENSE).T @ matrix
    )
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(floats(), matrix.T, adjoint_b=True), expected)
    np.testing.assert_allclose(tf.sparse.sparse_dense_matmul(matrix.T, floats()), matrix.T @ np.array(DENSE))

    @tf.function
    def multiply(tensor: Any, dense: Any) -> Any:
        return tf.sparse.sparse_dense_matmul(tensor, dense), tf.sparse.to_dense(tensor), tensor * 2.0

    product, dense, doubled = multiply(floats(), matrix)
    np.testing.assert_allclose(product, expected)
    assert dense.numpy().tolist() == DENSE
    assert doubled.values.numpy().tolist() == [6.0, 14.0, 4.0]
    indices = np.asarray(example().indices)

    def loss(values: Any) -> Any:
        return tf.reduce_sum(tf.sparse.sparse_dense_matmul(tf.SparseTensor(indices, values, [3, 3]), matrix))

    np.testing.assert_allclose(jax.grad(loss)(np.array([3.0, 7.0, 2.0], np.float32)), matrix.sum(1)[[1, 0, 2]])


ON_HOST = {
    "add": lambda x: tf.sparse.add(x, x),
    "maximum": lambda x: tf.sparse.maximum(x, tf.sparse.transpose(x)),
    "reduce_sum": lambda x: tf.sparse.reduce_sum(x, 0),
    "reduce_max": lambda x: tf.sparse.reduce_max(x, 1, output_is_sparse=True),
    "slice": lambda x: tf.sparse.slice(x, [0, 1], [2, 2]),
    "transpose": lambda x: tf.sparse.transpose(x),
    "softmax": lambda x: tf.sparse.softmax(x),
    "concat": lambda x: tf.sparse.concat(0, [x, x]),
    "bincount": lambda x: tf.sparse.bincount(tf.cast(x, tf.int32), axis=-1),
    "fill_empty_rows": lambda x: tf.sparse.fill_empty_rows(x, 0.0)[0],
    "from_dense": lambda x: tf.sparse.from_dense(tf.sparse.to_dense(x)),
}


@pytest.mark.parametrize("name", ON_HOST)
def test_functions_that_need_the_indices_run_on_the_host(name: str) -> None:
    function = tf.function(ON_HOST[name])
    with pytest.warns(UserWarning, match="runs on the host, line by line"):
        found = function(floats())
    expected = ON_HOST[name](floats())
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other)
    function(floats() * 2.0)  # no second warning


def test_a_gradient_goes_through_a_function_that_runs_on_the_host() -> None:
    @tf.function
    def derive(tensor: Any, factor: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(factor)
            total = tf.reduce_sum(tf.sparse.reduce_sum(tensor * factor, 1) ** 2)
        return tape.gradient(total, factor)

    with pytest.warns(UserWarning, match="A reduction of a sparse tensor needs the indices of a sparse tensor"):
        assert float(derive(floats(), tf.constant(1.0))) == pytest.approx(2 * (3.0**2 + 9.0**2))


def test_replicas_cannot_run_functions_that_need_the_indices() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match=r"(?s)indices of a sparse tensor.*tf.sparse.to_dense"):
        strategy.run(
            lambda x: tf.sparse.transpose(tf.SparseTensor(tf.cast(x, tf.int32), x[:, 0], [3, 3])), (tf.ones([2, 2]),)
        )


def test_features_are_crossed_and_counted() -> None:
    left, right = tf.sparse.from_dense([["a", "b"], ["c", ""]]), tf.constant([["x"], ["y"]])
    assert dense_list(tf.sparse.cross([left, right])) == [[b"a_X_x", b"b_X_x"], [b"c_X_y", b""]]
    assert tf.sparse.cross([left, right], separator="-").values.numpy().tolist() == [b"a-x", b"b-x", b"c-y"]
    hashed = tf.sparse.cross_hashed([left, right], num_buckets=100)
    assert all(0 <= value < 100 for value in hashed.values.numpy())
    assert tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["x"], ["y"]]]).to_list() == [
        [b"a_X_x"],
        [b"b_X_y", b"c_X_y"],
    ]
    assert tf.ragged.cross_hashed([tf.ragged.constant([["a"], []]), [["x"], ["y"]]], 10).row_lengths().tolist() == [
        1,
        0,
    ]
    indicator = tf.sparse.to_indicator(tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [2, 0, 3], [2, 2]), 4)
    assert indicator.numpy().tolist() == [[True, False, True, False], [False, False, False, True]]
    counts = tf.sparse.bincount(tf.constant([[1, 1, 3], [0, 3, 3]]), axis=-1)
    assert dense_list(counts) == [[0, 2, 0, 1], [1, 0, 0, 2]]
    assert dense_list(tf.sparse.bincount([1, 1, 3])) == [0, 2, 0, 1]
    assert dense_list(tf.sparse.bincount([[1, 1]], axis=-1, binary_output=True, maxlength=2)) == [[0, 1]]
    assert dense_list(tf.sparse.bincount(tf.ragged.constant([[1], [0, 1]]), axis=-1)) == [[0, 1], [1, 1]]


def test_chosen_rows_are_summed_by_segment() -> None:
    data = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert tf.sparse.segment_sum(data, [0, 2, 1], [0, 0, 1]).numpy().tolist() == [[6.0, 8.0], [3.0, 4.0]]
    assert tf.sparse.segment_mean(data, [0, 2], [0, 0], num_segments=2).numpy().tolist() == [[3.0, 4.0], [0.0, 0.0]]
    root = tf.sparse.segment_sqrt_n(data, [0, 2], [0, 0]).numpy()
    np.testing.assert_allclose(root, np.array([[6.0, 8.0]]) / np.sqrt(2), rtol=1e-6)
    slices = tf.IndexedSlices(values=[[1.0], [2.0]], indices=[3, 4])
    assert tf.sparse.mask(slices, [3]).indices.tolist() == [4]


def test_embeddings_are_combined_by_rows_of_ids() -> None:
    table = tf.constant([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    ids = tf.SparseTensor([[0, 0], [2, 0], [2, 1]], [2, 0, 1], [3, 2])
    weights = ids.with_values(np.array([1.0, 3.0, 1.0], np.float32))
    lookup = tf.nn.embedding_lookup_sparse
    assert lookup(table, ids, None, combiner="sum").numpy().tolist() == [[3.0, 3.0], [0.0, 0.0], [1.0, 2.0]]
    assert lookup(table, ids, weights).numpy().tolist() == [[3.0, 3.0], [0.0, 0.0], [0.75, 0.5]]
    ragged = tf.ragged.constant([[2], [], [0, 1]])
    assert lookup(table, ragged, combiner="mean").numpy().tolist() == [[3.0, 3.0], [0.0, 0.0], [0.5, 1.0]]
    root = lookup(table, ids, combiner="sqrtn").numpy()[2]
    np.testing.assert_allclose(root, np.array([1.0, 2.0]) / np.sqrt(2), rtol=1e-6)
    with pytest.raises(ValueError, match="combiner"):
        lookup(table, ids, combiner="max")


def test_specs_describe_sparse_tensors() -> None:
    spec = tf.SparseTensorSpec([None, 3], tf.int32)
    assert isinstance(spec, tf.TypeSpec)
    assert spec.is_compatible_with(example())
    assert not spec.is_compatible_with(floats())
    assert spec == tf.SparseTensorSpec([None, 3], tf.int32)
    assert repr(spec) == "SparseTensorSpec(TensorShape([None, 3]), tf.int32)"
    with pytest.raises(AttributeError, match="sessions"):
        _ = tf.sparse.placeholder
