"""Which files are found, and what is said where there are none."""

from pathlib import Path

import numpy as np
import pytest

from unisono._src import datasets
from unisono_launch.worker import dataset_folders

from .conftest import idx, small_arrays, write_idx, write_npz

debian = pytest.mark.skipif(
    Path("/usr/share/datasets/fashion-mnist").exists(), reason="this machine has Debian's dataset-fashion-mnist"
)


def assert_small(found: datasets.Arrays) -> None:
    for (images, labels), (expected_images, expected_labels) in zip(found, small_arrays(), strict=True):
        np.testing.assert_array_equal(images, expected_images)
        np.testing.assert_array_equal(labels, expected_labels)


def test_mnist_of_the_clone_is_found() -> None:
    (x, y), (x_test, y_test) = datasets.mnist()
    assert (x.shape, y.shape, x_test.shape, y_test.shape) == ((60000, 28, 28), (60000,), (10000, 28, 28), (10000,))
    assert y[:5].tolist() == [5, 0, 4, 1, 9]


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
@pytest.mark.parametrize("layout", ["npz", "idx", "idx.gz"])
def test_a_file_in_any_layout_is_read(home: Path, monkeypatch: pytest.MonkeyPatch, name: str, layout: str) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home / "data"))
    if layout == "npz":
        write_npz(home / "data" / f"{name}.npz")
    else:
        write_idx(home / "data" / name.replace("_", "-"), compressed=layout == "idx.gz")
    assert_small(getattr(datasets, name)())


def test_folders_are_tried_in_order(home: Path) -> None:
    folders = dataset_folders({"UNISONO_DATASETS": "/mine", "HOME": str(home)})
    clone = Path(__file__).parents[2] / "examples/data"
    assert folders == [Path("/mine"), clone, home / ".keras/datasets", Path("/usr/share/datasets")]
    assert dataset_folders({"KERAS_HOME": "/keras"})[-2] == Path("/keras/datasets")


def test_what_keras_has_downloaded_is_found(home: Path) -> None:
    write_idx(home / ".keras/datasets/fashion-mnist", compressed=True)
    assert_small(datasets.fashion_mnist())


def test_a_folder_that_is_named_comes_first_and_the_others_still_count(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home / "data"))
    assert len(datasets.mnist()[0][0]) == 60000, "that of the clone"
    write_npz(home / "data/mnist.npz")
    assert_small(datasets.mnist())
    write_npz(home / "other/mnist.npz")
    assert_small(datasets.read_local_dataset("mnist", home / "other"))


@debian
def test_without_files_the_error_says_where_to_put_which(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home / "data"))
    write_idx(home / "data/fashion-mnist", compressed=True)
    (home / "data/fashion-mnist/t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError) as error:
        datasets.read_local_dataset("fashion_mnist")
    text = str(error.value)
    assert "fashion_mnist.npz (arrays x_train, y_train, x_test, y_test)" in text
    assert "a folder fashion-mnist/ with train-images-idx3-ubyte.gz" in text
    assert all(f"\n    {folder}\n" in text for folder in dataset_folders())
    assert "apt install dataset-fashion-mnist" in text


def test_a_file_that_lacks_arrays_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home))
    np.savez(home / "mnist.npz", x_train=np.zeros(1), y_train=np.zeros(1))
    with pytest.raises(ValueError, match=r"mnist.npz has no x_test and no y_test. It has x_train, y_train."):
        datasets.mnist()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<html>", "is no IDX file of bytes: it begins with 3c 68 74 6d"),
        (b"", "is no IDX file of bytes"),
        (idx(np.zeros((3, 28, 28), np.uint8))[:-1], r"array of the shape \(3, 28, 28\) and has 2367 bytes"),
        (idx(np.zeros(3, np.uint8))[:6], "has 6 bytes"),
    ],
)
def test_a_file_that_is_damaged_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, message: str
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home))
    write_idx(home / "mnist", compressed=False)
    (home / "mnist/train-images-idx3-ubyte").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        datasets.mnist()
