"""What is built of the project has all of its files, and runs where nothing else of it is installed."""

import email
import importlib.util
import json
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

from launching import run_to_end
from recordings import REPOSITORY
from support.cases import one_in

NAMES = ("dynamo_cli", "dynamo_core", "dynamo_pytest", "dynamo_reporters")
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
        if not (REPOSITORY / name).is_file():  # deleted, and not committed yet
            continue
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes((REPOSITORY / name).read_bytes())
    command = [sys.executable, "-c", _BUILD, str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def files_of_packages() -> set[str]:
    """Every file of the packages, as a wheel names it."""
    roots = [
        REPOSITORY / path
        for path in (
            "core/dynamo",
            "dynamo_cli",
            "dynamo_pytest",
            "core/dynamo_core",
            "reporters/dynamo_reporters",
        )
    ]
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


def test_pytest_finds_the_plugin_and_warns_of_nothing_under_dynamo_run(
    built: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    (wheel,) = built.glob("*.whl")
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass\n")
    entry = "import sys; from dynamo_cli.main import main; sys.argv[0] = 'dynamo'; main()"
    tests = ["run", "-q", "-m", "pytest", "-W", "error", "--trace-config", "--dynamo"]
    alone = {**environment, "PYTHONPATH": str(installed)}
    done = run_to_end([sys.executable, "-c", entry, *tests], alone, tmp_path)
    assert f"<module 'dynamo_pytest.plugin' from '{installed}" in done.stdout, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_source_distribution_has_what_a_wheel_is_built_of(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "dev",
        "core/dynamo_core/py.typed",
    } <= names
    tested = {str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "tests").rglob("*.py")}
    assert tested <= names
    assert {"tests/data/toy.tar.xz", "docs/index.md", "mkdocs.yml", "sample_scripts/toy_example.py"} <= names
    reporters = {f"reporters/{name}" for name in files_of_packages() if name.startswith("dynamo_reporters")}
    assert reporters <= names


@pytest.mark.parametrize(
    ("package", "installer"), one_in(3, [("*.whl", "pip"), ("*.tar.gz", "uv"), ("*.tar.gz", "pip")])
)
def test_a_package_runs_a_program_in_a_fresh_environment(
    package: str, installer: str, built: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Dependencies, torch among them, come from this environment's folder; the project from the package."""
    has_uv = importlib.util.find_spec("uv") is not None
    if installer == "uv" and not has_uv:
        pytest.skip("uv is not installed")
    (file,) = built.glob(package)
    fresh = tmp_path / "fresh"
    venv.create(fresh, symlinks=os.name != "nt")
    scheme = "venv" if "venv" in sysconfig.get_scheme_names() else "posix_prefix"  # Python 3.10 has no "venv"
    packages = Path(sysconfig.get_path("purelib", scheme, {"base": str(fresh)}))
    borrowed = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "borrowed.pth").write_text("\n".join(borrowed))
    python = str(fresh / "bin" / "python")
    how = {
        # What is installed in the borrowed folder stays there.
        "pip": ["pip", "--python", python, "install", "--ignore-installed", "--no-index"],
        "uv": ["uv", "pip", "install", "--python", python, "--offline"],
    }[installer]
    offline = ["--quiet", "--no-deps", "--no-build-isolation", str(file)]
    installed = run_to_end([sys.executable, "-m", *how, *offline], environment, tmp_path)
    assert installed.exit_code == 0, installed.stderr

    where_it_is = run_to_end(
        [python, "-c", "import dynamo_core; print(dynamo_core.__file__)"], environment, tmp_path
    )
    assert where_it_is.stdout.startswith(str(fresh)), where_it_is.stdout + where_it_is.stderr
    dynamo = str(fresh / "bin" / "dynamo")
    version = run_to_end([str(fresh / "bin" / "dynamo-cli"), "--version"], environment, tmp_path)
    assert version.stdout.startswith("dynamo 0."), version.stderr
    program = str(REPOSITORY / "sample_scripts" / "toy_example.py")
    ran = run_to_end([dynamo, "run", "--backend", "eager", program], environment, tmp_path)
    assert "3 graphs, 8 ops, 1 graph break" in ran.stderr, ran.stderr
    breaks = run_to_end([dynamo, "breaks", "--format", "json"], environment, tmp_path)
    assert len(json.loads(breaks.stdout)["breaks"]) == 1, breaks.stderr


def test_the_project_says_where_it_lives_and_what_it_runs_on(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    addresses = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= addresses.keys()
    assert metadata["Author"] and metadata["Keywords"] and metadata["License-Expression"] == "MIT"
    assert "Operating System :: POSIX :: Linux" in metadata.get_all("Classifier", [])
    assert metadata.get_payload().startswith("# dynamo")
