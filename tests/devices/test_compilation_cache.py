"""Compiled programs are stored for later processes, in a folder that only the user can write to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import jax
import pytest

import unisono
from unisono._src.devices import Placement, _compilation_cache
from unisono._src.devices._compilation_cache import (
    remove_oldest,
    remove_unused_folders,
    report_loaded_programs,
    use_user_cache,
    user_cache_folder,
)


@pytest.fixture(autouse=True)
def no_folder_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    jax.config.update("jax_compilation_cache_dir", before)


def test_programs_of_a_gpu_are_stored_in_the_cache_folder_of_the_user() -> None:
    use_user_cache("gpu", spans_processes=False)
    assert jax.config.jax_compilation_cache_dir == str(user_cache_folder())
    assert user_cache_folder().stat().st_mode & 0o777 == 0o700


def test_a_strategy_over_a_gpu_stores_its_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    unisono.MirroredStrategy(["cpu:0"])
    assert jax.config.jax_compilation_cache_dir is None
    monkeypatch.setattr(Placement, "platform", "gpu")
    unisono.MirroredStrategy(["cpu:0"])
    assert jax.config.jax_compilation_cache_dir == str(user_cache_folder())


@pytest.mark.parametrize(("platform", "spans_processes"), [("cpu", False), ("gpu", True), ("tpu", True)])
def test_programs_of_cpus_and_of_several_processes_are_not(platform: str, spans_processes: bool) -> None:
    use_user_cache(platform, spans_processes=spans_processes)
    assert jax.config.jax_compilation_cache_dir is None


def test_a_folder_that_the_user_gave_to_jax_stays(tmp_path: Path) -> None:
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "mine"))
    use_user_cache("gpu", spans_processes=False)
    assert jax.config.jax_compilation_cache_dir == str(tmp_path / "mine")


def test_a_cache_that_the_user_turned_off_stays_off() -> None:
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        use_user_cache("gpu", spans_processes=False)
    finally:
        jax.config.update("jax_enable_compilation_cache", True)
    assert jax.config.jax_compilation_cache_dir is None


def test_a_folder_that_others_can_write_to_is_refused() -> None:
    user_cache_folder().mkdir(parents=True)
    user_cache_folder().chmod(0o777)
    with pytest.warns(UserWarning, match="other users can write to .*unisono/programs. Set JAX_COMPILATION_CACHE_DIR"):
        use_user_cache("gpu", spans_processes=False)
    assert jax.config.jax_compilation_cache_dir is None


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "unisono").write_text("a file")
    with pytest.warns(UserWarning, match="not stored for later runs: .*Not a directory|File exists"):
        use_user_cache("gpu", spans_processes=False)


def test_old_programs_that_cannot_be_removed_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(folder: Path, max_bytes: int) -> None:
        raise PermissionError(f"[Errno 13] Permission denied: '{folder}/kernels'")

    monkeypatch.setattr(_compilation_cache, "remove_oldest", fail)
    with pytest.warns(UserWarning, match="not stored for later runs: .*Permission denied: .*kernels"):
        use_user_cache("gpu", spans_processes=False)
    assert jax.config.jax_compilation_cache_dir is None


def test_what_was_used_longest_ago_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    (folder / "kernels").mkdir(parents=True)
    for age, name in enumerate(["newest", "kernels/middle", "oldest"]):
        (folder / name).write_bytes(bytes(100))
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    remove_oldest(folder, 250)
    assert sorted(path.name for path in folder.rglob("*") if path.is_file()) == ["middle", "newest"]


def test_folders_that_others_remove_meanwhile_are_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "old").mkdir()

    def remove_first(folder: Path, pattern: str) -> Iterator[Path]:
        folder.rmdir()
        return iter([folder / "program"])

    monkeypatch.setattr(Path, "rglob", remove_first)
    remove_unused_folders(tmp_path, 90)
    assert not list(tmp_path.iterdir())


def test_folders_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    for name, days in (("old", 100), ("used", 100), ("new", 1)):
        file = tmp_path / name / "program"
        file.parent.mkdir()
        file.write_text("")
        at = time.time() - days * 86_400
        os.utime(file, (time.time() if name == "used" else at, at))
        os.utime(file.parent, (at, at))
    for folder in tmp_path.iterdir():
        list(folder.rglob("*"))  # reads the folders, as looking for unused ones does
    remove_unused_folders(tmp_path, 90)
    assert {path.name for path in tmp_path.iterdir()} == {"used", "new"}
    remove_unused_folders(tmp_path / "missing", 90)


def test_programs_that_were_loaded_are_reported() -> None:
    lines: list[str] = []
    with report_loaded_programs(lines.append):
        jax.monitoring.record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", 0.2)
        jax.monitoring.record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", 12.34)
        jax.monitoring.record_event_duration_secs("/jax/something/else", 99.0)
    jax.monitoring.record_event_duration_secs("/jax/compilation_cache/compile_time_saved_sec", 5.0)
    assert [line.rpartition(", ")[2] for line in lines] == ["which saved 12.3 s."]


_PROGRAM = """
import jax, unisono
from unisono._src.devices import use_user_cache
use_user_cache("gpu", spans_processes=False)
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None)
print(float(jax.jit(lambda x: (x @ x).sum())(jax.numpy.ones((8, 8)))), len(hits) > 0)
"""


@pytest.mark.slow
def test_a_second_process_loads_what_the_first_one_compiled(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    outputs = [
        subprocess.run(
            [sys.executable, "-c", _PROGRAM], env=environment, capture_output=True, text=True, timeout=240, check=True
        ).stdout
        for _ in range(2)
    ]
    assert outputs == ["512.0 False\n", "512.0 True\n"]
