"""image_dataset_from_directory, on folders of real (tiny) images."""

import os

import numpy as np
import pytest

from unisono.data import Dataset, image_dataset_from_directory
from unisono.io import ImageError, encode_jpeg, encode_png

CLASSES = ("ant", "bee", "cat")
PER_CLASS = 5


def picture(value: int, height: int = 6, width: int = 8) -> np.ndarray:
    return np.full((height, width, 3), value, np.uint8)


@pytest.fixture
def folder(tmp_path):
    """Image i of class c is all 50 * c + i, so that a pixel identifies its file."""
    for number, name in enumerate(reversed(CLASSES)):
        label = len(CLASSES) - 1 - number
        (tmp_path / name).mkdir()
        for image in reversed(range(PER_CLASS)):
            (tmp_path / name / f"{image}.png").write_bytes(encode_png(picture(50 * label + image)))
    return tmp_path


def make_dataset(folder, **options):
    return image_dataset_from_directory(folder, **{"image_size": (4, 4), "verbose": False, "seed": 3, **options})


def list_all(dataset):
    """The value and the label of each image of one pass."""
    pairs = [(x[i, 0, 0, 0].item(), y[i].tolist()) for x, y in dataset for i in range(len(x))]
    return [value for value, _ in pairs], [label for _, label in pairs]


EXPECTED = [float(50 * label + image) for label in range(len(CLASSES)) for image in range(PER_CLASS)]


def test_sub_folders_are_classes_and_everything_is_sorted(folder):
    dataset = make_dataset(folder, shuffle=False)
    values, labels = list_all(dataset)
    assert dataset.class_names == list(CLASSES)
    assert values == EXPECTED
    assert labels == [0] * 5 + [1] * 5 + [2] * 5
    assert [os.path.relpath(path, folder) for path in dataset.file_paths[:6]] == [
        *(os.path.join("ant", f"{image}.png") for image in range(5)),
        os.path.join("bee", "0.png"),
    ]


def test_batches_are_float32_images_and_int32_labels(folder):
    images, labels = next(iter(make_dataset(folder, batch_size=4)))
    assert (images.shape, images.dtype) == ((4, 4, 4, 3), np.float32)
    assert (labels.shape, labels.dtype) == ((4,), np.int32)


def test_the_last_batch_is_what_remains(folder):
    dataset = make_dataset(folder, batch_size=4)
    assert [len(labels) for _, labels in dataset] == [4, 4, 4, 3]
    assert len(dataset) == 4


def test_without_a_batch_size_there_are_single_images(folder):
    elements = list(make_dataset(folder, batch_size=None, shuffle=False))
    assert len(elements) == 15
    assert elements[7][0].shape == (4, 4, 3)
    assert elements[7][1].item() == 1


def test_each_pass_is_in_another_order_and_has_every_image_with_its_label(folder):
    dataset = make_dataset(folder)
    first, second = list_all(dataset), list_all(dataset)
    assert first[0] != second[0]
    for values, labels in (first, second):
        assert sorted(values) == EXPECTED
        assert [value // 50 for value in values] == labels


def test_a_seed_makes_the_order_repeatable(folder):
    assert list_all(make_dataset(folder)) == list_all(make_dataset(folder))
    assert list_all(make_dataset(folder)) != list_all(make_dataset(folder, seed=4))


def test_class_names_choose_and_order_the_classes(folder):
    dataset = make_dataset(folder, class_names=["cat", "ant"], shuffle=False)
    values, labels = list_all(dataset)
    assert values == EXPECTED[10:] + EXPECTED[:5]
    assert labels == [0] * 5 + [1] * 5
    assert dataset.class_names == ["cat", "ant"]


def test_categorical_labels_are_one_hot(folder):
    _, labels = next(iter(make_dataset(folder, label_mode="categorical", shuffle=False)))
    assert labels.dtype == np.float32
    np.testing.assert_array_equal(labels, np.eye(3)[[0] * 5 + [1] * 5 + [2] * 5])


def test_binary_labels_are_a_column_of_floats(folder):
    _, labels = next(iter(make_dataset(folder, label_mode="binary", class_names=["ant", "bee"], shuffle=False)))
    assert labels.dtype == np.float32
    assert labels.tolist() == [[0.0]] * 5 + [[1.0]] * 5


@pytest.mark.parametrize("options", [{"labels": None}, {"label_mode": None}])
def test_without_labels_there_are_images_only(folder, options):
    dataset = make_dataset(folder, shuffle=False, **options)
    (images,) = list(dataset)
    assert images[:, 0, 0, 0].tolist() == EXPECTED
    assert dataset.class_names is None


def test_labels_may_be_a_list(folder):
    dataset = make_dataset(folder, labels=list(range(15)), shuffle=False)
    assert list_all(dataset) == (EXPECTED, list(range(15)))
    assert dataset.class_names[:3] == ["0", "1", "2"]


@pytest.mark.parametrize("shuffle", [True, False])
def test_the_two_parts_share_no_file_and_miss_none(folder, shuffle):
    both = make_dataset(folder, validation_split=0.3, subset="both", shuffle=shuffle)
    apart = [
        make_dataset(folder, validation_split=0.3, subset=name, shuffle=shuffle) for name in ("training", "validation")
    ]
    for training, validation in (both, apart):
        assert len(training.file_paths) == 11
        assert len(validation.file_paths) == 4
        assert len({*training.file_paths, *validation.file_paths}) == 15
        assert sorted(list_all(training)[0] + list_all(validation)[0]) == EXPECTED
    assert sorted(both[1].file_paths) == sorted(apart[1].file_paths)


def test_validation_of_both_stays_in_order(folder):
    _, validation = make_dataset(folder, validation_split=0.4, subset="both")
    assert list_all(validation) == list_all(validation)
    assert [os.path.basename(os.path.dirname(path)) for path in validation.file_paths] == [
        CLASSES[label] for label in list_all(validation)[1]
    ]


def test_the_split_is_that_of_keras(folder):
    order = list(range(15))
    np.random.RandomState(3).shuffle(order)
    validation = make_dataset(folder, validation_split=0.2, subset="validation")
    assert sorted(list_all(validation)[0]) == sorted(EXPECTED[number] for number in order[-3:])


@pytest.mark.parametrize(("mode", "num_channels"), [("grayscale", 1), ("rgb", 3), ("rgba", 4)])
def test_the_color_mode_says_how_many_channels(folder, mode, num_channels):
    images, _ = next(iter(make_dataset(folder, color_mode=mode)))
    assert images.shape[-1] == num_channels


def test_channels_may_come_first(folder):
    images, _ = next(iter(make_dataset(folder, data_format="channels_first", image_size=(4, 5))))
    assert images.shape == (15, 3, 4, 5)


def test_images_of_all_formats_and_sizes_become_one_batch(tmp_path):
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "a" / "deep" / "x.JPG").write_bytes(encode_jpeg(picture(128, 16, 16)))
    (tmp_path / "a" / "y.png").write_bytes(encode_png(picture(128, 3, 50)))
    (tmp_path / "a" / "notes.txt").write_text("no image")
    (tmp_path / ".hidden").mkdir()
    dataset = make_dataset(tmp_path, image_size=7)
    assert dataset.class_names == ["a"]
    (images,) = [x for x, _ in dataset]
    np.testing.assert_allclose(images, np.full((2, 7, 7, 3), 128.0))


def test_links_are_followed_on_request(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "9.png").write_bytes(encode_png(picture(9)))
    (folder / "ant" / "link").symlink_to(elsewhere)
    assert len(make_dataset(folder).file_paths) == 15
    assert len(make_dataset(folder, follow_links=True).file_paths) == 16


# The image of tests/data/files/test_images.py; tf.image.resize_with_pad to (5, 5) and keras's smart_resize to (4, 2).
SMALL = (np.arange(12) * 37 % 256).astype(np.uint8).reshape(3, 4, 1)
PADDED = [[0, 25.9, 55.5, 85.1, 111], [148, 173.9, 203.5, 156.3, 3], [40, 65.9, 95.5, 125.1, 151], [0] * 5, [0] * 5]
CROPPED = [[37, 37], [129.5, 129.5], [144.5, 144.5], [77, 77]]


@pytest.mark.parametrize(
    ("option", "size", "expected"),
    [("pad_to_aspect_ratio", (5, 5), PADDED), ("crop_to_aspect_ratio", (4, 2), CROPPED)],
)
def test_the_aspect_ratio_is_kept_as_keras_keeps_it(tmp_path, option, size, expected):
    (tmp_path / "x.png").write_bytes(encode_png(SMALL))
    (image,) = make_dataset(
        tmp_path, labels=None, color_mode="grayscale", image_size=size, batch_size=None, **{option: True}
    )
    np.testing.assert_allclose(image[..., 0], expected, atol=1e-3)


def test_it_says_what_it_found(folder, capsys):
    make_dataset(folder, verbose=True, validation_split=0.2, subset="both")
    assert capsys.readouterr().out == (
        "Found 15 files belonging to 3 classes.\nUsing 12 files for training and 3 for validation.\n"
    )
    make_dataset(folder, verbose=True, labels=None)
    assert capsys.readouterr().out == "Found 15 files.\n"


def test_methods_give_plain_datasets_and_element_spec_is_known(folder):
    dataset = make_dataset(folder, batch_size=4)
    assert type(dataset.take(1)) is Dataset
    assert [spec.shape for spec in dataset.element_spec] == [(None, 4, 4, 3), (None,)]
    assert "load_image" in dataset.explain()
    assert "threads" in dataset.explain()


def test_a_pass_that_is_left_early_leaves_no_thread(folder):
    for _ in make_dataset(folder, batch_size=2):
        break  # tests/conftest.py looks for threads


def test_a_position_in_the_middle_is_restored(folder):
    iterator = iter(make_dataset(folder, batch_size=2))
    next(iterator)
    state = iterator.get_state()
    expected = next(iterator)[1]
    iterator.close()
    with iter(make_dataset(folder, batch_size=2)) as again:
        again.set_state(state)
        np.testing.assert_array_equal(next(again)[1], expected)


# errors


@pytest.mark.parametrize("batch_size", [None, 4])
def test_a_damaged_file_is_named(folder, batch_size):
    path = folder / "bee" / "2.png"
    path.write_bytes(path.read_bytes()[:45])
    with (
        iter(make_dataset(folder, batch_size=batch_size)) as batches,
        pytest.raises(ImageError, match=r"2\.png: decode_image: an image of 45 bytes"),
    ):
        list(batches)


def test_a_file_that_has_gone_is_named(folder):
    dataset = make_dataset(folder)
    (folder / "ant" / "1.png").unlink()
    with iter(dataset) as batches, pytest.raises(FileNotFoundError, match=r"there is no file .*1\.png"):
        list(batches)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere.*unpacked"):
        make_dataset(tmp_path / "nowhere")


def test_an_empty_folder_is_said_to_be_empty(tmp_path):
    with pytest.raises(ValueError, match=r"has no sub-folder.*labels=None"):
        make_dataset(tmp_path)
    with pytest.raises(ValueError, match=r"there is no image in .*\.bmp, \.gif"):
        make_dataset(tmp_path, labels=None)
    (tmp_path / "a").mkdir()
    with pytest.raises(ValueError, match=r"there is no image in the folders \['a'\]"):
        make_dataset(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_mode": "sparse"}, r"label_mode is 'sparse'\. Expected one of 'int'"),
        ({"color_mode": "bgr"}, r"color_mode is 'bgr'\. Expected one of 'grayscale'"),
        ({"interpolation": "cubic"}, r"interpolation is 'cubic'\. Expected one of 'bilinear'"),
        ({"data_format": "nchw"}, r"data_format is 'nchw'"),
        ({"subset": "test", "validation_split": 0.1}, r"subset is 'test'"),
        ({"image_size": (4,)}, r"image_size is \(4,\)\. Expected \(height, width\)"),
        ({"image_size": (0, 4)}, r"image_size is \(0, 4\)"),
        ({"image_size": "big"}, r"image_size is 'big'"),
        ({"batch_size": 0}, r"batch_size must be at least 1"),
        ({"validation_split": 0.2}, r"validation_split=0\.2 and subset=None go together"),
        ({"subset": "both"}, r"validation_split=None and subset='both' go together"),
        ({"validation_split": 20, "subset": "both"}, r"validation_split is 20\. Expected a part"),
        ({"validation_split": 0.01, "subset": "both"}, r"leaves 15 of 15 files for training and 0 for validation"),
        ({"validation_split": 0.2, "subset": "both", "seed": None}, r"without a seed.*Write seed=1"),
        ({"label_mode": "binary"}, r"for two classes, and there are 3: \['ant', 'bee', 'cat'\]"),
        ({"class_names": ["ant", "dog"]}, r"class_names=\['ant', 'dog'\], but the sub-folders .*'cat'\]"),
        ({"class_names": ["ant", "ant"]}, r"each once"),
        ({"class_names": ["ant"], "labels": None}, r"class_names=\['ant'\] says how sub-folders become labels"),
        ({"labels": [0, 1]}, r"2 labels for 15 images"),
        ({"labels": "guess"}, r"labels='guess'\. Expected \"inferred\", None, or a list"),
        ({"labels": [0.5] * 15}, r"a list of whole numbers"),
        ({"labels": [7] * 15, "label_mode": "categorical"}, r"1 different labels, from 7 to 7\. Expected 0 to 0"),
        ({"crop_to_aspect_ratio": True, "pad_to_aspect_ratio": True}, r"are both True\. Expected one of them"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_read(folder, options, message):
    with pytest.raises(ValueError, match=message):
        make_dataset(folder, **options)
