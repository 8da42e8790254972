"""What is committed comes back as it was."""

import math
import os
import stat
import time

import ml_dtypes
import numpy as np
import pytest

from unisono._src.state.store import commit, load

pytestmark = pytest.mark.slow

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble"),
    *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_an_array_of_any_dtype_and_shape_comes_back_bit_for_bit(tmp_path, dtype):
    draw = np.random.default_rng(0)
    shapes = [(), (0,), (3, 0, 2), (5,), (2, 3, 4)]
    arrays = {str(shape): draw.integers(0, 2, shape).astype(dtype) for shape in shapes}
    commit(tmp_path / "c", arrays=arrays)
    for name, found in load(tmp_path / "c").arrays.items():
        array = arrays[name]
        assert (found.dtype, found.shape, found.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_every_bit_pattern_of_a_float_survives(tmp_path):
    bits = np.arange(1 << 16, dtype=np.uint16)
    commit(tmp_path / "c", arrays={"half": bits.view(np.float16), "brain": bits.view(ml_dtypes.bfloat16)})
    found = load(tmp_path / "c").arrays
    assert np.array_equal(found["half"].view(np.uint16), bits)
    assert np.array_equal(found["brain"].view(np.uint16), bits)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::3],
        np.arange(12.0)[::-1],
        np.broadcast_to(np.float32(3), (4, 5)),
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)),
        np.float64(2.5),
    ],
    ids=["transposed", "strided", "reversed", "broadcast", "big-endian", "bfloat16 by columns", "a scalar"],
)
def test_the_values_count_and_not_their_memory_layout(tmp_path, array):
    commit(tmp_path / "c", arrays={"x": array})
    found = load(tmp_path / "c").arrays["x"]
    assert np.array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")


def test_a_contiguous_array_is_not_copied_on_the_way_to_the_file():
    from unisono._src.state.store._dtypes import to_safetensors, to_storable

    for dtype in (np.float32, ml_dtypes.bfloat16, np.complex64):
        array = np.zeros((4, 5), dtype)
        assert np.shares_memory(to_safetensors(to_storable("x", array)), array)


def test_loaded_arrays_are_writable_and_share_nothing(tmp_path):
    commit(tmp_path / "c", arrays={"x": np.zeros(3), "y": np.zeros(3, ml_dtypes.bfloat16)})
    first, second = load(tmp_path / "c").arrays, load(tmp_path / "c").arrays
    for name in ("x", "y"):
        first[name][:] = 7
        assert not second[name].any()
    assert not load(tmp_path / "c").arrays["x"].any()


def test_names_are_keys_and_not_paths_and_keep_their_order(tmp_path):
    names = ["z", "dense/kernel", "../../etc/passwd", "/absolute", "", ".", "größe\n🎈", "$x", "a" * 3000, "\0"]
    commit(tmp_path / "ckpt" / "c", arrays={name: np.full(2, index) for index, name in enumerate(names)})
    found = load(tmp_path / "ckpt" / "c").arrays
    assert list(found) == names
    assert [int(array[0]) for array in found.values()] == list(range(len(names)))
    assert os.listdir(tmp_path) == ["ckpt"]


def test_a_state_comes_back_with_its_types(tmp_path):
    state = {
        "floats": [0.1, -0.0, 1e308, 5e-324, math.inf, -math.inf],
        "whole": [0, -1, 2**200, True, False],
        "text": ["", "é", "🎈", "\ud800", "\0", "NaN"],
        "none": None,
        "nested": {"": {}, "list": [[], [[]]]},
        "$float": "nan",
        "$$": {"$float": math.inf},
        "__float__": 1,
    }
    commit(tmp_path / "c", arrays={}, state=state)
    found = load(tmp_path / "c").state
    assert repr(found) == repr(state)


def test_nan_comes_back_as_nan(tmp_path):
    commit(tmp_path / "c", arrays={}, state=[math.nan, np.float64("nan"), {"$float": "nan"}])
    first, second, third = load(tmp_path / "c").state
    assert math.isnan(first)
    assert math.isnan(second)
    assert third == {"$float": "nan"}


def test_step_info_and_time_come_back(tmp_path):
    before = time.time() - 0.001  # it is rounded
    commit(tmp_path / "c", arrays={}, step=np.int64(7), info={"jax": "0.10.2", "kept": "best val_loss"})
    stored = load(str(tmp_path / "c"))
    assert stored.step == 7
    assert stored.info["kept"] == "best val_loss"
    assert stored.info.keys() == {"python", "numpy", "safetensors", "jax", "kept"}
    assert before <= stored.written <= time.time() + 0.001
    assert stored.folder == tmp_path / "c"
    assert stored.state is None


def test_a_folder_may_have_any_name_that_the_system_allows(tmp_path):
    folder = tmp_path / os.fsdecode(b"not UTF-8 \xff") / "new\nline 🎈"
    for state in (1, 2):
        commit(folder, arrays={"x": np.zeros(3)}, state=state)
        assert load(folder).state == state


def test_the_arrays_are_as_readable_as_the_state(tmp_path):
    commit(tmp_path / "ckpt" / "c", arrays={"x": np.zeros(3)})
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "ckpt" / "c").iterdir()}
    (tmp_path / "plain").touch()
    assert modes == {stat.S_IMODE((tmp_path / "plain").stat().st_mode)}


def test_an_array_of_many_megabytes_comes_back(tmp_path):
    array = np.random.default_rng(1).integers(0, 255, 30 << 20, np.uint8)
    commit(tmp_path / "c", arrays={"x": array})
    assert np.array_equal(load(tmp_path / "c").arrays["x"], array)
