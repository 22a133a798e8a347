"""Which earlier runs a run's caches are compared with: the latest before it, of its program first."""

from pathlib import Path

import pytest

from dynamo_core.compare import earlier as module
from dynamo_core.compare.earlier import earlier_runs, run_before
from dynamo_core.model import Process, Recording, Run
from dynamo_core.shared.early_records import ProcessEnd
from dynamo_core.shared.errors import DynamoError
from support.made import with_fields

HERE = Path("/recordings/now")
Known = dict[str, "dict[str, object] | None"]


class Damaged(DynamoError):
    exit_code = 1


def found(
    monkeypatch: pytest.MonkeyPatch, known: Known, target: Run | None, *, damaged: tuple[str, ...] = ()
) -> list[str]:
    """The names of the runs that are read, of those that lie beside this one."""
    with_runs(monkeypatch, known, damaged)
    return [each.path.name for each in earlier_runs(Recording(HERE, target, [], 0, []), HERE)]


def with_runs(monkeypatch: pytest.MonkeyPatch, known: Known, damaged: tuple[str, ...] = ()) -> None:
    """Have these runs lie beside this one."""

    def read_run_file(path: Path) -> "dict[str, object] | None":
        if path.name.startswith("damaged"):
            raise Damaged("it is damaged")
        return known[path.name]

    def read(path: Path, contents: object) -> Recording:
        if path.name in damaged:
            raise Damaged("it is damaged")
        fields = known[path.name] or {}
        begun, code = fields.get("started_ns"), fields.get("exit_code", 0)
        run = Run(started_ns=begun, exit_code=code, ended_ns=999)  # type: ignore[arg-type]
        process = with_fields(Process(path / "s.log"), {"end": ProcessEnd()})
        return Recording(path, run, [process], 0, [])

    monkeypatch.setattr(module, "recordings", lambda folder: [folder / name for name in (*known, "now")])
    monkeypatch.setattr(module, "read_run_file", read_run_file)
    monkeypatch.setattr(module, "read", read)
    known = {**known, "now": {"program": "train", "started_ns": 5}}


def began(at: int, program: str = "train") -> dict[str, object]:
    return {"program": program, "started_ns": at}


NOW = Run(program="train", started_ns=100)


def test_the_runs_that_began_before_this_one_come_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    known: Known = {"late": began(99), "same": began(100), "later": began(101), "first": began(0)}
    assert found(monkeypatch, known, NOW) == ["first", "late"]


def test_a_run_whose_begin_is_not_known_is_none_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(monkeypatch, {"unknown": {"program": "train"}, "empty": None, "one": began(1)}, NOW) == [
        "one"
    ]
    assert found(monkeypatch, {"one": began(1)}, None) == []
    assert found(monkeypatch, {"one": began(1)}, Run(program="train")) == []


def test_of_many_the_eight_latest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    known: Known = {f"r{at}": began(at) for at in (9, 1, 2, 8, 3, 7, 4, 6, 5, 10)}
    assert found(monkeypatch, known, NOW) == [f"r{at}" for at in range(3, 11)]


def test_those_of_the_same_program_are_preferred_though_they_are_older(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known: Known = {f"r{at}": began(at) for at in range(1, 8)}
    known |= {f"o{at}": began(at, "other") for at in range(20, 30)}
    assert found(monkeypatch, known, NOW) == [*(f"r{at}" for at in range(1, 8)), "o29"]


def test_what_cannot_be_read_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    known: Known = {"damaged": began(1), "one": began(2), "two": began(3)}
    assert found(monkeypatch, known, NOW, damaged=("two",)) == ["one"]


def test_the_run_before_is_the_latest_of_the_same_command_that_ended_well_and_can_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command, other = ["python", "train.py"], ["python", "train.py", "--steps", "9"]
    target = Recording(HERE, Run(program="train", command=command, started_ns=100), [], 0, [])
    known: Known = {
        f"r{at}": began(at) | {"command": command if at < 8 else other} for at in (4, 5, 7, 6, 8, 101)
    }
    known["r6"] = {**(known["r6"] or {}), "exit_code": 1}
    with_runs(monkeypatch, known, damaged=("r7",))
    found = run_before(target, frozenset())
    assert found is not None
    assert found.path.name == "r5"
    with_runs(monkeypatch, {"r8": known["r8"]})
    assert run_before(target, frozenset()) is None
