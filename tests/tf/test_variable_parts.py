"""Assigning parts of variables: slices, rows and elements."""

import gc

import numpy as np
import pytest

import unisono.tf as tf
from unisono.tf import _variable_parts


@pytest.fixture(scope="module")
def strategy() -> tf.distribute.MirroredStrategy:
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def test_slices_are_assigned() -> None:
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    assert v[0].assign(9.0) is v
    v[1:3].assign([7, 8])
    v[3].assign_add(1)
    v[-1].assign_sub(2.0)
    assert v.numpy().tolist() == [9.0, 7.0, 8.0, 3.0]
    assert v.dtype == tf.float32


def test_slices_of_several_dims_are_assigned() -> None:
    m = tf.Variable([[1, 2], [3, 4]])
    m[:, 1].assign([20, 40])
    m[tf.constant(1), 0].assign(30)
    m[0, ..., tf.newaxis].assign([[5], [6]])
    assert m.numpy().tolist() == [[5, 6], [30, 40]]


def test_a_variable_can_be_an_index() -> None:
    v, index = tf.Variable([1.0, 2.0]), tf.Variable(1)
    v[index].assign(5.0)
    assert (v[index].numpy(), v.numpy().tolist()) == (5.0, [1.0, 5.0])


def test_slices_are_assigned_in_functions() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def move(index: tf.Tensor) -> tf.Tensor:
        v[index].assign(10.0)
        v[index + 1].assign_add(v[index])
        return v[index + 1]

    assert move(tf.constant(0)).numpy() == 12.0
    assert move(tf.constant(1)).numpy() == 13.0
    assert v.numpy().tolist() == [10.0, 10.0, 13.0]


def test_what_is_no_part_of_a_variable_has_no_assign() -> None:
    v = tf.Variable([1.0, 2.0])
    assert hasattr(v[0], "assign")
    assert not hasattr(v[0] + 1.0, "assign")
    with pytest.raises(AttributeError, match=r"make it a tf\.Variable"):
        tf.constant([1.0])[0].assign(2.0)


@pytest.mark.full
def test_parts_are_forgotten_when_they_are_gone() -> None:
    v = tf.Variable([1.0, 2.0])
    gc.collect()
    before = len(_variable_parts._parts)
    parts = [v[0], v[1]]
    assert len(_variable_parts._parts) == before + 2
    del parts
    gc.collect()
    assert len(_variable_parts._parts) == before


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [("SUM", [3.0, 5.0, 3.0]), ("MEAN", [1.5, 3.5, 3.0]), ("ONLY_FIRST_REPLICA", [1, 3, 3])],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_replicas_agree_on_a_part_as_on_the_whole(
    strategy: tf.distribute.MirroredStrategy, aggregation: str, expected: list[float], compiled: bool
) -> None:
    with strategy.scope():
        v = tf.Variable([9.0, 2.0, 3.0], aggregation=tf.VariableAggregation[aggregation])

    def step() -> None:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group + 1
        v[0].assign(number)
        v[1].assign_add(number)

    if compiled:
        tf.function(lambda: strategy.run(step))()
    else:
        strategy.run(step)
    assert v.numpy().tolist() == expected
    v[2].assign(7.0)
    assert [value.tolist() for value in v.values] == [[*expected[:2], 7.0]] * 2


def test_replicas_that_cannot_agree_are_an_error(strategy: tf.distribute.MirroredStrategy) -> None:
    with strategy.scope():
        v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="aggregation="):
        strategy.run(lambda: v[0].assign(1.0))


def test_rows_are_scattered() -> None:
    def rows(values: list[float]) -> tf.IndexedSlices:
        return tf.IndexedSlices(values=values, indices=[0, 2])

    v = tf.Variable([1.0, 2.0, 3.0])
    assert v.scatter_update(rows([8.0, 6.0])) is v
    assert v.scatter_add(rows([1.0, 1.0])).numpy().tolist() == [9.0, 2.0, 7.0]
    assert v.scatter_sub(rows([1.0, 1.0])).numpy().tolist() == [8.0, 2.0, 6.0]
    assert v.scatter_mul(rows([2.0, 0.5])).numpy().tolist() == [16.0, 2.0, 3.0]
    assert v.scatter_div(rows([4.0, 3.0])).numpy().tolist() == [4.0, 2.0, 1.0]
    assert v.scatter_max(rows([3.0, 3.0])).numpy().tolist() == [4.0, 2.0, 3.0]
    assert v.scatter_min(rows([3.0, 9.0])).numpy().tolist() == [3.0, 2.0, 3.0]
    assert v.sparse_read([2, 1]).numpy().tolist() == [3.0, 2.0]
    of_batch = tf.Variable([[1, 2], [3, 4]])
    of_batch.batch_scatter_update(tf.IndexedSlices(values=[[9], [8]], indices=[[1], [0]]))
    assert of_batch.numpy().tolist() == [[1, 9], [8, 4]]


def test_places_are_scattered() -> None:
    m = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    indices = [[0, 1], [1, 0]]
    m.scatter_nd_update(indices, [5.0, 6.0])
    m.scatter_nd_add(indices, [1.0, 1.0])
    m.scatter_nd_sub([[0, 0]], [1.0])
    m.scatter_nd_max([[0, 0]], [3.0])
    m.scatter_nd_min([[1]], [[9.0, 0.0]])
    assert m.numpy().tolist() == [[3.0, 6.0], [7.0, 0.0]]
    assert m.gather_nd(indices).numpy().tolist() == [6.0, 7.0]


def test_indexed_slices_become_a_tensor_if_their_shape_is_known() -> None:
    slices = tf.IndexedSlices(values=[[1.0, 2.0], [3.0, 4.0]], indices=[2, 2], dense_shape=[3, 2])
    assert (slices.shape, slices.dtype) == ((3, 2), tf.float32)
    np.testing.assert_array_equal(tf.convert_to_tensor(slices), [[0, 0], [0, 0], [4, 6]])
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(values=[1.0], indices=[0]))


def test_an_array_of_one_number_is_a_number_of_python() -> None:
    assert float(tf.constant([[2.5]])) == 2.5
    assert int(tf.constant([3])) == 3
    with pytest.raises(TypeError):
        float(tf.constant([1.0, 2.0]))
