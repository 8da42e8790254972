"""`tfds.load` as tutorials call it."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf
import unisono.tfds as tfds


def first_pixels(dataset: tf.data.Dataset) -> list[int]:
    """The first pixel of each image, by which the rows of the small MNIST differ."""
    return [int(image[0, 0, 0]) for image, _ in dataset]


def test_all_splits_come_by_name_with_their_info(small: Path) -> None:
    datasets, info = tfds.load(name="mnist", with_info=True, as_supervised=True)
    assert list(datasets) == ["train", "test"]
    assert isinstance(datasets["train"], tf.data.Dataset)
    assert first_pixels(datasets["train"]) == list(range(20))
    assert (info.splits["train"].num_examples, info.splits["test"].num_examples) == (20, 10)
    assert info.splits.total_num_examples == 30
    assert info.splits["train[:25%]+test"].num_examples == 15
    assert (info.name, info.version, info.full_name) == ("mnist", "3.0.1", "mnist/3.0.1")
    assert info.features["label"].num_classes == 10
    assert info.features["label"].int2str(7) == "7"
    assert info.features.shape == {"image": (28, 28, 1), "label": ()}
    assert info.features["image"].dtype == tf.uint8
    assert info.supervised_keys == ("image", "label")
    assert "digits" in info.description
    assert "LeCun" in info.citation


def test_elements_are_dicts_or_pairs_of_bytes_and_int64(small: Path) -> None:
    element = next(iter(tfds.load("mnist", split="test")))
    assert {name: (value.shape, value.dtype) for name, value in element.items()} == {
        "image": ((28, 28, 1), tf.uint8),
        "label": ((), tf.int64),
    }
    image, label = next(iter(tfds.load("mnist", split="test", as_supervised=True)))
    assert (image.numpy()[0, 0, 0], label.numpy()) == (20, 0)


@pytest.mark.parametrize("name", ["mnist", "mnist:3.*.*", "mnist:3.0.1"])
def test_a_name_may_have_a_version(small: Path, name: str) -> None:
    assert len(tfds.load(name, split=tfds.Split.TRAIN)) == 20


def test_splits_may_be_lists_and_parts(small: Path) -> None:
    train, valid = tfds.load("mnist", split=["train[:80%]", "train[80%:]"], as_supervised=True)
    assert (len(train), first_pixels(valid)) == (16, [16, 17, 18, 19])
    joined = tfds.load("mnist", split="train[-2:]+test[:1]", as_supervised=True)
    assert first_pixels(joined) == [18, 19, 20]
    by_name = tfds.load("mnist", split={"a": "all", "b": ("test",)}, as_supervised=True)
    assert (len(by_name["a"]), len(by_name["b"][0])) == (30, 10)
    with pytest.raises(ValueError, match=r"'train\[5:5\]' of mnist has no rows. Its splits have {'train': 20, 'test'"):
        tfds.load("mnist", split="train[5:5]")
    with pytest.raises(TypeError, match=r"a split is text such as 'train\[:80%\]'"):
        tfds.load("mnist", split=3)


def test_batches_and_whole_splits(small: Path) -> None:
    assert [len(batch["label"]) for batch in tfds.load("mnist", split="train", batch_size=8)] == [8, 8, 4]
    images, labels = tfds.load("mnist", split="train", batch_size=-1, as_supervised=True)
    assert images.shape.as_list() == [20, 28, 28, 1]
    assert labels.numpy().tolist() == [*range(10), *range(10)]
    whole = tfds.as_numpy(tfds.load("mnist", batch_size=-1))
    assert type(whole["test"]["image"]) is np.ndarray
    assert whole["test"]["label"].dtype == np.int64


def test_as_numpy_can_be_read_again_and_again(small: Path) -> None:
    rows = tfds.as_numpy(tfds.load("mnist", split="test", as_supervised=True))
    assert len(rows) == 10
    for _ in range(2):
        image, label = next(iter(rows))
        assert type(image) is np.ndarray
        assert (image.shape, label, type(label)) == ((28, 28, 1), 0, np.int64)
    both = tfds.as_numpy(tfds.load("mnist", split=["train", "test"]))
    assert [len(part) for part in both] == [20, 10]
    assert tfds.as_numpy({"a": [tf.constant(1.5)]}) == {"a": [np.float32(1.5)]}


def test_a_map_written_for_tensorflow_runs(small: Path) -> None:
    def scale(image: Any, label: Any) -> Any:
        image = tf.cast(image, tf.float32)
        image /= 255
        return image, label

    images, _ = next(iter(tfds.load("mnist", split="train", as_supervised=True).map(scale).batch(20)))
    np.testing.assert_allclose(images[:, 0, 0, 0], np.arange(20, dtype=np.float32) / 255, rtol=1e-6)


def test_a_builder_does_the_same_step_by_step(small: Path) -> None:
    builder = tfds.builder("mnist")
    builder.download_and_prepare()
    assert (builder.name, builder.version, builder.info.splits["train"].num_examples) == ("mnist", "3.0.1", 20)
    assert len(builder.as_dataset(split="test", shuffle_files=True)) == 10


def test_data_dir_comes_before_other_folders(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNISONO_DATASETS")
    assert len(tfds.load("mnist", split="test", data_dir="~", download=False)) == 10
    assert len(tfds.load("mnist", split="test", data_dir="gs://somewhere", try_gcs=True)) == 10000, "the clone's"


def test_progress_bars_can_be_switched(small: Path) -> None:
    tfds.disable_progress_bar()
    tfds.enable_progress_bar()


def test_what_there_is_not_is_said() -> None:
    assert tfds.list_builders() == ["cifar10", "cifar100", "fashion_mnist", "mnist"]
    with pytest.raises(tfds.DatasetNotFoundError, match=r"It has cifar10, cifar100, fashion_mnist, mnist. Read any"):
        tfds.load("imdb_reviews")
    with pytest.raises(tfds.DatasetNotFoundError, match=r"There is no version 1.0.0 of mnist, only 3.0.1"):
        tfds.load("mnist:1.0.0")
    with pytest.raises(AttributeError, match=r"tensorflow_datasets.ReadConfig is not available"):
        tfds.ReadConfig  # noqa: B018
    with pytest.raises(NotImplementedError, match=r"decoders=3 is not supported. Leave it out"):
        tfds.builder("mnist").as_dataset(decoders=3)


def failing_download(*args: Any, **kwargs: Any) -> Any:
    raise Exception("URL fetch failure on https://example.invalid")


@pytest.mark.skipif(Path("/usr/share/datasets/fashion-mnist").exists(), reason="Debian's dataset-fashion-mnist is here")
def test_offline_and_without_files_the_error_says_where_to_put_which(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keras.datasets.fashion_mnist, "load_data", failing_download)
    with pytest.raises(FileNotFoundError) as error:
        tfds.load("fashion_mnist")
    assert f"\n    {small}/.keras/datasets\n" in str(error.value)
    assert "Keras could not download fashion_mnist: URL fetch failure" in str(error.value)
    with pytest.raises(FileNotFoundError) as error:
        tfds.load("fashion_mnist", download=False)
    assert "could not download" not in str(error.value)


@pytest.mark.parametrize(("name", "file"), [("cifar10", "cifar-10-batches-py"), ("cifar100", "cifar-100-python")])
def test_cifar_is_what_keras_reads(small: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str) -> None:
    def load_data(label_mode: str = "fine") -> Any:
        images, labels = np.zeros((4, 32, 32, 3), np.uint8), np.arange(4, dtype=np.uint8)[:, None]
        labels = labels // 2 if label_mode == "coarse" else labels
        return (images, labels), (images[:2], labels[:2])

    with pytest.raises(
        FileNotFoundError, match=rf"Save https://\S+.tar.gz as {small}/.keras/datasets/{file}-target_arch"
    ):
        tfds.load(name, download=False)
    monkeypatch.setattr(getattr(keras.datasets, name), "load_data", load_data)
    datasets, info = tfds.load(name, with_info=True)
    element = list(datasets["train"])[3]
    assert (element["id"].numpy(), element["label"].numpy()) == (b"train_00003", 3)
    assert element["image"].shape == (32, 32, 3)
    assert list(element) == list(info.features)
    if name == "cifar100":
        assert (element["coarse_label"].numpy(), info.features["coarse_label"].num_classes) == (1, 20)
        assert info.features["label"].int2str(99) == "worm"
    monkeypatch.setattr(getattr(keras.datasets, name), "load_data", failing_download)
    with pytest.raises(FileNotFoundError, match=f"Keras could not download {name}"):
        tfds.load(name)
