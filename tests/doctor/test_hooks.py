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
    # Those of jobs, which a process gets when it joins others.
    listed = {(hook["owner"], hook["name"]): hook for hook in hooks}
    assert listed["sys", "exit"]["written_for"].startswith("Python 3.11")
    assert ("jaxlib._jax", "make_gloo_tcp_collectives") in listed


def test_people_read_hooks_by_file_and_reason(capsys) -> None:
    hook = {"owner": "keras.src.losses.loss.Loss", "name": "__call__", "kind": "patch", "expects": ["(self, y_true)"]}
    hook |= {"written_for": "Keras 3.15.1", "why": "Sums over replicas.", "file": "unisono/_src/keras_hooks/_losses.py"}
    show_hooks([hook, hook | {"name": "__init__"}, hook | {"why": "Another reason."}])
    assert capsys.readouterr().out.splitlines() == [
        "unisono/_src/keras_hooks/_losses.py (Keras 3.15.1)",
        "  patch    keras.src.losses.loss.Loss: __call__, __init__",
        "           Sums over replicas.",
        "  patch    keras.src.losses.loss.Loss: __call__",
        "           Another reason.",
        "",
        "3 hooks: patch replaces an attribute, add adds one, require checks one.",
    ]


def test_what_keeps_unisono_from_being_imported_is_said() -> None:
    line = json.dumps({"stage": "import", "error": "ImportError: no libjax.so", "traceback": ""})
    with pytest.raises(RuntimeError, match=r"cannot be imported\.\nImportError: no libjax\.so\n.*unisono doctor"):
        fetch_hooks({}, [sys.executable, "-c", f"print({line!r}, flush=True); input()"])
