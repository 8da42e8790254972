from __future__ import annotations

import numpy as np

from unisono.data import TensorSpec


def test_dtypes_may_be_spelled_in_any_way() -> None:
    assert TensorSpec((2,), "float32") == TensorSpec([2], np.float32) == TensorSpec((2,), np.dtype("f4"))
    assert TensorSpec((2,)).dtype == np.float32


def test_specs_can_be_keys() -> None:
    assert len({TensorSpec((None, 3)), TensorSpec((None, 3)), TensorSpec((2, 3))}) == 2


def test_a_name_is_shown_when_there_is_one() -> None:
    assert repr(TensorSpec((), "int32", name="y")) == "TensorSpec(shape=(), dtype=int32, name='y')"
