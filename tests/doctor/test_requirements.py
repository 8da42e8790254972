import pytest
from packaging.requirements import Requirement

from unisono_launch.doctor._requirements import installed_version, read_requirement, requirements_of

VERSIONS = ["0.9", "0.10.1", "0.10.2", "0.10.2.1", "0.11", "0.12.0.1", "0.13.0", "0.13", "1.0", "1.4.9", "2.0"]


@pytest.mark.parametrize(
    "text",
    [
        "jax>=0.10.2,<0.13",
        "jax<0.13,>=0.10.2",
        "jax (>=0.10.2, <0.13)",
        "jaxlib<=0.10.2,>=0.10.1",
        "a==0.10.2",
        "a==0.10.*",
        "a!=0.10.*",
        "a!=0.13",
        "a~=1.4",
        "a~=0.10.1",
        "a>0.10.2",
        "plugin[with-cuda]<=0.10.2,>=0.10.2; extra == 'cuda'",
        "a",
    ],
)
def test_versions_are_judged_as_packaging_judges_them(text: str) -> None:
    ours, theirs = read_requirement(text), Requirement(text)
    assert ours is not None
    assert ours.package == theirs.name
    assert [v for v in VERSIONS if ours.allows(v)] == [v for v in VERSIONS if theirs.specifier.contains(v)]


def test_what_only_some_need_is_known_by_its_extra_or_passed_over() -> None:
    only = read_requirement('pillow>=11.3; extra == "images"')
    assert only is not None
    assert only.extra == "images"
    assert read_requirement('tomli; python_version < "3.11"') is None


def test_a_package_that_is_not_there_has_neither_version_nor_requirements() -> None:
    assert installed_version("no-such-package") is None
    assert requirements_of("no-such-package") is None
    assert {"jax", "keras", "numpy"} <= {found.package for found in requirements_of("unisono") or []}
