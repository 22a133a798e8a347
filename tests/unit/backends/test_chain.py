"""The backend `autotuned`: it takes graphs that the autotune file has a winner for, under its conditions."""

from typing import Any

import pytest

from dynamo_core.backends import chain
from dynamo_core.backends.results import Declined, graph_in_progress
from dynamo_core.shared.settings import Settings
from dynamo_core.shared.winners import Conditions, Tuned

HERE = Conditions("cpu", "2.13.0", "abc", ())


def winner(monkeypatch: pytest.MonkeyPatch, key: str | None, *entries: Tuned) -> Any:
    monkeypatch.setattr(chain, "conditions_here", lambda inputs: HERE)
    monkeypatch.setattr(chain, "read", lambda file: list(entries))
    monkeypatch.setattr(graph_in_progress, "key", key)
    return chain.Autotuned(Settings("/rec", autotune_file="/a.json"))._winner(())


def tuned(key: str, best: str | None, conditions: Conditions = HERE) -> Tuned:
    return Tuned(key, conditions, best, (), "2026-01-01")


def test_a_graph_goes_to_its_winner(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tuned("k", "inductor", HERE._replace(device="cuda"))
    assert winner(monkeypatch, "k", tuned("other", "inductor"), elsewhere, tuned("k", "eager")) == "eager"


@pytest.mark.parametrize(
    ("key", "entries", "why"),
    [
        (None, [tuned("k", "eager")], "could not be recorded"),
        ("k", [], "/a.json has no entry for this graph"),
        ("k", [tuned("k", None)], "/a.json"),
    ],
)
def test_a_graph_without_a_winner_is_declined(
    key: str | None, entries: list[Tuned], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Declined, match=why):
        winner(monkeypatch, key, *entries)
