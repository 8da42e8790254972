"""`as_dataframe`: the elements of a dataset as rows of a pandas DataFrame."""

from __future__ import annotations

import importlib
from typing import Any

from unisono.tfds._numpy import as_numpy

NO_PANDAS = """tfds.as_dataframe needs the package pandas: pip install pandas. Without it, tfds.as_numpy(dataset) gives
the same values as NumPy arrays."""


def as_dataframe(ds: Any, ds_info: Any = None) -> Any:
    """A DataFrame with a row for each element. Reads the whole dataset: write `dataset.take(10)` for a look at it.

    Args:
        ds: a dataset of dicts, tuples or arrays. Nested names are joined: "user/name".
        ds_info: the info that `tfds.load(with_info=True)` returns, for the names of the columns of pairs.
    """
    try:
        pandas: Any = importlib.import_module("pandas")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(NO_PANDAS, name="pandas") from error
    keys = getattr(ds_info, "supervised_keys", None)
    return pandas.DataFrame([to_row(element, keys) for element in as_numpy(ds)])


def to_row(element: Any, supervised_keys: tuple[str, ...] | None = None) -> dict[str, Any]:
    """The values of an element by the names of their columns.

    >>> to_row({"user": {"name": b"a"}, "age": 3})
    {'user/name': b'a', 'age': 3}
    >>> to_row((1, 2), ("image", "label"))
    {'image': 1, 'label': 2}
    """
    if isinstance(element, tuple | list):
        named = supervised_keys is not None and len(supervised_keys) == len(element)
        names = supervised_keys if supervised_keys is not None and named else map(str, range(len(element)))
        element = dict(zip(names, element, strict=True))
    if not isinstance(element, dict):
        return {"": element}
    row: dict[str, Any] = {}
    for name, value in element.items():
        if isinstance(value, dict | tuple | list):
            row |= {f"{name}/{inner}": each for inner, each in to_row(value).items()}
        else:
            row[name] = value
    return row
