import subprocess
import sys

import pytest

from unisono._src.devices import set_cpu_devices

pytestmark = pytest.mark.slow


def _python(code: str, **environment: str) -> str:
    """What a fresh Python prints, without the variables that this test run sets."""
    import os

    clean = {k: v for k, v in os.environ.items() if k not in ("UNISONO_CPU_DEVICES", "NPROC", "KERAS_BACKEND")}
    result = subprocess.run(
        [sys.executable, "-c", code], env={**clean, **environment}, capture_output=True, text=True, timeout=120
    )
    return result.stdout.strip() or result.stderr.strip().splitlines()[-1]


def test_naming_cpu_devices_makes_them_and_room_for_their_threads() -> None:
    code = """if True:
        import os, unisono
        strategy = unisono.MirroredStrategy(["cpu:0", "cpu:2"])
        print(strategy.num_replicas_in_sync, int(os.environ["NPROC"]) >= 6)"""
    assert _python(code) == "2 True"


def test_the_environment_can_ask_for_cpu_devices() -> None:
    assert _python("import unisono; print(unisono.MirroredStrategy())", UNISONO_CPU_DEVICES="3") == (
        "MirroredStrategy('cpu:0', 'cpu:1', 'cpu:2')"
    )


def test_a_senseless_number_of_devices_in_the_environment_is_refused() -> None:
    assert "UNISONO_CPU_DEVICES='many' is not a whole number" in _python("import unisono", UNISONO_CPU_DEVICES="many")


def test_importing_unisono_starts_neither_jax_nor_another_backend() -> None:
    code = """if True:
        import unisono, keras, jax
        jax.config.update("jax_num_cpu_devices", 5)     # raises once JAX has started
        print(keras.backend.backend(), len(jax.devices()))"""
    assert _python(code) == "jax 5"


def test_another_keras_backend_is_refused_with_the_remedy() -> None:
    code = "try: import unisono\nexcept ImportError as error: print(str(error).splitlines())"
    lines = _python(code, KERAS_BACKEND="torch")
    assert "KERAS_BACKEND says 'torch'" in lines
    assert "    import unisono" in lines


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "4"])
def test_only_whole_numbers_of_devices_are_taken(count: object) -> None:
    with pytest.raises(ValueError, match="whole number of at least 1"):
        set_cpu_devices(count)  # type: ignore[arg-type]


def test_asking_for_what_is_there_already_is_fine() -> None:
    set_cpu_devices(8)
