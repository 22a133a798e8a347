"""Two sides of which one is a lock file: the verdict in words, which program is meant, and the page."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from dynamo_core.compare import lock
from dynamo_core.compare.lock import LockedDifference, compare_with_lock
from dynamo_core.compare.lock_file import Facts
from dynamo_core.findings.matching import KnownFinding
from dynamo_core.model import Recording, Run
from dynamo_core.shared.errors import LockFileProblem
from dynamo_reporters.diff import locked_blocks, locked_report
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import document as as_json
from support.made import compiled, of_one_process
from support.made_findings import a_break
from support.schemas import validate

COUNTS = {"graphs": 2, "graph-breaks": 1, "recompiles": 0, "frames-run-eager": 0}
NONE = dict.fromkeys(COUNTS, None)
WAS, NOW = Path("before.lock"), Path("after.lock")


def facts(**counts: int | None) -> Facts:
    return Facts({**COUNTS, **{name.replace("_", "-"): count for name, count in counts.items()}}, {})


SAME, WORSE, BETTER = facts(), facts(recompiles=2), facts(graph_breaks=0)
BOTH, UNKNOWN = facts(recompiles=2, graph_breaks=0), Facts(NONE, {})


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Mapping[str, Facts]]:
    """What the lock files hold, by name; a recording is any other path."""
    held: dict[str, Mapping[str, Facts]] = {}
    monkeypatch.setattr(lock, "is_lock_file", lambda path: path.name in held)
    monkeypatch.setattr(lock, "read_lock", lambda path: held[path.name])
    return held


Locks = dict[str, Mapping[str, Facts]]


def compared(locks: Locks, was: Mapping[str, Facts], now: Mapping[str, Facts]) -> LockedDifference:
    locks |= {WAS.name: was, NOW.name: now}
    return compare_with_lock(WAS, NOW, None)


@pytest.mark.parametrize(
    ("was", "now", "verdict", "sentence"),
    [
        ({"a": SAME}, {"a": SAME}, "nothing differs", "Nothing differs (1 program compared)"),
        (
            {"a": SAME, "b": SAME},
            {"a": SAME, "b": SAME},
            "nothing differs",
            "Nothing differs (2 programs compared)",
        ),
        ({"a": SAME}, {"a": WORSE}, "worse", "Worse: a"),
        ({"a": SAME}, {"a": BETTER}, "better", "Better: a"),
        ({"a": SAME}, {"a": BOTH}, "different", "Different: a"),
        ({"a": SAME, "b": SAME}, {"a": WORSE, "b": SAME}, "worse", "Worse: 1 of 2 programs"),
        ({"a": SAME, "b": SAME}, {"a": WORSE, "b": BETTER}, "different", "Different: 2 of 2 programs"),
        ({"a": SAME}, {"a": SAME, "b": SAME}, "different", "Different: 1 program came"),
        ({"a": SAME, "b": SAME, "c": SAME}, {"a": SAME}, "different", "Different: 2 programs went"),
        (
            {"a": SAME, "c": SAME},
            {"a": WORSE, "b": SAME},
            "worse",
            "Worse: a, 1 program came, 1 program went",
        ),
        (
            {"a": UNKNOWN},
            {"a": SAME},
            "not comparable",
            "Nothing can be compared: not a count is recorded on both sides",
        ),
        ({"a": UNKNOWN, "b": SAME}, {"a": SAME, "b": SAME}, "nothing differs", None),
        ({"a": facts(graphs=None)}, {"a": SAME}, "nothing differs", None),
        ({}, {}, "not comparable", "Nothing can be compared: there are no programs"),
    ],
)
def test_the_verdict_is_of_all_programs(
    locks: Locks, was: Mapping[str, Facts], now: Mapping[str, Facts], verdict: str, sentence: str | None
) -> None:
    found = compared(locks, was, now)
    assert found.verdict == verdict
    if sentence is not None:
        assert found.sentence == sentence


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Recording:
    known = of_one_process(Run(program="train"), breaks=[a_break()], compiles=[compiled(0)])
    monkeypatch.setattr(lock, "read", lambda path, contents: known)
    return known


@pytest.mark.parametrize(
    "name", ["scripts/train.py", "train", "scripts/train.py --fast", "-m train", "tests/train.py 'a b'"]
)
def test_a_recording_is_of_the_program_that_is_called_as_it_is(
    locks: Locks, read: Recording, name: str
) -> None:
    locks[WAS.name] = {name: SAME, "other.py": SAME}
    (program,) = compare_with_lock(WAS, Path("rec"), None).programs
    assert program.program == name


def test_of_a_lock_of_one_program_a_recording_is_that_whatever_it_is_called(
    locks: Locks, read: Recording
) -> None:
    locks[WAS.name] = {"other.py 'unclosed": SAME}
    (program,) = compare_with_lock(WAS, Path("rec"), None).programs
    assert program.program == "other.py 'unclosed"


@pytest.mark.parametrize("names", [("a.py", "b.py"), ("train.py", "x/train.py --fast"), ()])
def test_where_it_is_not_clear_which_program_is_meant_the_name_is_asked_for(
    locks: Locks, read: Recording, names: tuple[str, ...]
) -> None:
    locks[WAS.name] = dict.fromkeys(names, SAME)
    known = ", ".join(names) or "none"
    with pytest.raises(LockFileProblem, match=f"which program of before.lock is it\\? .*--name: {known}$"):
        compare_with_lock(WAS, Path("rec"), None)


def test_a_name_that_is_given_is_taken_or_said_not_to_be_there(locks: Locks, read: Recording) -> None:
    locks[WAS.name] = {"b.py": SAME, "a.py": SAME}
    assert [each.program for each in compare_with_lock(WAS, Path("rec"), "b.py").programs] == ["b.py"]
    with pytest.raises(LockFileProblem, match=r"before\.lock has no 'c\.py'; it has a\.py, b\.py"):
        compare_with_lock(WAS, Path("rec"), "c.py")


def test_each_side_stays_on_its_side(locks: Locks, read: Recording) -> None:
    locks[WAS.name] = {"train": facts(graph_breaks=9)}
    after = [each.text for each in compare_with_lock(WAS, Path("rec"), None).programs[0].differences]
    turned = [each.text for each in compare_with_lock(Path("rec"), WAS, None).programs[0].differences]
    assert "graph-breaks: 9 → 1" in after
    assert "graph-breaks: 1 → 9" in turned
    assert any(text.startswith("new: ") for text in after)
    assert any(text.startswith("gone: ") for text in turned)


def page(found: LockedDifference) -> list[str]:
    return plain_text(locked_blocks(found, WAS, NOW)).splitlines()


def test_the_page_has_what_is_worse_before_what_is_better_and_what_came_went_and_was_not_compared(
    locks: Locks,
) -> None:
    gone = KnownFinding("graph-break-1", "graph break", "m.py", "f", "x")
    found = compared(
        locks,
        {"a": Facts(COUNTS, {gone.identity: gone}), "quiet": SAME, "old": SAME},
        {"a": facts(recompiles=None, graphs=5), "quiet": SAME, "new": SAME},
    )
    assert [line.strip() for line in page(found) if line.strip()] == [
        "Different: 1 of 2 programs, 1 program came, 1 program went",
        "before: before.lock",
        "after:  after.lock",
        "a",
        "- worse: graphs: 2 → 5",
        "- better: gone: graph break in m.py f: x",
        "Added",
        "- new",
        "Removed",
        "- old",
        "Not compared",
        "- a: not recorded on both sides: recompiles",
    ]
    document = as_json(locked_report(WAS, NOW), found)
    validate(document)
    assert (document["only_before"], document["only_after"]) == (["old"], ["new"])


def test_a_finding_of_the_recording_is_shown_with_its_place(locks: Locks, read: Recording) -> None:
    locks[WAS.name] = {"train": facts(graph_breaks=0)}
    found = compare_with_lock(WAS, Path("rec"), None)
    lines = [line for line in page(found) if "new: graph break" in line]
    assert lines and all(line.endswith(", at /home/me/train.py:7") for line in lines)


def test_only_a_file_that_is_called_so_is_a_lock_file(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    for name in ("b.lock", "b.toml", "b.json"):
        (tmp_path / name).touch()
    names = ("a.lock", "b.lock", "b.toml", "b.json", "none.lock")
    assert [name for name in names if lock.is_lock_file(tmp_path / name)] == ["b.lock", "b.toml"]
