"""Scripts in the styles in which people write for TensorFlow: other domains, Keras 2, TensorFlow 1 habits.

Like those of `test_scripts.py` they know nothing of Unisono, check what they reach, and run as users run them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).parent / "scripts" / "users"

DEADLINE = 240
# Keras does not compile a model with RandomTranslation, as patches_mixer has: its steps on 2 replicas are 1,000 small
# programs, which take two minutes beside one other test, and more than four beside three.
LONGER_DEADLINES = {"users/patches_mixer.py": 500}
# Beside the time that a script has at most, for the launcher.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(max(LONGER_DEADLINES.values()) + 40)]

# In the default tests, on two replicas.
REPRESENTATIVES = ("tf1_habits.py",)
NAMES = sorted(path.name for path in SCRIPTS.glob("*.py"))


def test_the_representatives_exist() -> None:
    assert set(REPRESENTATIVES) <= set(NAMES)


def cases() -> Iterator[Any]:
    for script in NAMES:
        for replicas in (1, 2):
            is_quick = replicas == 2 and script in REPRESENTATIVES
            marks = [] if is_quick else pytest.mark.full
            yield pytest.param(f"users/{script}", replicas, marks=marks, id=f"{script.removesuffix('.py')}-{replicas}")


@pytest.mark.parametrize(("script", "replicas"), list(cases()))
def test_a_script_runs_unchanged(script: str, replicas: int, tmp_path: Path) -> None:
    outside = ("UNISONO_CPU_DEVICES", "NPROC", "TF_CONFIG", "KERAS_BACKEND")
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    command = ["run", "--as-tensorflow", "--devices", f"cpu:{replicas}", str(SCRIPTS.parent / script)]
    result = subprocess.run(
        [sys.executable, "-m", "unisono_launch", *command],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGER_DEADLINES.get(script, DEADLINE),
    )
    said = f"{result.stdout[-3000:]}\n{result.stderr[-5000:]}"
    assert result.returncode == 0, said
    assert result.stdout.splitlines()[-1] == "ok", said
