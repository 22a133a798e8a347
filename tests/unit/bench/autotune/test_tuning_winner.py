"""Which measurement wins, and what an autotune file says of it."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dynamo_core.bench.autotune.rounds import (
    Bench,
    Decision,
    GraphProgram,
    Surroundings,
    _align,
    _Timed,
    cannot_win,
    decide,
    standing,
    time_ratio,
    to_confirm,
)
from dynamo_core.bench.autotune.tuning import GraphToTune, Result, _usable, tune
from dynamo_core.shared import winners
from dynamo_core.shared.winners import (
    AGREES,
    FAILED,
    Conditions,
    Measurement,
    Round,
    Tuned,
    device_words,
    size_class,
)

HERE = Conditions("CPU, 2 threads", "2.13", "settings", ("64 to 127",))


def measured(name: str, *seconds: float | None) -> Measurement:
    """Rounds of these seconds; None is one that does not count."""
    rounds = tuple(Round(each or 1.0, None, 0.0, each is not None) for each in seconds)
    return Measurement(name, AGREES, None, 1.0, rounds)


def around(centre: float, rounds: int = 12) -> list[float]:
    """Rounds within 2 % of a time."""
    return [centre * (1 + 0.02 * ((7 * i) % 5 - 2) / 2) for i in range(rounds)]


def test_the_median_round_counts_forward_and_backward() -> None:
    held_up = Round(0.1, 0.1, 1.0, counts=False)
    both = Measurement("x", AGREES, None, 1.0, (Round(1.0, 3.0), Round(2.0, 1.0), Round(4.0, 4.0), held_up))
    assert (both.seconds, both.forward_seconds, both.backward_seconds) == (4.0, 1.0, 3.0)
    assert measured("x", None, None).seconds is None
    assert Measurement("x", FAILED, "why").seconds is None


@pytest.mark.parametrize(
    ("rounds", "found"),
    [
        (around(0.9), "inductor"),
        (around(1.1), "eager"),
        (around(1.0), "eager"),  # the same: the simpler one
        ([0.9, 0.9, 9.0, *around(0.9)], "inductor"),  # something else slowed it down once
        ([0.5, 2.0, 0.7, 1.5, 0.6, 1.8, 0.9, 1.2], None),
        ([0.85, 1.1, 0.9, 1.08, 0.88, 1.12, 0.8, 1.1], None),
        (around(0.9, 4), None),  # too few
        ([0.9, 0.9, 0.9, *[None] * 40], None),  # threads waited in all others
        ([*[0.9] * 6, *[None] * 40], "inductor"),
    ],
)
def test_a_winner_is_faster_beyond_doubt(rounds: list[float | None], found: str | None) -> None:
    simpler = measured("eager", *around(1.0, len(rounds)))
    decision = decide([simpler, measured("inductor", *rounds)])
    assert decision.winner == found
    assert (decision.between == ("eager", "inductor")) == (found is None)


def test_rounds_are_compared_pair_by_pair() -> None:
    """A machine that slows down and speeds up by more than the two differ."""
    state = [1.0, 3.0, 1.5, 6.0, 2.0, 5.0, 1.2, 4.0, 1.1, 2.2, 3.3, 4.4]
    eager, inductor = measured("eager", *state), measured("inductor", *(0.9 * each for each in state))
    assert decide([eager, inductor]).winner == "inductor"
    ratio = time_ratio(eager, inductor)
    assert ratio is not None and ratio.estimate == pytest.approx(1 / 0.9)


def test_no_loser_is_faster_than_the_winner() -> None:
    candidates = [measured("eager", *around(1.3)), measured("a", *around(1.0)), measured("b", *around(0.99))]
    assert decide(candidates).winner == "a"
    assert [standing(each, candidates[1]) for each in candidates] == ["slower", "winner", "no faster"]


def test_a_winner_is_sure_to_be_faster_than_what_is_simpler() -> None:
    """The second is about as fast as the first, or up to 8 % faster: the first is not out yet."""
    first, second = measured("eager", *[1.0] * 8), measured("inductor", *[0.93, 1.03] * 4)
    assert standing(first, second) == "no faster" and standing(second, first) == "undecided"
    assert decide([first, second]) == Decision(None, ("eager", "inductor"))


@pytest.mark.parametrize(("share", "found"), [(0.975, "eager"), (0.971, "eager"), (0.965, "inductor")])
def test_two_that_are_apart_by_about_the_margin_are_decided(share: float, found: str) -> None:
    """The interval around a share near the margin has it inside, however many rounds there are."""
    rounds = around(share, 400)
    assert decide([measured("eager", *[1.0] * 400), measured("inductor", *rounds)]).winner == found


def test_slower_is_only_what_takes_longer_in_the_rounds_in_which_both_count() -> None:
    """Its typical round is longer for the rounds in which something else held up the other one."""
    slow, other = measured("a", *[1.0] * 6, *[1.5] * 8), measured("b", *[1.0] * 6, *[None] * 8)
    assert slow.seconds == 1.5 and other.seconds == 1.0
    assert standing(slow, other) == "no faster"
    by_little = measured("a", *[1.001] * 6, *[1.5] * 8)
    assert standing(by_little, other) == "slower"


@pytest.mark.parametrize(("rounds", "stands"), [(4, "undecided"), (5, "slower")])
def test_two_are_compared_by_five_rounds_at_least(rounds: int, stands: str) -> None:
    assert standing(measured("a", *[2.0] * rounds), measured("b", *[1.0] * rounds)) == stands


def test_what_is_faster_by_up_to_the_margin_is_no_faster() -> None:
    best = measured("b", *[1.0] * 8)
    assert standing(measured("a", *[0.971] * 8), best) == "no faster"
    assert standing(measured("a", *[0.969] * 8), best) == "undecided"


def test_a_lead_of_twice_needs_no_confirming() -> None:
    eager = measured("eager", *[1.0] * 8)
    assert to_confirm([eager, measured("a", *[0.501] * 8)]) == ["eager", "a"]
    assert to_confirm([eager, measured("a", *[0.499] * 8)]) == []


def test_what_is_far_behind_is_not_timed_any_more() -> None:
    """But what may yet be as fast as one that is open, is."""
    near = [1.0, 1.1, 0.95, 1.06, 0.9, 1.12]
    candidates = [
        measured("eager", *near),
        measured("ofi", *reversed(near)),
        measured("inductor", *around(7.0, 6)),
        measured("perhaps", 1.0, 1.6, 0.9, 1.5, 1.1, 1.7),
    ]
    assert decide(candidates).winner is None
    assert cannot_win(candidates) == {"inductor"}


def test_rounds_that_one_missed_are_like_its_last_and_do_not_count() -> None:
    results = {
        "a": measured("a", 1.0, 2.0, 3.0),
        "b": measured("b", 4.0),
        "failed": Measurement("failed", FAILED, "why"),
        "other": measured("other", 1.0),
    }
    _align(["a", "b", "failed"], results)
    assert results["a"] == measured("a", 1.0, 2.0, 3.0)
    missed = Round(4.0, None, None, False)
    assert results["b"].rounds == (*measured("b", 4.0).rounds, missed, missed)
    assert results["failed"].rounds == ()
    assert results["other"].rounds == measured("other", 1.0).rounds
    _align([], results)


def test_what_is_not_far_behind_each_one_that_is_open_is_timed_on() -> None:
    """A third is behind the best by 4 %, and behind the second by 2 % only."""
    candidates = [measured(name, *[each] * 12) for name, each in (("c", 1.04), ("b", 1.02), ("a", 1.0))]
    assert decide(candidates).between == ("b", "a")
    assert cannot_win(candidates) == set()
    assert cannot_win([measured("far", *[1.2] * 12), *candidates]) == {"far"}


def test_a_close_winner_is_to_be_confirmed() -> None:
    eager, far = measured("eager", *around(1.0)), measured("inductor", *around(0.4))
    assert to_confirm([eager, measured("ofi", *around(0.93))]) == ["eager", "ofi"]
    assert to_confirm([eager, far]) == []
    assert to_confirm([measured("ofi", *around(0.93)), eager]) == []  # the simplest is ahead


class FakeBench(Bench):
    """Measures nothing: it has the rounds already."""

    def __init__(self, *measurements: Measurement) -> None:
        self._measurements = {each.candidate: each for each in measurements}
        self.asked: list[list[str]] = []

    def surroundings(self) -> Surroundings:
        return Surroundings("2.13", "settings", {"cpu": "CPU"})

    def why_unusable(self, candidate: str) -> str | None:
        return None if candidate in self._measurements else "it is not here"

    def measure(
        self, program: GraphProgram, candidates: Iterable[str], tell: Callable[[str], None] = print
    ) -> list[Measurement]:
        self.asked.append(list(candidates))
        return [self._measurements[each] for each in self.asked[-1]]


def tuned_now(
    monkeypatch: pytest.MonkeyPatch, bench: Bench, stored: list[Tuned], *, again: bool = False
) -> tuple[Result, list[Tuned]]:
    """What comes of tuning a graph, and what is handed on to be stored."""
    written: list[Tuned] = []
    monkeypatch.setattr(winners, "read_if_there", lambda path: stored)
    monkeypatch.setattr(winners, "store", lambda path, tuned: written.extend(tuned))
    program = GraphProgram("", {}, 2)
    graph = GraphToTune("k", program, None, ("64 to 127",), frozenset({"cpu"}), 3, "f", ())
    names = ["inductor", "eager"]
    (result,) = tune([graph], names, bench, Path("x"), again=again, progress=lambda *what: None)
    return result, written


def test_what_is_decided_is_stored_with_its_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench(measured("eager", *around(1.0)), measured("inductor", *around(0.8)))
    result, (written,) = tuned_now(monkeypatch, bench, [])
    assert written is result.tuned
    assert winners.merge_decided([], [written]) == [written]
    assert (written.winner, written.conditions) == ("inductor", HERE)
    assert tuned_now(monkeypatch, bench, [written]) == (Result(result.graph, written, stored=written), [])


def test_what_is_undecided_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench(measured("eager", 1.0, 1.0), measured("inductor", 0.8, 0.8))
    before = Tuned("k", HERE, "eager", (measured("eager", 1.0),), "today")
    result, written = tuned_now(monkeypatch, bench, [before], again=True)
    assert winners.merge_decided([before], written) == [before]
    assert result.tuned is not None and result.tuned.winner is None and result.stored is before
    assert written == [result.tuned]


def test_a_new_candidate_is_timed_beside_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = FakeBench(*(measured(name, *around(1.0)) for name in ("eager", "inductor", "ofi")))
    before = Tuned("k", HERE, "ofi", (measured("ofi", 1.0), measured("eager", 1.0)), "today")
    tuned_now(monkeypatch, bench, [before])
    assert bench.asked == [["eager", "inductor", "ofi"]]


def test_what_is_not_sound_takes_no_part_and_what_is_alone_wins() -> None:
    failed = Measurement("eager", FAILED, "why")
    assert decide([failed, measured("a", *around(1.0)), measured("b", *around(1.0))]).winner == "a"
    assert decide([failed, measured("a", None)]).winner == "a"
    assert decide([failed]) == Decision(None)


def test_an_entry_holds_under_its_conditions() -> None:
    entry = Tuned("k", HERE, "a", (measured("a", 1.0, None),), "today", 3, "f (f.py:1)", ("f32[2]",))
    assert Tuned.from_json(json.loads(json.dumps(entry.as_json()))) == entry
    assert winners.find([entry], "k", HERE) is entry
    assert winners.why_unknown([entry], "j", HERE) == "has no entry for this graph"
    for others, why in [
        (HERE._replace(device="CPU, 1 thread"), "CPU, 2 threads, and this is CPU, 1 thread"),
        (HERE._replace(torch="2.14"), "torch 2.13, and this is 2.14"),
        (HERE._replace(settings="else"), "other settings of torch._inductor.config"),
        (HERE._replace(sizes=("128 to 255",)), "sizes 64 to 127, and this has 128 to 255"),
    ]:
        assert winners.find([entry], "k", others) is None
        assert f"has this graph for {why}" in winners.why_unknown([entry], "k", others)


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0"), (1, "1"), (2, "2 to 3"), (64, "64 to 127"), (127, "64 to 127")]
)
def test_classes_of_sizes(size: int, words: str) -> None:
    assert size_class(size) == words


def test_a_winner_that_was_not_measured_is_damage() -> None:
    value = Tuned("k", HERE, "a", (measured("a", 1.0),), "today").as_json() | {"winner": "b"}
    with pytest.raises(ValueError, match="'b' was not measured"):
        Tuned.from_json(value)


@pytest.mark.parametrize(
    "changed",
    [
        {"rounds": [[0, None, 0.0, True]]},
        {"rounds": [[-1, 0.5, 0.0, True]]},
        {"rounds": [[float("nan"), None, None, True]]},
        {"rounds": [[1.0, None]]},
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


@pytest.mark.parametrize(("again", "confirmed"), [(0.8, True), (1.0, False)])
def test_a_winner_that_other_processes_do_not_confirm_does_not_win(
    monkeypatch: pytest.MonkeyPatch, again: float, confirmed: bool
) -> None:
    """The processes of the first sitting differ; in the second, the candidates may be the same."""
    started: list[str] = []
    timed: list[str] = []
    bench = Bench(python="python", import_path=[], time_limit=1.0)

    def prepare(candidate: str, program: GraphProgram) -> tuple[Measurement, float]:
        started.append(candidate)
        return Measurement(candidate, AGREES), 1e-3

    def time_batch(candidate: str, calls: int, processor: int | None) -> _Timed:
        share = 1.0 if candidate == "eager" else 0.8 if len(started) == 2 else again
        timed.append(candidate)
        return _Timed(Round(share * (1 + 0.001 * (timed.count(candidate) % 3)), None), None)

    monkeypatch.setattr(bench, "_prepare", prepare)
    monkeypatch.setattr(bench, "_time", time_batch)
    monkeypatch.setattr(bench, "_end", lambda candidate: None)
    measurements = bench.measure(GraphProgram("", {}), ["eager", "ofi"])
    assert started == ["eager", "ofi"] * 2
    assert decide(measurements).winner == ("ofi" if confirmed else "eager")


class SittingsBench(Bench):
    """Times that each of a candidate's processes, from the first, has instead of measured ones."""

    def __init__(self, times: dict[str, list[float]], budget: float = 20.0) -> None:
        super().__init__(python="python", import_path=[], time_limit=1.0, budget=budget)
        self.times = times
        self.sittings = dict.fromkeys(times, 0)
        self.timed = dict.fromkeys(times, 0)

    def _prepare(self, candidate: str, program: GraphProgram) -> tuple[Measurement, float]:
        self.sittings[candidate] += 1
        return Measurement(candidate, AGREES), 1e-3

    def _end(self, candidate: str) -> None:
        pass

    def _time(self, candidate: str, calls: int, processor: int | None) -> _Timed:
        self.timed[candidate] += 1
        times = self.times[candidate]
        seconds = times[min(self.sittings[candidate], len(times)) - 1]
        wobble = 1 + 0.01 * (self.timed[candidate] * 7 % 5 - 2) * (-1 if candidate == "ofi" else 1)
        return _Timed(Round(seconds * wobble, None), None)


def test_all_of_a_round_are_timed_on_one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """On that on which the first is; another one is the first in another round."""
    bench = SittingsBench({"eager": [1.5], "ofi": [1.0], "inductor": [2.0]})
    asked: list[tuple[str, int | None]] = []

    def time_batch(candidate: str, calls: int, processor: int | None) -> _Timed:
        asked.append((candidate, processor))
        there = len(asked) if processor is None else processor
        return _Timed(Round(bench.times[candidate][0], None), there)

    monkeypatch.setattr(bench, "_time", time_batch)
    bench.measure(GraphProgram("", {}), ["eager", "ofi", "inductor"])
    assert asked[:3] == [("eager", None), ("ofi", 1), ("inductor", 1)]
    assert asked[3:6] == [("ofi", None), ("inductor", 4), ("eager", 4)]


@pytest.mark.parametrize(
    ("seconds", "calls"), [(1.0, 1), (5e-3, 1), (1e-3, 5), (2e-6, 2500), (0.0, 5_000_000)]
)
def test_a_batch_takes_some_milliseconds_and_has_a_call_at_least(
    monkeypatch: pytest.MonkeyPatch, seconds: float, calls: int
) -> None:
    bench = SittingsBench({"eager": [1.0]})
    asked: list[int] = []

    def time_batch(candidate: str, calls: int, processor: int | None) -> _Timed:
        asked.append(calls)
        return _Timed(Round(1.0, None), None)

    monkeypatch.setattr(bench, "_prepare", lambda candidate, _: (Measurement(candidate, AGREES), seconds))
    monkeypatch.setattr(bench, "_time", time_batch)
    bench.measure(GraphProgram("", {}), ["eager"])
    assert set(asked) == {calls}


def test_a_winner_is_still_beside_those_that_need_no_confirming() -> None:
    """`eager` is out of it after a few rounds; `ofi` and `inductor` need more; `ofi` is confirmed."""
    bench = SittingsBench({"eager": [1.5], "ofi": [1.0], "inductor": [1.005]})
    measurements = bench.measure(GraphProgram("", {}), ["eager", "ofi", "inductor"])
    assert decide(measurements).winner == "ofi"
    assert bench.sittings == {"eager": 2, "ofi": 2, "inductor": 1}


def test_after_processes_that_differ_all_are_compared_again() -> None:
    """`eager` takes ten times as long, and was left out of the rounds before the first winner was refuted."""
    bench = SittingsBench({"eager": [10.0], "ofi": [1.2, 1.0], "inductor": [1.0, 1.25]})
    measurements = bench.measure(GraphProgram("", {}), ["eager", "ofi", "inductor"])
    assert decide(measurements).winner == "ofi"
    eager, ofi, _ = measurements
    assert len(eager.rounds) <= len(ofi.rounds) < 100 and not ofi.rounds[0].counts


def test_processes_that_never_agree_decide_nothing() -> None:
    """Each new pair of processes says the opposite of the one before, until the budget ends."""
    bench = SittingsBench({"eager": [1.0], "ofi": [0.8, 1.25] * 1000}, budget=0.0)
    measurements = bench.measure(GraphProgram("", {}), ["eager", "ofi"])
    assert decide(measurements) == Decision(None, ("eager", "ofi"))
    assert all(each.seconds for each in measurements)  # what was measured last is on the page


def test_candidates_are_tried_from_the_simplest_and_those_that_were_compared_before_again() -> None:
    unusable: Any = SimpleNamespace(why_unusable=lambda name: "not installed" if name == "tensorrt" else None)
    requested = ["inductor:max-autotune", "tensorrt", "inductor", "eager", "cudagraphs"]
    assert _usable(requested, None, unusable) == [
        "eager",
        "inductor",
        "cudagraphs",
        "inductor:max-autotune",
    ]
