"""`unisono doctor --hooks`."""

import json
import sys
from pathlib import Path

import pytest

from unisono_launch.doctor._probe_checks import fetch_hooks
from unisono_launch.doctor._report import show_hooks

KEYS = {"owner", "name", "kind", "expects", "written_for", "why", "file"}


@pytest.mark.slow
def test_all_hooks_are_listed_with_their_reason(doctor) -> None:
    code, out, err = doctor("--hooks", "--json", JAX_PLATFORMS="cpu")
    assert (code, err) == (0, "")
    hooks = json.loads(out)["hooks"]
    source = Path(__file__).parents[2] / "src"
    for hook in hooks:
        assert set(hook) == KEYS
        assert all(hook[key] for key in KEYS - {"expects"}), hook
        assert (source / hook["file"]).is_file()
    assert {"jax", "keras"} <= {hook["owner"].partition(".")[0] for hook in hooks}


def test_people_read_a_table(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    hook = {"owner": "keras.src.losses.loss.Loss", "name": "__call__", "kind": "patch", "expects": ["(self, y_true)"]}
    hook |= {"written_for": "Keras 3.15.1", "why": "Sums over replicas.", "file": "unisono/_src/keras_hooks/_losses.py"}
    show_hooks([hook, hook | {"name": "__init__"}])
    title, first, second, empty, total = capsys.readouterr().out.splitlines()
    assert title.split() == ["attribute", "kind", "written", "for", "why", "file"]
    assert first.split()[:4] == ["keras.src.losses.loss.Loss.__call__", "patch", "Keras", "3.15.1"]
    assert first.endswith("Sums over replicas.  unisono/_src/keras_hooks/_losses.py")
    assert second.startswith("keras.src.losses.loss.Loss.__init__")
    assert (empty, total) == ("", "2 hooks.")


def test_what_keeps_unisono_from_being_imported_is_said() -> None:
    line = json.dumps({"stage": "import", "error": "ImportError: no libjax.so", "traceback": ""})
    with pytest.raises(RuntimeError, match=r"cannot be imported\.\nImportError: no libjax\.so\n.*unisono doctor"):
        fetch_hooks({}, [sys.executable, "-c", f"print({line!r}, flush=True); input()"])
