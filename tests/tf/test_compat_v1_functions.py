"""Functions of `tf.compat.v1` with TensorFlow 1's arguments; modules that TensorFlow 2 renamed, summaries."""

from pathlib import Path

import numpy as np
import pytest
import tensorboardX  # noqa: F401  (sets a variable of the environment when it is first imported)

import unisono.tf as tf

v1 = tf.compat.v1
X = np.arange(6, dtype="float32").reshape(2, 3)


def test_old_names_of_arguments_are_accepted() -> None:
    assert v1.reduce_sum(X, reduction_indices=1, keep_dims=True).shape == (2, 1)
    assert v1.reduce_mean(X, 0, True).shape == (1, 3)
    assert v1.argmax(X, dimension=1).tolist() == v1.argmax(X, 1, "name").tolist() == [2, 2]
    assert v1.expand_dims(X, dim=0).shape == (1, 2, 3)
    assert v1.squeeze(X[None], squeeze_dims=[0]).shape == (2, 3)
    assert v1.shape(X, "name", tf.int64).tolist() == [2, 3]
    assert v1.zeros_like(tensor=X, optimize=True).shape == (2, 3)
    assert int(v1.count_nonzero(X, keep_dims=False)) == 5
    assert v1.gather(X, [1], name="g").tolist() == X[[1]].tolist()
    assert int(v1.cond(tf.constant(True), fn1=lambda: 1, fn2=lambda: 2)) == 1
    assert v1.nn.softmax(X, dim=0).shape == (2, 3)
    assert v1.nn.moments(X, [0], keep_dims=True)[0].shape == (1, 3)
    assert v1.nn.conv2d(
        X[None, ..., None], filter=np.ones((1, 1, 1, 1), "float32"), strides=[1] * 4, padding="SAME"
    ).shape
    assert v1.nn.max_pool(value=X[None, ..., None], ksize=2, strides=1, padding="VALID").shape == (1, 1, 2, 1)
    v1.assert_equal([1], [1], data=["x"], message="different")
    with pytest.raises(ValueError, match="two names of one argument"):
        v1.reduce_sum(X, axis=0, reduction_indices=1)


def test_functions_that_tensorflow_2_renamed_or_removed() -> None:
    assert v1.log is tf.math.log
    assert v1.matrix_inverse is tf.linalg.inv
    assert v1.random_uniform is tf.random.uniform
    assert v1.FixedLenFeature is tf.io.FixedLenFeature
    assert v1.string_join is tf.strings.join
    assert v1.random.set_random_seed is v1.set_random_seed
    assert v1.to_float([1]).dtype == tf.float32
    assert v1.to_int32([1.7]).tolist() == [1]
    assert v1.div([7], [2]).tolist() == [3]
    assert v1.div([7.0], [2.0]).tolist() == [3.5]
    assert v1.py_func(lambda x: x + 1, [np.float32(1)], tf.float32).numpy() == 2
    assert v1.nn.xw_plus_b(X, np.ones((3, 1), "float32"), [1.0]).tolist() == [[4], [13]]
    assert v1.nn.relu_layer(-X, np.ones((3, 1), "float32"), [1.0]).tolist() == [[0], [0]]
    assert [each.tolist() for each in v1.setdiff1d([1, 2, 3], [2])] == [[1, 3], [0, 2]]
    assert v1.multinomial(np.log([[0.5, 0.5]]), 4).shape == (1, 4)
    assert v1.extract_image_patches(X[None, ..., None], [1, 2, 2, 1], [1] * 4, [1] * 4, "VALID").shape == (1, 1, 2, 4)
    with pytest.raises(AttributeError, match=r"use tf\.keras\.metrics"):
        _ = v1.metrics


def test_more_functions_of_tensorflow_1() -> None:
    assert v1.batch_gather([[1, 2], [3, 4]], [[1], [0]]).tolist() == [[2], [3]]
    assert v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6], -1).tolist() == [[-1, 5], [6, -1]]
    assert v1.sparse_to_dense([1], [3], [7]).tolist() == [0, 7, 0]
    assert v1.string_split(["a b", "c"]).dense_shape.numpy().tolist() == [2, 2]
    assert v1.string_split(["a,b"], ",", result_type="RaggedTensor").to_list() == [[b"a", b"b"]]
    assert v1.to_bfloat16([1.0]).dtype == tf.bfloat16
    assert v1.to_complex64([1.0]).dtype == tf.complex64
    assert v1.floor_div([7], [2]).tolist() == [3]
    assert v1.initialize_all_tables() is v1.initialize_local_variables() is None
    assert tf.__version__ == v1.VERSION
    assert v1.saved_model.tag_constants.SERVING == "serve"
    assert v1.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY == "serving_default"
    with pytest.raises(AttributeError, match=r"use tf\.saved_model\.save"):
        _ = v1.saved_model.simple_save


def test_print_returns_its_input(capfd: pytest.CaptureFixture[str]) -> None:
    assert v1.Print(X, [tf.constant(3)], "value:").shape == (2, 3)
    assert "value:" in capfd.readouterr().err


def test_dropout_takes_the_probability_to_keep() -> None:
    tf.random.set_seed(1)
    ones = np.ones(10_000, "float32")
    assert abs((v1.nn.dropout(ones, 0.9).numpy() > 0).mean() - 0.9) < 0.02
    assert abs((v1.nn.dropout(ones, rate=0.9).numpy() > 0).mean() - 0.1) < 0.02
    with pytest.raises(ValueError, match="either rate= or keep_prob="):
        v1.nn.dropout(ones)


@pytest.mark.full
def test_images_are_resized_from_the_corner() -> None:
    """The numbers follow from TensorFlow 1's rule: pixel i of the new image is at i * old / new of the old one."""
    row = np.array([[[0.0], [10.0], [20.0], [30.0]]], "float32")
    assert v1.image.resize_bilinear(row[None], (1, 8))[0, 0, :, 0].tolist() == [0, 5, 10, 15, 20, 25, 30, 30]
    assert v1.image.resize_images(row, (1, 2))[0, :, 0].tolist() == [0, 20]
    aligned = v1.image.resize_images(row, (1, 7), align_corners=True)[0, :, 0]
    np.testing.assert_allclose(aligned, [0, 5, 10, 15, 20, 25, 30], rtol=1e-6)
    nearest = v1.image.resize_images(row, (1, 8), v1.image.ResizeMethod.NEAREST_NEIGHBOR)
    assert nearest[0, :, 0].tolist() == [0, 0, 10, 10, 20, 20, 30, 30]
    assert v1.image.resize_bilinear(row[None], (1, 8), half_pixel_centers=True)[0, 0, 1, 0] == 2.5
    assert v1.image.resize_area(row[None], (1, 2))[0, 0, :, 0].tolist() == [5, 25]
    assert v1.image.flip_left_right is tf.image.flip_left_right
    with pytest.raises(NotImplementedError, match=r"tf\.image\.resize\(images, size, method=.bicubic.\)"):
        v1.image.resize_bicubic(row[None], (1, 8))


def test_records_are_iterated(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(str(tmp_path / "a")) as writer:
        writer.write(b"one")
        writer.write(b"two")
    assert list(v1.io.tf_record_iterator(str(tmp_path / "a"))) == [b"one", b"two"]


def test_summaries_are_written(tmp_path: Path) -> None:
    with v1.summary.FileWriter(str(tmp_path), graph=None) as writer:
        value = v1.Summary.Value(tag="loss", simple_value=0.5)
        writer.add_summary(v1.Summary(value=[value]), global_step=7)
        with writer.as_default():
            assert v1.summary.scalar("accuracy", 0.25)
            v1.summary.histogram("h", [1.0, 2.0])
        with pytest.raises(TypeError, match=r"tf\.summary\.scalar"):
            writer.add_summary(3.0)
    (file,) = tmp_path.iterdir()
    found = {value.tag: event.step for event in v1.train.summary_iterator(str(file)) for value in event.summary.value}
    assert found["loss"] == 7
    assert set(found) == {"loss", "accuracy", "h"}
    with pytest.raises(AttributeError, match=r"tf\.summary\.create_file_writer"):
        _ = v1.summary.merge_all
