"""What is built of the project has all of its files, and runs where nothing else of it is installed."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from conftest import REPOSITORY, run_to_end
from stored import stored

NAMES = ("dynamo_cli", "dynamo_core", "dynamo_reporters")
_BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]  # building changes sys.argv
build_meta.build_sdist(folder)
build_meta.build_wheel(folder)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution, both built of a copy of what git would commit."""
    setuptools = pytest.importorskip("setuptools", "77", reason="built with setuptools 77 or newer")
    assert setuptools
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        capture_output=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("this is no git repository: what belongs to the project is not known")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if name.startswith("tests/") or not (REPOSITORY / name).is_file():
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((REPOSITORY / name).read_bytes())
    command = [sys.executable, "-c", _BUILD, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def files_of_packages() -> set[str]:
    """Every file of the packages, as a wheel names it."""
    roots = [REPOSITORY / path for path in ("dynamo_cli", "core/dynamo_core", "reporters/dynamo_reporters")]
    return {
        str(path.relative_to(root.parent))
        for root in roots
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_every_file_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == files_of_packages()
    assert {f"{name}/py.typed" for name in NAMES} <= names
    assert any(name.endswith("/licenses/LICENSE") for name in names)


def test_the_source_distribution_has_what_a_wheel_is_built_of(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "core/dynamo_core/py.typed"} <= names
    reporters = {f"reporters/{name}" for name in files_of_packages() if name.startswith("dynamo_reporters")}
    assert reporters <= names


def test_the_wheel_runs_in_a_fresh_environment(
    built: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Its dependencies come from this environment's folder; the project itself only from the wheel."""
    (wheel,) = built.glob("*.whl")
    fresh = tmp_path / "fresh"
    venv.create(fresh, symlinks=os.name != "nt")
    packages = sysconfig.get_path("purelib", "venv", {"base": str(fresh)})
    zipfile.ZipFile(wheel).extractall(packages)
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (Path(packages) / "borrowed.pth").write_text("\n".join(borrowed))
    python = fresh / "bin" / "python"
    entry = "import sys; from dynamo_cli.main import main; sys.argv[0] = 'dynamo'; main()"

    where_it_is = "import dynamo_core; print(dynamo_core.__file__)"
    where = run_to_end([str(python), "-c", where_it_is], environment, tmp_path)
    assert where.stdout.startswith(str(fresh)), where.stdout + where.stderr
    version = run_to_end([str(python), "-c", entry, "--version"], environment, tmp_path)
    assert version.stdout.startswith("dynamo 0."), version.stderr
    told = run_to_end([str(python), "-c", entry, "explain", str(stored("toy"))], environment, tmp_path)
    assert told.exit_code == 0, told.stderr
    assert told.stdout.startswith("3 graphs, 8 ops, 1 graph break")
    document = [str(python), "-c", entry, "guards", "--format", "json", str(stored("toy"))]
    assert run_to_end(document, environment, tmp_path).exit_code == 0
