"""The Dockerfile, as far as it can be checked without Docker: what it copies, installs and names is there."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DEVICES = ("cpu", "cuda")


def _instructions() -> list[tuple[str, str]]:
    """Each instruction with its arguments, on one line."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
    return [(name, arguments) for name, _, arguments in (line.partition(" ") for line in lines if line)]


def _arguments(instruction: str) -> list[str]:
    return [arguments for name, arguments in _instructions() if name == instruction]


def _copied_from_context(devices: str) -> list[str]:
    copies = [arguments.replace("${DEVICES}", devices).split() for arguments in _arguments("COPY")]
    return [source for *sources, _ in copies if not sources[0].startswith("--from") for source in sources]


def test_only_known_instructions_are_used_and_every_stage_begins_with_the_same_image() -> None:
    assert {name for name, _ in _instructions()} <= {"FROM", "ARG", "ENV", "WORKDIR", "COPY", "RUN", "USER", "CMD"}
    assert len({arguments.split()[0] for arguments in _arguments("FROM")}) == 1


def test_its_python_is_supported_and_that_of_the_locks() -> None:
    (image,) = {arguments.split()[0] for arguments in _arguments("FROM")}
    python = re.fullmatch(r"python:(3\.\d+)-slim", image)
    assert python is not None
    assert SpecifierSet(PROJECT["requires-python"]).contains(f"{python[1]}.0")
    locks = {source for devices in DEVICES for source in _copied_from_context(devices) if "lock" in source}
    assert len(locks) == 3
    for lock in locks:
        assert (ROOT / lock).read_text(encoding="utf-8").startswith(f"# Python {python[1]}: ")


@pytest.mark.parametrize("devices", DEVICES)
def test_what_it_copies_is_there_and_is_not_ignored(devices: str) -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    admitted = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert "*" in lines
    for source in _copied_from_context(devices):
        assert (ROOT / source).exists(), source
        assert source.split("/")[0] in admitted, source
    assert all((ROOT / name).exists() for name in admitted)


@pytest.mark.parametrize("devices", DEVICES)
def test_its_lock_has_every_dependency(devices: str) -> None:
    lock = (ROOT / f"requirements/lock-{devices}-py312.txt").read_text(encoding="utf-8")
    locked = {name.replace("_", "-").lower() for name in re.findall(r"^([\w.-]+)==", lock, re.MULTILINE)}
    required = PROJECT["dependencies"] + ([] if devices == "cpu" else PROJECT["optional-dependencies"][devices])
    names = {re.split(r"[\[<>=!~; ]", line)[0].replace("_", "-").lower() for line in required}
    assert names <= locked
    assert ("jax-cuda13-plugin" in locked) == (devices == "cuda")
    assert not locked & {"pytest", "ruff", "mypy", "hatchling"}


def test_it_does_not_run_as_root() -> None:
    instructions = _instructions()
    assert instructions.index(("USER", "1000")) > max(i for i, (name, _) in enumerate(instructions) if name == "RUN")


def test_every_page_that_uses_the_image_names_an_argument_that_exists() -> None:
    (argument,) = _arguments("ARG")
    assert argument == "DEVICES=cpu"
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    used = {name for page in pages for name in re.findall(r"--build-arg ([\w=]+)", page)}
    assert used == {"DEVICES=cuda"}
