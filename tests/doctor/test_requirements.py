import pytest
from packaging.requirements import Requirement

from unisono_launch.doctor._requirements import allows, installed_version, is_needed, requirements_of


@pytest.mark.parametrize(
    ("version", "fits"),
    [
        ("0.10.1", False),
        ("0.10.2", True),
        ("0.10.2rc1", True),
        ("0.10.2+cuda", True),
        ("0.12.9", True),
        ("0.13", False),
    ],
)
def test_a_pre_release_counts_as_the_release(version: str, fits: bool) -> None:
    assert allows(Requirement("jax>=0.10.2,<0.13"), version) == fits


def test_what_only_some_need_is_known_by_its_extra() -> None:
    by_all, by_some = Requirement("jax>=0.10.2"), Requirement('pillow>=11.3; extra == "images"')
    assert is_needed(by_all)
    assert not is_needed(by_all, "images")
    assert is_needed(by_some, "images")
    assert not is_needed(by_some)
    assert not is_needed(by_some, "tensorboard")


def test_what_another_python_needs_is_not_needed() -> None:
    assert not is_needed(Requirement('tomli; python_version < "3.11"'))


def test_a_package_that_is_not_installed_has_neither_version_nor_requirements() -> None:
    assert installed_version("no-such-package") is None
    assert requirements_of("no-such-package") is None
    assert {"jax", "keras", "numpy"} <= {found.name for found in requirements_of("unisono") or []}
