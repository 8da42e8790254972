"""What messages say to type depends on where Unisono was installed from. pip records that; so do these tests."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unisono_launch._install_command import install_command, upgrade_command

ROOT = Path(__file__).parents[2]
METADATA = """Metadata-Version: 2.4
Name: unisono
Version: 0.1.0
Provides-Extra: cuda
Provides-Extra: images
Requires-Dist: jax<0.13,>=0.10.2
Requires-Dist: jax[cuda13]; extra == 'cuda'
Requires-Dist: pillow>=11.3; extra == 'images'
Requires-Dist: simplejpeg>=1.8.2; extra == 'images'
"""
GIT = {"vcs": "git", "commit_id": "3f1c", "requested_revision": "v0.1.0"}

Install = Callable[[dict[str, Any] | None], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes this process see an installed Unisono that came from there, before the one of the tests."""

    def install(origin: dict[str, Any] | None) -> None:
        folder = tmp_path / "site-packages" / "unisono-0.1.0.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(METADATA)
        if origin is not None:
            (folder / "direct_url.json").write_text(json.dumps(origin))
        monkeypatch.syspath_prepend(folder.parent)

    return install


def test_in_the_editable_install_of_a_clone_the_clone_is_named() -> None:
    # The environment of the tests is one: `make install` types pip install -e.
    assert install_command("tpu") == f"pip install -e '{ROOT}[tpu]'"
    assert install_command("cuda", "images", upgrade=True) == f"pip install --upgrade -e '{ROOT}[cuda,images]'"
    assert upgrade_command() == f"git -C {shlex.quote(str(ROOT))} pull"


@pytest.mark.slow
def test_the_command_is_one_that_pip_understands() -> None:
    command = [sys.executable, "-m", *shlex.split(install_command("images")), "--dry-run", "--no-deps", "--no-index"]
    found = subprocess.run([*command, "--no-build-isolation"], capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert f"Obtaining file://{ROOT}" in found.stdout


def test_neither_jax_nor_keras_nor_unisono_is_imported_for_it() -> None:
    script = (
        "import sys; from unisono_launch._install_command import install_command; print(install_command('ray'))\n"
        "print(*{'jax', 'keras', 'numpy', 'unisono'} & sys.modules.keys())"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout == f"{install_command('ray')}\n\n"


def test_from_a_package_index_the_name_is_enough(install: Install) -> None:
    install(None)
    assert install_command("tpu") == "pip install 'unisono[tpu]'"
    assert install_command() == "pip install unisono"
    assert upgrade_command() == "pip install --upgrade unisono"


def test_a_repository_is_named_with_the_revision_that_was_asked_for(install: Install) -> None:
    install({"url": "https://example.com/unisono.git", "vcs_info": GIT})
    assert install_command("cuda") == "pip install 'unisono[cuda] @ git+https://example.com/unisono.git@v0.1.0'"
    assert upgrade_command() == "pip install --upgrade 'unisono @ git+https://example.com/unisono.git'"


def test_a_subfolder_of_a_repository_is_named(install: Install) -> None:
    origin = {"url": "https://example.com/all.git", "vcs_info": {"vcs": "git", "commit_id": "3f1c"}}
    install(origin | {"subdirectory": "python"})
    assert (
        install_command("cuda") == "pip install 'unisono[cuda] @ git+https://example.com/all.git#subdirectory=python'"
    )


def test_a_wheel_is_named_while_it_exists(install: Install, tmp_path: Path) -> None:
    wheel = tmp_path / "unisono-0.1.0-py3-none-any.whl"
    wheel.touch()
    install({"url": wheel.as_uri(), "archive_info": {}})
    assert install_command("cuda") == f"pip install 'unisono[cuda] @ {wheel.as_uri()}'"
    assert upgrade_command() == "pip install --upgrade PATH_OF_A_NEWER_UNISONO"


@pytest.mark.parametrize(
    ("extras", "command"),
    [(["cuda"], "pip install 'jax[cuda13]'"), (["images"], "pip install 'pillow>=11.3' 'simplejpeg>=1.8.2'")],
)
def test_where_the_wheel_is_gone_the_packages_are_named(
    install: Install, tmp_path: Path, extras: list[str], command: str
) -> None:
    install({"url": (tmp_path / "gone.whl").as_uri(), "archive_info": {}})
    assert install_command(*extras) == command


def test_a_folder_is_installed_again_after_its_clone_was_updated(install: Install, tmp_path: Path) -> None:
    clone = tmp_path / "my clone"
    (clone / ".git").mkdir(parents=True)
    install({"url": clone.as_uri(), "dir_info": {}})
    assert install_command("tpu") == f"pip install '{clone}[tpu]'"
    assert upgrade_command() == f"git -C '{clone}' pull && pip install '{clone}'"
