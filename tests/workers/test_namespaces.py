"""Workers that only a network connects: each in a network namespace of its own, as on two machines."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers._job import SCRIPTS

pytestmark = [pytest.mark.full, pytest.mark.timeout(180)]

NAMES = [f"unisono-{os.getpid()}-a", f"unisono-{os.getpid()}-b"]  # another run of the tests may have some as well
ADDRESSES = ["10.213.77.1", "10.213.77.2"]


@pytest.fixture
def two_machines() -> Iterator[None]:
    if shutil.which("ip") is None:
        pytest.skip("there is no `ip` here to make network namespaces with")
    commands = [
        *(f"ip netns add {name}" for name in NAMES),
        f"ip link add veth-a netns {NAMES[0]} type veth peer name veth-b netns {NAMES[1]}",
        *(
            f"ip -n {name} {what}"
            for name, address, link in zip(NAMES, ADDRESSES, ("veth-a", "veth-b"), strict=True)
            for what in (f"addr add {address}/24 dev {link}", f"link set {link} up", "link set lo up")
        ),
    ]
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True, timeout=20)
            if done.returncode:
                pytest.skip(f"network namespaces are not permitted here: {command!r} says {done.stderr.strip()!r}")
        yield
    finally:
        for name in NAMES:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20)


@pytest.mark.usefixtures("two_machines")
def test_two_machines_train_together(tmp_path: Path) -> None:
    processes = []
    try:
        for index, name in enumerate(NAMES):
            cluster = {"worker": [f"{address}:23456" for address in ADDRESSES]}
            variables = os.environ | {
                "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}),
                "UNISONO_CPU_DEVICES": "1",
                "JAX_PLATFORMS": "cpu",
            }
            command = ["ip", "netns", "exec", name, sys.executable, "-u", str(SCRIPTS / "early.py")]
            with (tmp_path / f"{name}.log").open("wb") as log:
                processes.append(subprocess.Popen(command, env=variables, stdout=log, stderr=subprocess.STDOUT))
        deadline = time.monotonic() + 120
        codes = [process.wait(max(deadline - time.monotonic(), 0.1)) for process in processes]
        assert codes == [0, 0], "\n".join((tmp_path / f"{name}.log").read_text() for name in NAMES)
    finally:
        for process in processes:
            process.kill()
            process.wait()
