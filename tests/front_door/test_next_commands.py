"""`next` of documents: commands that can be typed as they stand, each saying whether it runs the program."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from support.answering import answer
from support.stored import NAMES, stored


@pytest.fixture(scope="module")
def following() -> dict[str, dict[str, Any]]:
    """One command of each kind that the stored recordings name, by its first two words."""
    found: dict[str, dict[str, Any]] = {}
    for name in NAMES:
        for each in json.loads(answer("explain", stored(name), "--json").stdout)["next"]:
            program, *words = shlex.split(each["command"])
            assert program == "dynamo-cli"
            found.setdefault(" ".join(words[:2]) if words[1].startswith("-") else words[0], each)
    return found


def test_where_nothing_is_left_to_do_nothing_is_next() -> None:
    document = json.loads(answer("explain", stored("transformer"), "--json").stdout)
    assert (document["actions"], document["next"]) == ([], [])


def test_what_only_reads_works_as_it_stands(following: dict[str, dict[str, Any]]) -> None:
    reading = {name: each["command"] for name, each in following.items() if not each["runs_program"]}
    assert {"profile", "breaks", "recompiles"} <= set(reading)
    for command in reading.values():
        result = answer(*shlex.split(command)[1:])
        assert result.exit_code in (0, 110), result.stderr


def test_what_runs_the_program_is_said_to_and_names_the_program(following: dict[str, dict[str, Any]]) -> None:
    running = {name: each["command"] for name, each in following.items() if each["runs_program"]}
    assert "fix -y" in running
    for name, command in running.items():
        assert name.split()[0] in ("fix", "repro", "run")
        assert (" -- " in command) == (not name.startswith("repro")), command


@pytest.mark.parametrize("command", [("diff", "toy"), ("check",), ("cache",)], ids=lambda command: command[0])
def test_what_is_of_two_recordings_or_a_lock_file_goes_on_with_the_newer_one(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    name, *others = command
    before = [stored(each) for each in others]
    # There is no lock file: what was found is said all the same, and the exit code is 110.
    document = json.loads(answer(name, *before, stored("recompiling"), "--json", cwd=tmp_path).stdout)
    assert [each["command"] for each in document["next"]] == [f"dynamo-cli explain {stored('recompiling')}"]
