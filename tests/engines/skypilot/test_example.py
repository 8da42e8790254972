"""examples/cluster/skypilot.yaml, read by SkyPilot itself.

SkyPilot has an environment of its own, since it takes 460 MB and pins packages that Ray pins too:
    python3 -m venv .venvs/skypilot && .venvs/skypilot/bin/pip install skypilot==0.14.1
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venvs" / "skypilot" / "bin" / "python"
TASK = ROOT / "examples" / "cluster" / "skypilot.yaml"

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(
        not PYTHON.exists(), reason="SkyPilot is not in .venvs/skypilot; its test says how to install it"
    ),
]

READ = """
import json, sys, sky, sky.utils.schemas
task = sky.Task.from_yaml(sys.argv[1])
(resources,) = task.resources
known = json.dumps(sky.utils.schemas.get_resources_schema())  # unknown names in job_recovery are not refused
assert all(f'"{name}"' in known for name in resources.job_recovery), resources.job_recovery
print(json.dumps([task.num_nodes, resources.accelerators, resources.use_spot, resources.job_recovery, task.run]))
"""


def read(path: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PYTHON), "-c", READ, str(path)],
        cwd=path.parent,
        env=os.environ | {"HOME": str(home)},  # SkyPilot keeps a database there
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_skypilot_reads_the_example(tmp_path, record_scenario):
    result = read(TASK, tmp_path)
    assert result.returncode == 0, result.stderr
    num_nodes, accelerators, use_spot, recovery, command = json.loads(result.stdout.splitlines()[-1])
    assert (num_nodes, accelerators, use_spot) == (2, {"A100": 4}, True)
    assert (recovery["max_restarts_on_errors"], recovery["recover_on_exit_codes"]) == (3, [75])
    assert 'unisono run --run-dir "/runs/$SKYPILOT_TASK_ID" train.py' in command
    record_scenario(engine="SkyPilot", scenario="examples/cluster/skypilot.yaml", result="read by SkyPilot 0.14.1")


@pytest.mark.parametrize("name", ["num_nodes", "use_spot", "recover_on_exit_codes"])
def test_a_misspelt_field_is_found(name, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(TASK.read_text().replace(name, f"{name}_"))
    result = read(wrong, tmp_path)
    assert result.returncode != 0
    assert f"{name}_" in result.stderr
