"""A file run alone, and with other versions of torch."""

import math
import sys
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.repro import proof
from dynamo_core.repro.failure import Failure

FAILURE = Failure("exception", "RuntimeError", "bad")
TEXT = "raise RuntimeError('bad')\n"


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file on PATH in place of uv, which has no network."""
    file = tmp_path / "bin" / "uv"
    file.parent.mkdir()
    file.write_text(
        "#!/bin/sh\necho 'error: Request failed\n  cause: Failed to fetch: torch\n  cause: no' >&2; exit 2\n"
    )
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{file.parent}:/bin:/usr/bin")
    return file


def with_versions(*versions: str) -> Any:
    return proof.with_versions(versions, (sys.executable, "2.13.0+cpu"), proof.Alone(TEXT, None), FAILURE, 20)


def test_own_version_needs_no_environment(uv: Path) -> None:
    for version in ("2.13", "2.13.0"):
        found, problem = with_versions(version)
        assert [(each.torch, each.compiled) for each in found] == [(version, "fails")]
        assert problem is None


def test_no_network(uv: Path) -> None:
    found, problem = with_versions("2.1", "2.13")
    assert [each.torch for each in found] == ["2.13"]
    assert problem == "torch 2.1: uv could not install it: Request failed: Failed to fetch: torch"


def test_no_uv(uv: Path) -> None:
    uv.unlink()
    found, problem = with_versions("2.1")
    assert not found
    assert problem == "torch 2.1: --torch needs uv, which is not installed: `pip install uv`"


def test_a_failure_that_comes_each_time_is_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = iter([(True, True, "bad")] * 2)
    monkeypatch.setattr(proof, "_round", lambda *arguments: next(rounds))
    found = proof.prove("", proof.Alone("", None), FAILURE, 1.0, math.inf)
    assert (found.rounds, found.failed, found.holds) == (2, 2, True)


def test_a_failure_that_comes_sometimes_is_run_more_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = iter([(False, True, "passed")] * 2 + [(True, True, "bad")] + [(False, True, "passed")] * 3)
    monkeypatch.setattr(proof, "_round", lambda *arguments: next(rounds))
    found = proof.prove("", proof.Alone("", None), FAILURE, 1.0, math.inf, is_steady=False)
    assert (found.rounds, found.failed, found.holds) == (6, 1, False)


@pytest.mark.parametrize(("deadline", "rounds"), [(0.0, 1), (15.0, 1), (20.0, 2), (99.0, 2)])
def test_a_second_round_is_run_where_it_ends_before_the_deadline(
    monkeypatch: pytest.MonkeyPatch, deadline: float, rounds: int
) -> None:
    now = [0.0]

    def a_round(*arguments: object) -> tuple[bool, bool, str]:
        now[0] += 10.0
        return True, True, "bad"

    monkeypatch.setattr(proof, "_round", a_round)
    monkeypatch.setattr("dynamo_core.repro.proof.time.monotonic", lambda: now[0])
    alone = proof.Alone("", None)
    found = proof.prove("", alone, FAILURE, 1.0, deadline)
    assert (found.rounds, found.holds) == (rounds, True)
    assert proof.prove("", alone, FAILURE, 1.0, deadline, is_steady=False).rounds == 6, "one may be chance"
