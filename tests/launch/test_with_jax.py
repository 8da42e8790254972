"""Real JAX processes: what the launcher believes about their deaths is still so."""

import re
import time

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

# What a JAX program does by itself: no part of Unisono is in it.
SCRIPT = """
import json
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
cluster = json.loads(os.environ["UNISONO_CLUSTER"])
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(cluster["coordinator"], size, rank, coordinator_bind_address=cluster["coordinator"])
mesh = Mesh(np.array(jax.devices()), "all")
total = jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, PartitionSpec()))
ones = jax.make_array_from_callback(
    (size,), NamedSharding(mesh, PartitionSpec("all")), lambda index: np.ones(size, "float32")[index]
)
for step in range(200):
    if step == 3 and rank == CULPRIT:
        Path("killed").write_text(str(time.time()))
        os.kill(os.getpid(), signal.SIGKILL)
    assert float(total(ones)) == size
    time.sleep(0.05)
"""


@pytest.mark.parametrize("culprit", [0, 1])
def test_the_killed_worker_is_named_and_its_peers_end_within_ten_seconds(run, tmp_path, culprit):
    code, _, err = run(SCRIPT.replace("CULPRIT", str(culprit)), "-n", "2", "--devices", "cpu:1")
    seconds = time.time() - float((tmp_path / "killed").read_text())
    assert code == 69, err
    assert re.search(rf"^unisono: worker {culprit} on \S+ was killed by SIGKILL\.$", err, re.MULTILINE)
    assert seconds < 10
