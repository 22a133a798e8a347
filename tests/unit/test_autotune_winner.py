"""Which measurement wins, and what an autotune file says of it."""

from pathlib import Path
from typing import Any

import pytest

from dynamo_core.autotune import winners
from dynamo_core.autotune.measurement import AGREES, FAILED, Measurement, Round, is_faster, winner
from dynamo_core.autotune.winners import Tuned
from dynamo_core.measuring.hardware import device_words


def measured(name: str, *seconds: float) -> Measurement:
    return Measurement(name, AGREES, None, 1.0, tuple(Round(each, None) for each in seconds))


def test_the_fastest_round_counts_forward_and_backward() -> None:
    both = Measurement("x", AGREES, None, 1.0, (Round(1.0, 3.0), Round(2.0, 1.0), Round(4.0, 4.0)))
    assert (both.seconds, both.forward_seconds, both.backward_seconds) == (3.0, 2.0, 1.0)
    assert both.noise == pytest.approx(4 / 3)
    assert Measurement("x", FAILED, "why").seconds is None


@pytest.mark.parametrize(
    ("rounds", "wins"),
    [
        ([0.9] * 8, True),
        ([0.98] * 8, False),  # within the margin
        ([0.9, 0.9, *[1.2] * 6], False),  # twice by chance
        ([0.9, 0.9, 0.9, *[9.0] * 5], True),  # something else was slowing it down
        ([1.1] * 8, False),
    ],
)
def test_a_candidate_must_be_clearly_faster(rounds: list[float], wins: bool) -> None:
    simpler = measured("eager", *[1.0] * 8)
    candidate = measured("inductor", *rounds)
    assert is_faster(candidate, simpler) is wins
    assert winner([simpler, candidate]) == ("inductor" if wins else "eager")


def test_the_simplest_wins_among_equals_and_the_failed_never() -> None:
    failed = Measurement("eager", FAILED, "why")
    assert winner([failed, measured("a", 1.0, 1.0, 1.0), measured("b", 0.99, 0.99, 0.99)]) == "a"
    assert winner([failed]) is None


def test_an_entry_holds_for_one_device_and_one_torch() -> None:
    entry = Tuned(
        "k", "CPU, 2 threads", "2.13", "a", (measured("a", 1.0),), "today", 3, "f (f.py:1)", ("f32[2]",)
    )
    assert Tuned.from_json(entry.as_json()) == entry
    assert winners.find([entry], "k", "CPU, 2 threads", "2.13") is entry
    assert winners.find([entry], "k", "CPU, 4 threads", "2.13") is None
    assert winners.why_unknown([entry], "j", "CPU, 2 threads", "2.13") == "has no entry for this graph"
    assert winners.why_unknown([entry], "k", "CPU, 2 threads", "2.14").endswith(
        "torch 2.13, and this is 2.14"
    )
    assert "for CPU, 2 threads, and this is GPU" in winners.why_unknown([entry], "k", "GPU", "2.13")


def test_a_winner_that_was_not_measured_is_damage() -> None:
    value = Tuned("k", "d", "2.13", "a", (measured("a", 1.0),), "today").as_json() | {"winner": "b"}
    with pytest.raises(ValueError, match="'b' was not measured"):
        Tuned.from_json(value)


@pytest.mark.parametrize(
    "changed",
    [
        {"rounds": [[0, None]]},
        {"rounds": [[-1, 0.5]]},
        {"rounds": [[float("nan"), None]]},
        {"rounds": [1]},
        {"compile_seconds": "long"},
        {"verdict": "best"},
    ],
)
def test_a_measurement_that_cannot_be_is_damage(changed: dict[str, Any]) -> None:
    value = measured("a", 1.0).as_json() | changed
    with pytest.raises((ValueError, TypeError)):
        Measurement.from_json(value)


def test_devices_in_words() -> None:
    names = {"cpu": "AMD EPYC", "cuda": "NVIDIA H100"}
    assert device_words({"cpu"}, names, 2) == "AMD EPYC, 2 threads"
    assert device_words({"cpu", "cuda"}, names, 2) == "NVIDIA H100"
    assert device_words(set(), names, 1) == "AMD EPYC, 1 thread"


def test_the_default_file_is_beside_the_recordings() -> None:
    assert Path(".dynamo/autotuned.json") == winners.DEFAULT_FILE
