from importlib import metadata

import pytest

from unisono._src.core import check_versions


def test_the_installed_versions_are_supported() -> None:
    check_versions()


@pytest.mark.parametrize(
    ("package", "version"),
    [("keras", "3.15.0"), ("keras", "3.16.0"), ("keras", "4.0"), ("jax", "0.10.1"), ("jax", "0.13.0.dev1")],
)
def test_a_version_outside_the_range_is_refused_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, package: str, version: str
) -> None:
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: version if name == package else real(name))
    with pytest.raises(ImportError, match=rf"found {package} {version}. Type: pip install '{package}>="):
        check_versions()


def test_windows_is_refused_with_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unisono._src.core._prerequisites.os.name", "nt")
    with pytest.raises(ImportError, match=r"not on Windows itself[\s\S]*Subsystem for Linux"):
        check_versions()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(ImportError, match="needs jax, which is not installed"):
        check_versions()
