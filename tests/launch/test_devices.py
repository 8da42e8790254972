"""--devices: which worker gets which devices."""

import pytest

from unisono_launch.launch._devices import MachineDevices, count_workers, find_devices
from unisono_launch.launch._options import UsageError


def shares(asked: str, workers: int, environ: dict[str, str], root) -> list[dict[str, str]]:
    devices = find_devices(asked, environ, root)
    size = count_workers(devices, workers)
    return [devices.variables(rank, size, environ) for rank in range(size)]


FOUR_GPUS = {"CUDA_VISIBLE_DEVICES": "0,1,2,3"}


def test_named_gpus_are_divided(tmp_path):
    divided = [{"CUDA_VISIBLE_DEVICES": "0,1"}, {"CUDA_VISIBLE_DEVICES": "2,3"}]
    assert shares("gpu:0,1,2,3", 2, FOUR_GPUS, tmp_path) == divided


@pytest.mark.parametrize("file", ["dxg", "nvhost-gpu", "kfd"])
def test_gpus_that_cannot_be_counted_are_left_to_jax(tmp_path, file):
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev" / file).touch()
    assert shares("gpu:0", 1, {}, tmp_path) == [{"CUDA_VISIBLE_DEVICES": "0"}]


def test_gpu_numbers_are_positions_among_the_visible_ones(tmp_path):
    environ = {"CUDA_VISIBLE_DEVICES": "4,GPU-8f1,6"}
    assert shares("gpu:2,1", 2, environ, tmp_path) == [
        {"CUDA_VISIBLE_DEVICES": "6"},
        {"CUDA_VISIBLE_DEVICES": "GPU-8f1"},
    ]


def test_auto_divides_all(tmp_path):
    assert shares("auto", 2, {"CUDA_VISIBLE_DEVICES": "4,5"}, tmp_path) == [
        {"CUDA_VISIBLE_DEVICES": "4"},
        {"CUDA_VISIBLE_DEVICES": "5"},
    ]


def test_without_a_gpu_several_workers_get_a_cpu_each(tmp_path):
    first, second = shares("auto", 2, {}, tmp_path)
    assert first == second
    assert (first["JAX_PLATFORMS"], first["UNISONO_CPU_DEVICES"]) == ("cpu", "1")


def test_without_a_gpu_what_the_shell_says_about_cpus_counts(tmp_path):
    assert shares("auto", 2, {"UNISONO_CPU_DEVICES": "3"}, tmp_path)[0]["UNISONO_CPU_DEVICES"] == "3"


def test_one_worker_is_left_to_jax(tmp_path):
    assert shares("auto", 1, {}, tmp_path) == [{}]


def test_every_worker_gets_so_many_cpu_devices_and_threads_for_them(tmp_path):
    for variables in shares("cpu:8", 2, {"UNISONO_CPU_DEVICES": "3", "NPROC": "5"}, tmp_path):
        assert variables["UNISONO_CPU_DEVICES"] == "8"
        assert variables["JAX_PLATFORMS"] == "cpu"
        assert int(variables["NPROC"]) >= 16


def test_more_threads_than_needed_stay(tmp_path):
    assert shares("cpu:2", 1, {"NPROC": "777"}, tmp_path)[0]["NPROC"] == "777"


def test_gpus_win_over_what_is_left_in_the_shell(tmp_path):
    assert shares("gpu:0", 1, FOUR_GPUS | {"JAX_PLATFORMS": "cpu"}, tmp_path)[0]["JAX_PLATFORMS"] == ""


@pytest.mark.parametrize("number", ["auto", "gpu"])
def test_one_worker_for_each_gpu(number):
    assert count_workers(MachineDevices(kind="gpu", gpus=("0", "1")), number) == 2


def test_auto_without_a_gpu_is_one_worker():
    assert count_workers(MachineDevices(kind="as found"), "auto") == 1


@pytest.mark.parametrize(
    ("asked", "workers", "message"),
    [
        ("gpu:0,1,2,3", 3, r"4 GPUs \(0, 1, 2, 3\) cannot be divided evenly among 3 workers. Give -n 1 or 2 or 4"),
        ("gpu:0,1", 4, r"2 GPUs \(0, 1\) cannot be divided evenly among 4 workers. Give -n 1 or 2"),
        ("gpu:0,0", 1, "names GPU 0 twice"),
        ("gpu:", 1, "--devices gpu: is not a choice of devices. Write cpu:2, gpu:0,1 or auto."),
        ("cpu:0", 1, "--devices cpu:0 is not a choice of devices"),
        ("tpu", 1, "--devices tpu is not a choice of devices"),
        ("auto", "gpu", "no GPU is visible here. Give a number, as in -n 2 --devices cpu:1"),
    ],
)
def test_what_cannot_be_divided_is_refused(tmp_path, asked, workers, message):
    with pytest.raises(UsageError, match=message):
        shares(asked, workers, FOUR_GPUS if asked.startswith("gpu") else {}, tmp_path)


@pytest.mark.parametrize("environ", [{}, {"CUDA_VISIBLE_DEVICES": ""}])
@pytest.mark.parametrize("asked", ["gpu", "gpu:0,1"])
def test_gpus_on_a_machine_without_any_are_refused(tmp_path, asked, environ):
    with pytest.raises(UsageError, match=f"--devices {asked}: no GPU is visible here. Use CPUs: --devices cpu:1"):
        shares(asked, 1, environ, tmp_path)


def test_a_gpu_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"there is no GPU 2. Visible are 2 \(4, 5\), so write gpu:0,1 for all"):
        shares("gpu:0,2", 1, {"CUDA_VISIBLE_DEVICES": "4,5"}, tmp_path)
