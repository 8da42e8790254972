"""`keras.datasets` with files of this machine."""

from pathlib import Path

import keras
import pytest

from unisono._src.datasets import prefer_local_datasets

from .conftest import small_arrays, write_npz
from .test_local import assert_small, debian


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """The arguments of what would have been downloads, with `prefer_local_datasets` installed before them."""
    downloads: list[tuple[object, ...]] = []

    def download(*args, **kwargs):
        downloads.append((args, kwargs))
        return small_arrays()

    for name in ("mnist", "fashion_mnist"):
        monkeypatch.setattr(getattr(keras.datasets, name), "load_data", download)
    prefer_local_datasets()
    return downloads


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_a_local_file_comes_before_a_download(
    home: Path, monkeypatch: pytest.MonkeyPatch, downloads: list[tuple[object, ...]], name: str
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home))
    write_npz(home / f"{name}.npz")
    assert_small(getattr(keras.datasets, name).load_data())
    assert downloads == []


def test_the_name_for_keras_cache_may_be_given(home: Path, downloads: list[tuple[object, ...]]) -> None:
    assert len(keras.datasets.mnist.load_data(path="mnist-0.npz")[0][0]) == 60000
    assert downloads == []


@debian
def test_without_a_local_file_keras_does_what_it_always_did(home: Path, downloads: list[tuple[object, ...]]) -> None:
    assert_small(keras.datasets.fashion_mnist.load_data())
    assert downloads == [((), {})]
