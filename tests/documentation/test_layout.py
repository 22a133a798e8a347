"""Tests of a module are in tests/unit/ROOM/test_MODULE.py or test_MODULE_SUBJECT.py; every folder is run."""

from itertools import accumulate
from pathlib import Path

import pytest

from support.places import REPOSITORY

UNIT = REPOSITORY / "tests/unit"
PACKAGES = {
    "dynamo_cli": "dynamo_cli",
    "dynamo_pytest": "dynamo_pytest",
    "reporters": "reporters/dynamo_reporters",
}
ABOUT_NO_MODULE = {
    "test_file_length.py": "all files",
    "test_not_recorded.py": "a datum that is absent, from the record to each page",
}
FILES = sorted(path.relative_to(UNIT) for path in UNIT.rglob("test_*.py"))


def is_of_a_module(file: Path) -> bool:
    """Whether the name begins with that of a module or package in the same folder of the source."""
    first = file.parts[0]
    top = PACKAGES.get(first)
    room = Path("core/dynamo_core", *file.parent.parts) if top is None else Path(top, *file.parent.parts[1:])
    words = file.stem.removeprefix("test_").split("_")
    names = accumulate(words, "{}_{}".format)
    return any(
        (REPOSITORY / room / end).exists() for name in names for end in (f"{name}.py", f"{name}/__init__.py")
    )


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_unit_test_names_its_module(file: Path) -> None:
    assert is_of_a_module(file) != (str(file) in ABOUT_NO_MODULE)


def test_each_that_is_about_no_module_is_there() -> None:
    assert set(ABOUT_NO_MODULE) <= {str(file) for file in FILES}


def test_no_two_test_files_have_the_same_name() -> None:
    """pytest imports them by their name alone."""
    names = [path.name for path in (REPOSITORY / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_each_folder_of_tests_is_run(pytestconfig: pytest.Config) -> None:
    """pyproject.toml lists them, in the order in which they are run."""
    folders = {path.relative_to(REPOSITORY).parts[1] for path in (REPOSITORY / "tests").rglob("test_*.py")}
    assert {f"tests/{folder}" for folder in folders} == set(pytestconfig.getini("testpaths"))
