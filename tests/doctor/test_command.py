"""Real runs of `unisono doctor`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs/doctor.md"

NAMES = [
    "machine",
    "versions",
    "extras",
    "backend",
    "strategy",
    "datasets",
    "engines",
    "cluster",
    "ports",
    "import",
    "devices",
    "all_reduce",
    "training",
]

TWO_WORKERS = '{"cluster": {"worker": ["%s", "localhost:2223"]}, "task": {"type": "worker", "index": 1}}'


def read(out: str) -> dict:
    """The JSON object, which must be all of standard output, after a look at its form."""
    report = json.loads(out)
    assert list(report) == ["version", "unisono", "status", "findings"]
    assert report["version"] == 1
    assert list(report["findings"]) == NAMES
    for finding in report["findings"].values():
        assert list(finding) == ["status", "text", "remedy", "facts"]
        assert finding["status"] in ("ok", "warning", "error")
        assert isinstance(finding["text"], str)
        assert isinstance(finding["facts"], dict)
        assert (finding["remedy"] is None) == (finding["status"] == "ok")
    return report


def not_ok(report: dict) -> dict[str, str]:
    return {name: found["status"] for name, found in report["findings"].items() if found["status"] != "ok"}


def test_the_doctor_itself_imports_neither_jax_nor_keras_nor_unisono() -> None:
    code = (
        "import sys, unisono_launch.doctor\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'jax', 'jaxlib', 'keras', 'unisono'}))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.slow
def test_a_healthy_machine_is_healthy_in_json(doctor) -> None:
    code, out, err = doctor("--json", UNISONO_CPU_DEVICES="4", JAX_PLATFORMS="cpu")
    findings = read(out)["findings"]
    assert (code, not_ok(read(out)), err) == (0, {}, "")
    packages = findings["versions"]["facts"]["packages"]
    assert all(packages[name]["fits"] for name in ("unisono", "jax", "jaxlib", "keras", "numpy"))
    devices = findings["devices"]["facts"]
    assert [device["name"] for device in devices["devices"]] == ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
    assert devices["num_cpu_threads"] >= 8
    assert findings["import"]["facts"]["keras_backend"] == "jax"
    assert findings["all_reduce"]["facts"]["num_devices"] == 4
    assert findings["all_reduce"]["facts"]["correct"]
    assert findings["training"]["facts"]["num_replicas"] == 4
    assert findings["training"]["facts"]["correct"]
    assert len(findings["cluster"]["facts"]["order"]) == 11
    described = DOCUMENT.read_text()
    for name, finding in findings.items():
        (line,) = [line for line in described.splitlines() if line.startswith(f"| `{name}` |")]
        assert [key for key in finding["facts"] if f"`{key}`" not in line] == []


@pytest.mark.slow
def test_people_read_words_and_no_colours_where_there_are_none(doctor) -> None:
    code, out, _ = doctor(JAX_PLATFORMS="cpu")
    assert code == 0
    assert "\x1b" not in out
    rows = [line.split()[:2] for line in out.splitlines() if line.startswith(("ok ", "warning ", "error "))]
    assert rows == [["ok", name] for name in NAMES]
    assert out.endswith("\n\nTraining works here.\n")


@pytest.mark.slow
def test_a_keras_that_is_too_old_is_named_with_what_to_type(doctor, pretend) -> None:
    code, out, _ = doctor("--json", PYTHONPATH=str(pretend("keras", "3.14.0")), JAX_PLATFORMS="cpu")
    report = read(out)
    assert code == 1
    assert not_ok(report) == {"versions": "error", "import": "error", "training": "warning"}
    assert "keras 3.14.0 does not fit" in report["findings"]["versions"]["text"]
    assert report["findings"]["versions"]["remedy"] == "pip install 'keras<3.16,>=3.15.1'"
    assert "found keras 3.14.0" in report["findings"]["import"]["text"]
    assert report["findings"]["training"]["text"] == "Not tried: `import` failed."


@pytest.mark.slow
def test_a_jax_that_cannot_be_imported_is_an_error_and_no_traceback(doctor, tmp_path) -> None:
    (tmp_path / "broken" / "jax").mkdir(parents=True)
    (tmp_path / "broken" / "jax" / "__init__.py").write_text("print('noise')\nraise ImportError('no libjax.so')")
    code, out, err = doctor("--json", PYTHONPATH=str(tmp_path / "broken"))
    report = read(out)
    assert (code, err) == (1, "")
    assert not_ok(report) == {"import": "error", "devices": "error", "all_reduce": "warning", "training": "warning"}
    assert report["findings"]["devices"]["text"] == "ImportError: no libjax.so"
    assert "Traceback" in report["findings"]["devices"]["facts"]["details"]


@pytest.mark.slow
def test_a_broken_tf_config_fails_and_says_how_it_should_look(doctor) -> None:
    code, out, _ = doctor("--json", TF_CONFIG='{"cluster": ', JAX_PLATFORMS="cpu")
    report = read(out)
    assert code == 1
    assert not_ok(report) == {"cluster": "error", "ports": "warning"}
    assert "TF_CONFIG is not JSON" in report["findings"]["cluster"]["text"]
    assert '{"cluster": {"worker": ["host1:2222"' in report["findings"]["cluster"]["text"]
    assert report["findings"]["cluster"]["remedy"].endswith("unset TF_CONFIG")


@pytest.mark.full
def test_a_coordinator_that_cannot_be_reached_fails(doctor) -> None:
    code, out, _ = doctor("--json", TF_CONFIG=TWO_WORKERS % "chief.invalid:2222", JAX_PLATFORMS="cpu")
    report = read(out)
    assert code == 1
    assert not_ok(report) == {"ports": "error"}
    assert "chief.invalid:2222, where worker 0 should be, cannot be reached" in report["findings"]["ports"]["text"]
    assert report["findings"]["cluster"]["facts"]["membership"]["process_id"] == 1


@pytest.mark.full
def test_few_threads_and_missing_data_are_warnings_and_do_not_fail(doctor, tmp_path) -> None:
    missing = str(tmp_path / "missing")
    code, out, _ = doctor("--json", JAX_NUM_CPU_DEVICES="8", NPROC="2", UNISONO_DATASETS=missing, JAX_PLATFORMS="cpu")
    report = read(out)
    assert code == 0
    assert not_ok(report) == {"datasets": "warning", "devices": "warning"}
    assert "8 CPU devices have 8 threads" in report["findings"]["devices"]["text"]
    assert "export NPROC=" in report["findings"]["devices"]["remedy"]
    assert missing in report["findings"]["datasets"]["text"]
