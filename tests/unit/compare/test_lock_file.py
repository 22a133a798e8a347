"""Bounds of a project and lock files: which hold for a program, and what is said of one that is damaged."""

from pathlib import Path

import pytest

from dynamo_core.compare.lock import Bounds, ProjectBounds, bounds_of_project, merge_bounds
from dynamo_core.compare.lock_file import Facts, read_lock, write_lock
from dynamo_core.findings.matching import KnownFinding
from dynamo_core.shared.errors import LockFileProblem

BREAK = KnownFinding("graph-break-1", "graph break", "train.py", "f", 'print("x")')


def project(folder: Path, text: str) -> ProjectBounds:
    (folder / "pyproject.toml").write_text(text)
    return bounds_of_project(folder)


def test_bounds_of_all_and_of_patterns_are_read_from_the_projects_file(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        "[tool.dynamo.check]\nmax-graph-breaks = 0\nallow = ['graph-break-1']\n"
        "[tool.dynamo.check.programs.'tests/*']\nmax-graphs = 2\n",
    )
    assert found == ProjectBounds(
        Bounds({"graph-breaks": 0}, frozenset({"graph-break-1"})), {"tests/*": Bounds({"graphs": 2})}
    )
    assert found.of("train.py") == Bounds({"graph-breaks": 0}, frozenset({"graph-break-1"}))
    assert found.of("tests/a.py") == Bounds({"graph-breaks": 0, "graphs": 2}, frozenset({"graph-break-1"}))


@pytest.mark.parametrize(
    "text", ["", "[tool.dynamo]\n", "[tool.other]\ncheck = 3\n", "[tool.dynamo.check]\n"]
)
def test_a_project_that_says_nothing_has_no_bounds(tmp_path: Path, text: str) -> None:
    assert project(tmp_path, text).of("train.py") is None


def test_bounds_of_a_pattern_alone_hold_for_what_fits_it(tmp_path: Path) -> None:
    found = project(tmp_path, "[tool.dynamo.check.programs.'a[1]']\nmax-recompiles = 1\n")
    assert found.for_all is None
    assert found.of("a[1]") == found.of("a1") == Bounds({"recompiles": 1})
    assert found.of("a2") is None


def test_of_several_patterns_the_last_that_fits_counts() -> None:
    found = ProjectBounds(
        Bounds({"graphs": 1, "recompiles": 1}),
        {"*": Bounds({"graphs": 2}, frozenset({"a"})), "t*": Bounds({"graphs": 3}, frozenset({"b"}))},
    )
    assert found.of("t.py") == Bounds({"graphs": 3, "recompiles": 1}, frozenset({"a", "b"}))
    assert found.of("x.py") == Bounds({"graphs": 2, "recompiles": 1}, frozenset({"a"}))


def test_of_two_the_one_that_is_there_is_taken() -> None:
    one = Bounds({"graphs": 1})
    assert merge_bounds(one, None) == merge_bounds(None, one) == one
    assert merge_bounds(None, None) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("check = 3", r"\[tool\.dynamo\.check\] is no table of settings"),
        ("check = { programs = 3 }", r"\[tool\.dynamo\.check\] is no table of settings"),
        ("check = { programs = { a = 3 } }", r"\[tool\.dynamo\.check\.programs\.'a'\] is no table"),
        (
            "check = { max-break = 1 }",
            r"\[tool\.dynamo\.check\] has 'max-break', which is not known; known are max-graphs, "
            "max-graph-breaks, max-recompiles, max-frames-run-eager, allow",
        ),
        ("check = { b = 1, a = 1 }", "has 'a', which"),
        ("check = { allow = 'x' }", "allow is not a list of identities"),
        ("check = { allow = ['x', 1] }", "allow is not a list of identities"),
        ("check = { max-graphs = -1 }", "max-graphs is not a number from 0"),
        ("check = { max-graphs = true }", "max-graphs is not a number from 0"),
        ("check = { max-graphs = 1.5 }", "max-graphs is not a number from 0"),
    ],
)
def test_what_is_wrong_with_bounds_is_said(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(LockFileProblem, match=problem):
        project(tmp_path, f"[tool.dynamo]\n{text}\n")


def test_what_is_written_to_a_lock_file_is_read_again(tmp_path: Path) -> None:
    counts = {"graphs": 2, "graph-breaks": None, "recompiles": 0, "frames-run-eager": 1}
    facts = {"b.py": Facts(counts, {BREAK.identity: BREAK}), 'a "b".py': Facts(dict.fromkeys(counts, 0))}
    file = tmp_path / "folder" / "dynamo.lock"
    write_lock(file, facts)
    assert read_lock(file) == facts
    write_lock(file, {})
    assert read_lock(file) == {}
    assert read_lock(tmp_path / "none.lock") == {}
    with pytest.raises(LockFileProblem, match="`version` is no program"):
        write_lock(file, {"version": facts["b.py"]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("version = 1\n<<<<<<< ours\n", r"dynamo\.lock:2: a merge is not resolved"),
        ("version = 1\n[", r"dynamo\.lock is no TOML"),
        ("", r"dynamo\.lock has version None, this dynamo reads 1"),
        ("version = 2", r"dynamo\.lock has version 2, this dynamo reads 1"),
        ("version = 1\na = 3", r"\[a\] is no table"),
        ("version = 1\n[a]\ny = 1\nx = 1", r"\[a\] has 'x', which no lock file has"),
        ("version = 1\n[a]\ngraphs = -1", r"\[a\] has a count that is no number"),
        ("version = 1\n[a]\ngraphs = true", r"\[a\] has a count that is no number"),
        ("version = 1\n[a]\nfindings = 3", r"\[a\] has findings that are no table"),
        ("version = 1\n[a]\nfindings.x = 3", r"\[a\]: x is not \[kind, file, function, line, cause\]"),
        (
            "version = 1\n[a]\nfindings.x = ['a', 'b', 'c']",
            r"\[a\]: x is not \[kind, file, function, line, cause\]",
        ),
        ("version = 1\n[a]\nfindings.x = ['a', 'b', 'c', 4]", r"\[a\]: x is not \[kind"),
    ],
)
def test_what_is_wrong_with_a_lock_file_is_said(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "dynamo.lock"
    file.write_text(text)
    with pytest.raises(LockFileProblem, match=problem):
        read_lock(file)


def test_a_count_of_0_is_a_count(tmp_path: Path) -> None:
    file = tmp_path / "dynamo.lock"
    file.write_text("version = 1\n[a]\ngraphs = 0\n")
    assert read_lock(file)["a"].counts["graphs"] == 0
    assert read_lock(file)["a"].counts["recompiles"] is None
