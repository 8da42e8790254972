import jax
import numpy as np
import pytest

from unisono._src.devices import Placement
from unisono._src.devices._shared_memory import release_memory, share_host_memory
from unisono._src.devices._upload import upload


@pytest.fixture
def placement() -> Placement:
    return Placement.over(jax.devices("cpu")[:3])


@pytest.mark.parametrize("offset", range(0, 80, 16))
def test_cpu_devices_share_one_piece_of_memory(placement: Placement, offset: int) -> None:
    array = np.arange(4096, dtype="float32")[offset // 4 :]
    shared = share_host_memory(array, placement.replicated).array
    assert shared.is_fully_replicated
    assert len({shard.data.unsafe_buffer_pointer() for shard in shared.addressable_shards}) == 1
    np.testing.assert_array_equal(shared, array)


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint8", "bool"])
def test_shared_copies_have_the_dtype_that_jax_gives_them(placement: Placement, dtype: str) -> None:
    array = np.ones((3, 5), dtype)
    shared = share_host_memory(array[:, ::2], placement.replicated).array
    assert shared.dtype == jax.numpy.asarray(array).dtype
    np.testing.assert_array_equal(shared, array[:, ::2])


def test_shared_memory_that_is_donated_stays_as_it_was(placement: Placement) -> None:
    array = np.zeros(4096, "float32")
    jax.jit(lambda x: x + 1, donate_argnums=0)(share_host_memory(array, placement.replicated).array).block_until_ready()
    np.testing.assert_array_equal(array, 0)


@pytest.mark.parametrize("rows", [3, 1000])
def test_an_upload_in_parts_gives_the_whole_array(
    placement: Placement, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unisono._src.devices._upload._LARGE", 1000)
    array = np.random.default_rng(0).normal(size=(rows, 7)).astype("float32")
    uploaded = upload(array, placement.replicated)
    assert uploaded.sharding.device_set == set(placement.devices)
    np.testing.assert_array_equal(uploaded, array)


def misaligned_array(value: float) -> np.ndarray:
    """An array of 1.2 MB that does not begin where XLA wants it, so that it has to be copied."""
    memory = np.zeros(600 * 500 * 4 + 128, np.uint8)
    begin = -memory.ctypes.data % 64 + 16
    array = memory[begin : begin + 600 * 500 * 4].view("float32").reshape(600, 500)
    array[...] = value
    return array


def test_released_memory_is_used_by_the_next_copy(placement: Placement) -> None:
    first = share_host_memory(misaligned_array(1), placement.replicated)
    release_memory(first)
    second = share_host_memory(misaligned_array(2), placement.replicated)
    third = share_host_memory(misaligned_array(3), placement.replicated)
    assert first.memory is not None
    assert second.memory is first.memory
    assert third.memory is not first.memory
    assert float(second.array.min()) == float(second.array.max()) == 2.0
    assert float(third.array.min()) == 3.0
