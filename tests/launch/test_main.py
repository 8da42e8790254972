"""The command `unisono`."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.timeout(60)


def test_the_command_is_the_launchers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"unisono": "unisono_launch._main:main"}


def test_run_imports_neither_jax_nor_keras_nor_unisono(tmp_path):
    (tmp_path / "script.py").write_text("")
    program = (
        "import sys\n"
        "from unisono_launch._main import main\n"
        "code = main(['run', '-n', '2', 'script.py'])\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(code, sorted(loaded & {'jax', 'jaxlib', 'keras', 'numpy', 'unisono'}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    assert result.stdout == "0 []\n", result.stderr


def test_wrong_flags_are_an_error_of_the_launcher_and_start_nothing(command, tmp_path):
    code, out, err = command("run", "-n", "0", "missing.py")
    assert (code, out) == (2, "")
    assert err.startswith("unisono run: There is no script 'missing.py' here")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_other_commands_are_handed_on(command):
    code, out, _ = command("--help")
    assert code == 0
    assert "demo" in out
    assert "run" in out
