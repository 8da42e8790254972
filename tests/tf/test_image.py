"""`tf.image`: random augmentation, and errors; errors of `tf.strings`."""

import numpy as np
import pytest

import unisono.tf as tf

IMAGE = np.random.RandomState(0).randint(0, 256, (6, 8, 3)).astype(np.uint8)
FLOATS = IMAGE.astype(np.float32) / 255

CHANGES = {
    "flip": (lambda: tf.image.random_flip_left_right(IMAGE), [IMAGE, IMAGE[:, ::-1]]),
    "flip over": (lambda: tf.image.random_flip_up_down(IMAGE), [IMAGE, IMAGE[::-1]]),
    "stateless flip": (lambda: tf.image.stateless_random_flip_left_right(IMAGE, seed=[1, 2]), [IMAGE, IMAGE[:, ::-1]]),
    "stateless flip over": (lambda: tf.image.stateless_random_flip_up_down(IMAGE, seed=[1, 2]), [IMAGE, IMAGE[::-1]]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_random_flip_gives_one_of_two_images(name):
    change, allowed = CHANGES[name]
    found = np.asarray(change())
    assert any(np.array_equal(found, image) for image in allowed)


def test_each_image_of_a_batch_is_flipped_independently():
    batch = np.stack([IMAGE] * 64)
    flipped = np.asarray(tf.image.random_flip_left_right(batch))
    which = [np.array_equal(each, IMAGE) for each in flipped]
    assert 0 < sum(which) < 64


@pytest.mark.full
def test_random_changes_stay_within_their_bounds():
    for _ in range(3):
        brighter = np.asarray(tf.image.random_brightness(FLOATS, 0.1)) - FLOATS
        assert np.ptp(brighter) < 1e-5
        assert abs(brighter.mean()) <= 0.1
        mean = FLOATS.mean((0, 1))
        factor = (np.asarray(tf.image.random_contrast(FLOATS, 0.5, 0.9)) - mean) / (FLOATS - mean)
        assert 0.499 < np.median(factor) < 0.901
        assert tf.image.random_saturation(IMAGE, 0.5, 1.5).dtype == tf.uint8
        assert tf.image.random_hue(FLOATS, 0.2).shape == (6, 8, 3)
        assert tf.image.random_jpeg_quality(IMAGE, 50, 90).shape == (6, 8, 3)
    with pytest.raises(ValueError, match="max_delta is -1"):
        tf.image.random_brightness(FLOATS, -1)
    with pytest.raises(ValueError, match="0 <= lower < upper"):
        tf.image.random_contrast(FLOATS, 0.9, 0.5)


def test_stateless_changes_depend_only_on_the_seed():
    changes = [
        lambda seed: tf.image.stateless_random_brightness(FLOATS, 0.4, seed),
        lambda seed: tf.image.stateless_random_contrast(FLOATS, 0.2, 0.9, seed),
        lambda seed: tf.image.stateless_random_saturation(FLOATS, 0.2, 0.9, seed),
        lambda seed: tf.image.stateless_random_hue(FLOATS, 0.4, seed),
    ]
    for change in changes:
        np.testing.assert_array_equal(change([3, 4]), change([3, 4]))
        assert not np.array_equal(change([3, 4]), change([3, 5]))


def test_a_random_crop_is_a_part_of_the_image():
    pixels = {tuple(IMAGE[row, column]) for row in range(5) for column in range(5)}
    for part in (tf.image.random_crop(IMAGE, [2, 4, 3]), tf.image.stateless_random_crop(IMAGE, [2, 4, 3], seed=[1, 2])):
        assert part.shape == (2, 4, 3)
        assert tuple(np.asarray(part)[0, 0]) in pixels
    with pytest.raises(ValueError, match="does not fit"):
        tf.image.random_crop(IMAGE, [9, 4, 3])


def test_images_are_decoded_resized_and_flipped_in_dataset_maps():
    files = [np.asarray(tf.image.encode_png(IMAGE)).item()] * 3
    dataset = tf.data.Dataset.from_tensor_slices(files)

    def load(contents):
        image = tf.image.resize(tf.image.decode_png(contents, channels=3), [4, 4])
        return tf.image.random_flip_left_right(image) / 255.0

    images = np.stack([np.asarray(image) for image in dataset.map(load)])
    assert images.shape == (3, 4, 4, 3)
    assert images.max() <= 1


def test_a_bitmap_is_decoded():
    header = b"BM" + (54 + 4).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    header += (1).to_bytes(4, "little") * 2 + (1).to_bytes(2, "little") + (24).to_bytes(2, "little") + bytes(24)
    np.testing.assert_array_equal(tf.image.decode_bmp(header + bytes([3, 2, 1, 0])), [[[1, 2, 3]]])


def test_resizing_is_traced_in_compiled_functions():
    compiled = tf.function(lambda x: tf.image.resize(x, [3, 5]))
    np.testing.assert_allclose(compiled(tf.constant(FLOATS)), tf.image.resize(FLOATS, [3, 5]), rtol=1e-6)


def test_rot90_with_a_random_k():
    image = np.arange(12, dtype="float32").reshape(2, 2, 3)
    rotate = tf.function(lambda times: tf.image.rot90(image, times))
    for times in range(-1, 5):
        np.testing.assert_array_equal(rotate(tf.constant(times)), np.rot90(image, times))
    drawn = tf.data.Dataset.range(20).map(lambda _: tf.image.rot90(image, tf.random.uniform([], 0, 4, dtype=tf.int32)))
    assert len({each.numpy().tobytes() for each in drawn}) == 4
    with pytest.raises(ValueError, match="image is 2 x 1"):
        tf.function(lambda times: tf.image.rot90(image[:, :1], times))(tf.constant(1))


def test_sizes_and_methods_that_do_not_fit_raise():
    with pytest.raises(ValueError, match="is not inside"):
        tf.image.crop_to_bounding_box(IMAGE, 4, 0, 4, 4)
    with pytest.raises(ValueError, match="does not fit"):
        tf.image.pad_to_bounding_box(IMAGE, 4, 0, 4, 4)
    with pytest.raises(ValueError, match="method is 'best'"):
        tf.image.resize(IMAGE, [3, 3], method="best")
    with pytest.raises(ValueError, match="expected an image"):
        tf.image.resize([1.0, 2.0], [3, 3])
    with pytest.raises(NotImplementedError, match="antialias"):
        tf.image.resize(IMAGE, [3, 3], method="gaussian", antialias=True)


def test_parsing_text_that_is_not_a_number_raises():
    with pytest.raises(tf.errors.InvalidArgumentError, match="b'x' is not a number"):
        tf.strings.to_number("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside"):
        tf.strings.substr("abc", 7, 1)


def test_approx_max_k_and_min_k():
    values, indices = tf.nn.approx_max_k(tf.range(100.0), 2)
    assert sorted(np.asarray(indices).tolist()) == [98, 99]
    assert tf.math.approx_max_k(tf.range(10.0), 1)[1][0] == 9
    assert tf.nn.approx_min_k(tf.range(10.0), 1)[1][0] == 0
    assert float(tf.math.approx_min_k(tf.range(10.0), 1)[0][0]) == 0
    assert len(values) == 2


def test_bounding_boxes_are_drawn():
    boxes = [[[0.25, 0.2, 0.75, 0.8], [0.0, -0.5, 2.0, 0.0], [0.9, 0.9, 0.1, 0.1]]]  # the last one is nowhere
    drawn = tf.image.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), boxes, colors=[[1.0, 0.0, 0.0], [0.0, 0.0, 0.5]])
    frame = [[0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 0], [0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]]
    np.testing.assert_array_equal(drawn[0, ..., 0], frame)
    np.testing.assert_array_equal(drawn[0, ..., 2], [[0.5, 0, 0, 0, 0, 0]] * 5)
    white = tf.image.draw_bounding_boxes(tf.zeros([1, 5, 6, 1]), boxes[:1], None)
    assert float(tf.reduce_max(white)) == 1.0
    yellow = tf.image.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), [[[0.0, 0.0, 1.0, 1.0]]], None)
    np.testing.assert_array_equal(yellow[0, 0, 0], [1.0, 1.0, 0.0])
    with pytest.raises(ValueError, match=r"the boxes \(1, 4\)"):
        tf.image.draw_bounding_boxes(tf.zeros([1, 5, 6, 3]), [[0.0, 0.0, 1.0, 1.0]], None)
