"""`unisono doctor --hooks`."""

import json
import sys
from pathlib import Path

import pytest

from unisono_launch.doctor._hooks import fetch_hooks

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
    assert hooks


@pytest.mark.slow
def test_people_read_a_table(doctor) -> None:
    code, out, _ = doctor("--hooks", JAX_PLATFORMS="cpu", COLUMNS="400")
    assert code == 0
    title, *rows = out.splitlines()
    assert title.split() == ["attribute", "kind", "written", "for", "why", "file"]
    assert rows[0].startswith(("jax", "keras"))
    assert rows[-1].endswith(" hooks.")


def test_what_keeps_unisono_from_being_imported_is_said() -> None:
    line = json.dumps({"stage": "import", "error": "ImportError: no libjax.so", "traceback": ""})
    with pytest.raises(RuntimeError, match=r"cannot be imported\.\nImportError: no libjax\.so\n.*unisono doctor"):
        fetch_hooks({}, [sys.executable, "-c", f"print({line!r}, flush=True); input()"])
