"""`keras.datasets` with files of this machine, after `import unisono.tf`."""

from collections.abc import Callable
from pathlib import Path

import keras
import pytest

import unisono.tf

from .conftest import write_idx, write_npz
from .test_local import assert_small, debian


@pytest.fixture
def downloads(home: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files that Keras would have downloaded; it gets small ones."""
    downloads: list[str] = []

    def download_to(folder: Path) -> Callable[..., str]:
        def get_file(name: str, **kwargs: object) -> str:
            downloads.append(name)
            return str(folder / name)

        return get_file

    monkeypatch.setattr("keras.src.datasets.mnist.get_file", download_to(home / "downloads"))
    monkeypatch.setattr("keras.src.datasets.fashion_mnist.get_file", download_to(home / "downloads"))
    return downloads


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_a_local_file_comes_before_a_download(
    home: Path, monkeypatch: pytest.MonkeyPatch, downloads: list[str], name: str
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home))
    write_npz(home / f"{name}.npz")
    assert_small(getattr(keras.datasets, name).load_data())
    assert downloads == []


def test_the_name_for_keras_cache_may_be_given(downloads: list[str]) -> None:
    assert len(keras.datasets.mnist.load_data(path="mnist-0.npz")[0][0]) == 60000
    assert downloads == []


@debian
def test_without_a_local_file_keras_downloads(home: Path, downloads: list[str]) -> None:
    write_idx(home / "downloads", compressed=True)
    assert_small(keras.datasets.fashion_mnist.load_data())
    assert len(downloads) == 4


@debian
def test_what_unisono_loads_is_downloaded_by_keras_if_it_is_not_here(home: Path, downloads: list[str]) -> None:
    write_idx(home / "downloads", compressed=True)
    assert_small(unisono.datasets.fashion_mnist())
    assert len(downloads) == 4


@debian
def test_without_files_and_network_the_error_says_where_to_put_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_file(name: str, **kwargs: object) -> str:
        raise Exception("URL fetch failure: no route to host")  # as Keras raises it

    monkeypatch.setattr("keras.src.datasets.fashion_mnist.get_file", get_file)
    with pytest.raises(
        FileNotFoundError, match=r"(?s)not download fashion_mnist: .* no route.*\nPut one of them there,"
    ):
        unisono.datasets.fashion_mnist()
