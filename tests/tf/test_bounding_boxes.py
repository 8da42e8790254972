"""Non-maximum suppression against a plain loop; random crops that show enough of a box."""

import numpy as np
import pytest

import unisono.tf as tf

RNG = np.random.default_rng(0)


def _boxes(*shape: int) -> np.ndarray:
    corner = RNG.uniform(0, 0.7, (*shape, 2))
    return np.concatenate([corner, corner + RNG.uniform(0.05, 0.5, (*shape, 2))], -1).astype("float32")


def _overlap(a, b) -> float:
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    shared = np.prod(np.maximum(sides, 0))
    return shared / (np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2]) - shared)


def _suppress(boxes, scores, size, iou=0.5, least=-np.inf) -> list[int]:
    kept: list[int] = []
    for index in np.argsort(-scores, kind="stable"):
        if len(kept) < size and scores[index] > least and all(_overlap(boxes[index], boxes[k]) <= iou for k in kept):
            kept.append(int(index))
    return kept


BOXES, SCORES = _boxes(30), RNG.permutation(30).astype("float32") / 30


@pytest.mark.parametrize("options", [{}, {"iou_threshold": 0.2}, {"score_threshold": 0.6}])
def test_the_selected_boxes_are_those_of_the_loop(options: dict[str, float]) -> None:
    expected = _suppress(BOXES, SCORES, 8, options.get("iou_threshold", 0.5), options.get("score_threshold", -np.inf))
    assert tf.image.non_max_suppression(BOXES, SCORES, 8, **options).tolist() == expected
    flipped = BOXES[:, [2, 1, 0, 3]]
    assert tf.image.non_max_suppression(flipped, SCORES, 8, **options).tolist() == expected
    indices, scores = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 8, **options)
    assert indices.tolist() == expected
    np.testing.assert_allclose(scores, SCORES[expected])
    padded = tf.function(
        lambda b, s: tf.image.non_max_suppression_padded(b, s, 8, pad_to_max_output_size=True, **options)
    )
    indices, count = padded(BOXES, SCORES)
    assert indices.tolist() == expected + [0] * (8 - len(expected))
    assert int(count) == len(expected)


def test_boxes_are_selected_from_overlaps_and_in_batches() -> None:
    overlaps = [[_overlap(a, b) for b in BOXES] for a in BOXES]
    expected = _suppress(BOXES, SCORES, 8)
    assert tf.image.non_max_suppression_overlaps(overlaps, SCORES, 8).tolist() == expected
    boxes, scores = _boxes(2, 10), RNG.uniform(size=(2, 10)).astype("float32")
    indices, counts = tf.image.non_max_suppression_padded(boxes, scores, 4, pad_to_max_output_size=True)
    for row in range(2):
        assert indices[row, : counts[row]].tolist() == _suppress(boxes[row], scores[row], 4)
    with pytest.raises(ValueError, match="pad_to_max_output_size=True"):
        tf.image.non_max_suppression_padded(boxes, scores, 4)
    with pytest.raises(ValueError, match=r"Use tf\.image\.non_max_suppression_padded"):
        tf.function(lambda b, s: tf.image.non_max_suppression(b, s, 4))(BOXES, SCORES)


def test_soft_suppression_lowers_scores() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, 1, 0.5], [2, 2, 3, 3]], "float32")
    indices, scores = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8, 0.5], 3, soft_nms_sigma=0.5)
    lowered = 0.8 * np.exp(-0.5 * 0.5**2 / 0.5)
    assert indices.tolist() == [0, 1, 2]
    np.testing.assert_allclose(scores, [0.9, lowered, 0.5], rtol=1e-6)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.full
def test_classes_are_suppressed_separately_and_combined(shared: bool) -> None:
    boxes, scores = _boxes(2, 12, 1 if shared else 3), RNG.uniform(size=(2, 12, 3)).astype("float32")
    found = tf.image.combined_non_max_suppression(boxes, scores, 3, 7, 0.4, 0.2)
    assert found.nmsed_boxes.shape == (2, 7, 4)
    for row in range(2):
        expected = []
        for kind in range(3):
            corners = boxes[row, :, 0 if shared else kind]
            for index in _suppress(corners, scores[row, :, kind], 3, 0.4, 0.2):
                expected.append((-scores[row, index, kind], kind, corners[index]))
        expected.sort(key=lambda each: each[0])
        count = int(found.valid_detections[row])
        assert count == min(7, len(expected))
        np.testing.assert_allclose(found.nmsed_scores[row, :count], [-each[0] for each in expected[:7]], rtol=1e-6)
        assert found.nmsed_classes[row, :count].tolist() == [each[1] for each in expected[:7]]
        np.testing.assert_allclose(found.nmsed_boxes[row, :count], np.clip([each[2] for each in expected[:7]], 0, 1))
    padded = tf.image.combined_non_max_suppression(boxes, scores, 1, 7, 0.4, 2.0, pad_per_class=True)
    assert padded.nmsed_scores.shape == (2, 3)
    assert padded.valid_detections.tolist() == [0, 0]
    assert not np.any(padded.nmsed_boxes)
    with pytest.raises(ValueError, match=r"Expected\s\[batch, boxes"):
        tf.image.combined_non_max_suppression(boxes[0], scores, 1, 1)


@pytest.mark.full
def test_random_crops_show_enough_of_a_box() -> None:
    box = np.array([[[0.2, 0.2, 0.6, 0.5]]], "float32")
    image = np.zeros((40, 60, 3), "float32")
    seen = set()
    for seed in range(10):
        begin, size, crop = tf.image.stateless_sample_distorted_bounding_box(
            tf.shape(image), box, seed=(1, seed), min_object_covered=0.5, area_range=(0.2, 0.9)
        )
        cut = tf.slice(image, begin, size)
        assert cut.shape[2] == 3
        height, width = cut.shape[:2]
        assert 0.15 < height * width / 2400 < 0.95
        assert 0.7 < width / height < 1.4
        top, left, bottom, right = np.asarray(crop)[0, 0]
        np.testing.assert_allclose([bottom - top, right - left], [height / 40, width / 60], atol=1e-5)
        shown = max(0, min(bottom, 0.6) - max(top, 0.2)) * max(0, min(right, 0.5) - max(left, 0.2))
        assert shown / (0.4 * 0.3) >= 0.5 - 1e-5
        seen.add(tuple(begin.tolist()))
    assert len(seen) > 5
    again = tf.image.stateless_sample_distorted_bounding_box(tf.shape(image), box, (1, 9), 0.5, area_range=(0.2, 0.9))
    assert again.begin.tolist() == begin.tolist()


@pytest.mark.full
def test_random_crops_fall_back_to_the_image_and_say_what_is_wrong() -> None:
    corner = np.array([[[0.0, 0.0, 1.0, 1.0]]], "float32")
    begin, size, crop = tf.image.sample_distorted_bounding_box(
        [10, 10, 3], corner, min_object_covered=1.0, area_range=(0.1, 0.2), max_attempts=3
    )
    assert (begin.tolist(), size.tolist()) == ([0, 0, 0], [10, 10, -1])
    assert crop.tolist() == [[[0, 0, 1, 1]]]
    empty = np.zeros((1, 0, 4), "float32")
    assert tf.image.sample_distorted_bounding_box([10, 10, 3], empty, use_image_if_no_bounding_boxes=True).size[2] == -1
    with pytest.raises(ValueError, match="use_image_if_no_bounding_boxes=True"):
        tf.image.sample_distorted_bounding_box([10, 10, 3], empty)
    with pytest.raises(ValueError, match="area_range is"):
        tf.image.sample_distorted_bounding_box([10, 10, 3], corner, area_range=(0.5, 2))
    data = tf.data.Dataset.from_tensors(np.zeros((8, 8, 1), "float32"))

    def crop_randomly(image):
        begin, size, _ = tf.image.sample_distorted_bounding_box(tf.shape(image), corner, min_object_covered=0.1)
        return tf.image.resize(tf.slice(image, begin, size), (4, 4))

    assert next(iter(data.map(crop_randomly))).shape == (4, 4, 1)
