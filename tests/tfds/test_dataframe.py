"""`tfds.as_dataframe`: elements as rows, with pandas if it is installed."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import unisono.tf as tf
import unisono.tfds as tfds
from unisono.tfds._dataframe import to_row

DATA = tf.data.Dataset.from_tensor_slices({"label": [1, 2], "user": {"age": [30, 40]}})


def test_elements_are_rows_of_columns() -> None:
    rows = [to_row(element) for element in tfds.as_numpy(DATA)]
    assert rows == [{"label": 1, "user/age": 30}, {"label": 2, "user/age": 40}]
    assert to_row((np.zeros(2), 3), ("image", "label"))["label"] == 3
    assert list(to_row((1, (2, 3)))) == ["0", "1/0", "1/1"]
    assert to_row(5) == {"": 5}


@pytest.mark.skipif(importlib.util.find_spec("pandas") is not None, reason="pandas is installed")
def test_without_pandas_it_says_what_to_install() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"pip install pandas.*tfds\.as_numpy\(dataset\)"):
        tfds.as_dataframe(DATA)


def test_with_pandas_it_is_a_dataframe() -> None:
    pytest.importorskip("pandas")
    frame = tfds.as_dataframe(DATA.map(lambda x: (x["label"], x["label"])), SimpleNamespace(supervised_keys=("a", "b")))
    assert list(frame.columns) == ["a", "b"]
    assert frame["b"].tolist() == [1, 2]
