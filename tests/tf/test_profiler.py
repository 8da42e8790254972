"""`tf.profiler.experimental`: JAX's profiler."""

import subprocess
import sys
from pathlib import Path

import pytest

import unisono.tf as tf


@pytest.mark.slow
def test_a_profile_of_a_block_is_written_to_the_folder(tmp_path: Path) -> None:
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=1, python_tracer_level=0)
    with (
        tf.profiler.experimental.Profile(str(tmp_path / "block"), options),
        tf.profiler.experimental.Trace("train", step_num=1, _r=1),
    ):
        tf.constant([1.0]) + 1
    assert list((tmp_path / "block").rglob("*.xplane.pb"))
    tf.profiler.experimental.start(str(tmp_path / "calls"))
    with pytest.raises(tf.errors.AlreadyExistsError, match="recorded already"):
        tf.profiler.experimental.start(str(tmp_path / "more"))
    with tf.profiler.experimental.Trace("part"):
        tf.constant([1.0]) + 1
    tf.profiler.experimental.stop()
    assert list((tmp_path / "calls").rglob("*.xplane.pb"))


@pytest.mark.full
def test_a_server_listens() -> None:
    script = """
import socket
import unisono.tf as tf
with socket.socket() as free:
    free.bind(("localhost", 0))
    port = free.getsockname()[1]
tf.profiler.experimental.server.start(port)
socket.create_connection(("localhost", port), timeout=30).close()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


def test_unsupported_calls_raise(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.UnavailableError, match="no profile"):
        tf.profiler.experimental.stop()
    with pytest.raises(NotImplementedError, match="is always written"):
        tf.profiler.experimental.stop(save=False)
    with pytest.raises(ValueError, match="immediately"):
        tf.profiler.experimental.start(str(tmp_path), tf.profiler.experimental.ProfilerOptions(delay_ms=1))
    with pytest.raises(NotImplementedError, match=r"gs://"):
        tf.profiler.experimental.start("gs://bucket")
    with pytest.raises(NotImplementedError, match=r"server\.start"):
        tf.profiler.experimental.client.trace("grpc://localhost:6009", str(tmp_path), 1000)
    with pytest.raises(NotImplementedError, match="Capture profile"):
        tf.profiler.experimental.client.monitor("localhost:6009", 1000)
