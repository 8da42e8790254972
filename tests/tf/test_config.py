"""`tf.config`: devices and switches. Settings that have to precede JAX's start are tested in separate processes."""

import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import pytest

import unisono.tf as tf
from unisono._src.devices import is_deterministic
from unisono.tf.config import _execution


def run(program: str, **environment: str) -> str:
    """What a program prints in a process in which JAX has not started."""
    kept = {name: value for name, value in os.environ.items() if name not in ("UNISONO_CPU_DEVICES", "NPROC")}
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_devices_are_listed() -> None:
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert cpu == tf.config.PhysicalDevice(name="/physical_device:CPU:0", device_type="CPU")
    assert cpu in tf.config.list_physical_devices()
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices("TPU") == []
    logical = tf.config.list_logical_devices("CPU")
    assert logical[1] == tf.config.LogicalDevice(name="/device:CPU:1", device_type="CPU")
    assert len(logical) == len(jax.devices("cpu"))
    assert tf.config.get_visible_devices("CPU") == tf.config.experimental.get_visible_devices("CPU") == [cpu]
    assert tf.config.experimental.list_physical_devices("CPU") == [cpu]
    assert tf.config.experimental.list_logical_devices("CPU") == logical
    assert tf.config.experimental.get_device_details(cpu) == {}


def test_changing_devices_after_jax_has_started_is_a_runtime_error() -> None:
    jnp.zeros(1)
    (cpu,) = tf.config.list_physical_devices("CPU")
    with pytest.raises(RuntimeError, match="JAX has already started with 8 CPU"):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(cpu, "CPU")
    tf.config.experimental.set_visible_devices([cpu])
    with pytest.raises(ValueError, match="cannot be hidden"):
        tf.config.set_visible_devices([], "CPU")
    with pytest.raises(ValueError, match="is not a GPU"):
        tf.config.set_visible_devices(cpu, "GPU")
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    with pytest.raises(ValueError, match="is none of"):
        tf.config.set_visible_devices(gpu, "GPU")
    with pytest.raises(ValueError, match="is none of"):
        tf.config.set_logical_device_configuration(gpu, None)
    with pytest.raises(ValueError, match="memory_limit cannot be set on CPU"):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration(memory_limit=1)])
    with pytest.warns(UserWarning, match="JAX has started"):
        tf.config.experimental.set_memory_growth(gpu, True)
    assert tf.config.experimental.get_memory_growth(gpu)
    tf.config.experimental.set_memory_growth(gpu, False)
    with pytest.raises(ValueError, match="expected a GPU"):
        tf.config.experimental.set_memory_growth(cpu, True)


@pytest.mark.full
def test_logical_cpus_can_be_created_after_devices_were_listed() -> None:
    printed = run(
        """
        import unisono.tf as tf

        print(tf.config.list_physical_devices("GPU"), len(tf.config.list_logical_devices("CPU")))
        (cpu,) = tf.config.list_physical_devices("CPU")
        print(tf.config.get_logical_device_configuration(cpu))
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        print(len(tf.config.get_logical_device_configuration(cpu)), len(tf.config.list_logical_devices()))
        tf.config.experimental.set_virtual_device_configuration(
            cpu, [tf.config.experimental.VirtualDeviceConfiguration()] * 3
        )
        print(len(tf.config.experimental.get_virtual_device_configuration(cpu)))
        print(tf.distribute.MirroredStrategy().num_replicas_in_sync)
        """,
        CUDA_VISIBLE_DEVICES="-1",
    )
    assert printed.split("\n")[:-1] == ["[] 1", "None", "2 2", "3", "3"]


@pytest.mark.full
def test_the_environment_says_how_many_cpus_there_are() -> None:
    printed = run("import unisono.tf as tf; print(len(tf.config.list_logical_devices('CPU')))", UNISONO_CPU_DEVICES="4")
    assert printed == "4\n"


@pytest.mark.slow
def test_gpus_are_counted_hidden_and_chosen_before_jax_starts() -> None:
    printed = run(
        """
        import os
        import warnings

        import jax

        import unisono._src.devices._physical as physical
        import unisono.tf as tf

        physical._has_gpu_plugin = lambda: True  # as if JAX for CUDA was installed
        gpus = tf.config.list_physical_devices("GPU")
        print([gpu.name for gpu in gpus], tf.config.experimental.get_memory_growth(gpus[0]))
        tf.config.experimental.set_memory_growth(gpus[0], True)
        print(os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"], tf.config.experimental.get_memory_growth(gpus[0]))
        try:
            tf.config.set_logical_device_configuration(gpus[0], [tf.config.LogicalDeviceConfiguration(1024)] * 2)
        except RuntimeError as error:
            print(str(error).partition(": ")[0])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration(1024)])
        print(str(caught[0].message).partition(": ")[0])
        tf.config.set_visible_devices(gpus[1], "GPU")
        print(jax.config.values["jax_cuda_visible_devices"], tf.config.get_visible_devices("GPU") == [gpus[1]])
        print(len(tf.config.list_physical_devices("GPU")), tf.config.list_logical_devices("GPU"))
        tf.config.set_visible_devices([], "GPU")
        print(jax.config.jax_platforms, tf.config.get_visible_devices("GPU"), tf.config.list_logical_devices("GPU"))
        """,
        CUDA_VISIBLE_DEVICES="0,1",
        JAX_PLATFORMS="",
    )
    assert printed.splitlines() == [
        "['/physical_device:GPU:0', '/physical_device:GPU:1'] False",
        "false True",
        "2 logical devices on /physical_device:GPU:0",
        "memory_limit=1024 MB on /physical_device:GPU:1 is not enforced",
        "1 True",
        "2 [LogicalDevice(name='/device:GPU:0', device_type='GPU')]",
        "cpu [] []",
    ]


@pytest.mark.full
def test_op_determinism_sets_a_flag_of_xla() -> None:
    program = """
        import os

        import unisono.tf as tf

        tf.config.experimental.enable_op_determinism()
        print("--xla_gpu_deterministic_ops=true" in os.environ["XLA_FLAGS"])
        """
    assert run(program) == "True\n"


def test_op_determinism_after_jax_has_started_changes_nothing_on_cpus_and_is_an_error_on_gpus(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jnp.zeros(1)
    before = os.environ.get("XLA_FLAGS")
    tf.config.experimental.enable_op_determinism()
    assert not is_deterministic()
    monkeypatch.setattr(_execution, "num_gpus", lambda: 1)
    with pytest.raises(RuntimeError, match=r"deterministic\(\)"):
        tf.config.experimental.enable_op_determinism()
    assert not is_deterministic()
    assert os.environ.get("XLA_FLAGS") == before


def test_functions_can_be_set_to_run_eagerly() -> None:
    assert not tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.experimental_functions_run_eagerly()
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert not tf.config.functions_run_eagerly()


def test_settings_without_effect_are_returned() -> None:
    tf.config.threading.set_inter_op_parallelism_threads(2)
    tf.config.threading.set_intra_op_parallelism_threads(3)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 2
    assert tf.config.threading.get_intra_op_parallelism_threads() == 3
    tf.config.optimizer.set_jit("autoclustering")
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_experimental_options({"layout_optimizer": True})
    assert tf.config.optimizer.get_experimental_options() == {"layout_optimizer": True}
    tf.config.experimental.set_synchronous_execution(True)
    assert not tf.config.experimental.get_synchronous_execution()
    tf.config.experimental.set_device_policy("silent")
    assert tf.config.experimental.get_device_policy() == "explicit"
    tf.config.experimental.enable_mlir_bridge()
    tf.config.experimental.disable_mlir_bridge()


def test_tensor_float_32_is_a_precision_of_jax() -> None:
    assert tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(False)
    try:
        assert jax.config.jax_default_matmul_precision == "float32"
        assert not tf.config.experimental.tensor_float_32_execution_enabled()
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    assert jax.config.jax_default_matmul_precision is None


def test_what_is_not_supported_raises() -> None:
    for question in (tf.config.experimental.get_memory_info, tf.config.experimental.get_memory_usage):
        with pytest.raises(ValueError, match="does not report"):
            question("CPU:0")
    with pytest.raises(NotImplementedError, match="get_memory_info"):
        tf.config.experimental.reset_memory_stats("GPU:0")
    with pytest.raises(NotImplementedError, match="uses its own"):
        tf.config.experimental.ClusterDeviceFilters()
    with pytest.raises(ValueError, match="list_physical_devices"):
        tf.config.experimental.get_device_details("/cpu:0")
    with pytest.raises(TypeError, match="expected a cluster resolver"):
        tf.config.experimental_connect_to_cluster("a:1")
    tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": ["a:1"]}))
    tf.config.experimental_connect_to_host("grpc://a:1")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/CPU:1", 1),
        ("cpu:2", 2),
        ("/device:CPU:3", 3),
        ("/job:localhost/replica:0/task:0/device:CPU:1", 1),
        ("/cpu", 0),
        ("/gpu:0", 0),
        ("/device:GPU:5", 0),
        ("/cpu:99", 0),
        ("/job:worker/task:0", 0),
        (None, 0),
    ],
)
def test_arrays_are_created_on_the_device_or_the_most_similar_one(name: str | None, expected: int) -> None:
    with tf.device(name):
        assert jnp.zeros(1).device == jax.devices("cpu")[expected]


def test_a_device_may_be_a_logical_device() -> None:
    with tf.device(tf.config.list_logical_devices("CPU")[2]):
        assert tf.constant([1.0]).device == jax.devices("cpu")[2]


def test_invalid_device_names_raise() -> None:
    with pytest.raises(ValueError, match=r"'/bla'.*not a device"), tf.device("/bla"):
        pass
    with pytest.raises(TypeError, match="not a device"), tf.device(3):
        pass
    assert tf.config.get_soft_device_placement()
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(ValueError, match=r"no such device. Found: cpu:0, cpu:1"), tf.device("/gpu:0"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_in_the_scope_of_a_strategy_a_device_changes_nothing() -> None:
    with tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]).scope(), tf.device("/cpu:5"):
        assert jnp.zeros(1).device == jax.devices("cpu")[0]
