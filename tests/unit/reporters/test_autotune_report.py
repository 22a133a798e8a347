"""What `dynamo autotune` says of made-up measurements: winners, what is undecided, a busy machine."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from dynamo_core.analysis.graphs.nodes import TIMES
from dynamo_core.bench.autotune.rounds import GraphProgram
from dynamo_core.bench.autotune.tuning import DistinctGraph, GraphToTune, Result
from dynamo_core.case import Case
from dynamo_core.model import CompileId, Graph, Process, Recording
from dynamo_core.shared.winners import AGREES, Conditions, Measurement, Round, Tuned
from dynamo_reporters.autotune import report
from dynamo_reporters.autotune_document import Tuning, candidates_intervals
from dynamo_reporters.documents import json_value
from dynamo_reporters.page.console import plain_text

HERE = Conditions("CPU, 2 threads", "2.13", "settings")


def measured(name: str, milliseconds: float, *, busy: float = 0.0, counts: bool = True) -> Measurement:
    rounds = tuple(Round(milliseconds / 1e3 * (1 + 0.001 * (i % 5)), None, busy, counts) for i in range(12))
    return Measurement(name, AGREES, None, 1.0, rounds)


def result(number: int, winner: str | None, *measurements: Measurement) -> tuple[DistinctGraph, Result]:
    process = Process(Path("trace.log"))
    graph = Graph(number, CompileId(number, 0), 0, None, "eager", 3, is_compiled=True, calls=100)
    to_tune = GraphToTune("k", GraphProgram("", {}, 2), None, (), frozenset({"cpu"}), 3, "f (f.py:1)", ())
    tuned = Tuned("k", HERE, winner, measurements, "today", 3, "f (f.py:1)")
    return DistinctGraph(to_tune, [(process, graph)]), Result(to_tune, tuned, is_new=True)


def page(*results: tuple[DistinctGraph, Result]) -> str:
    made = Tuning("t.json", [graph for graph, _ in results], [each for _, each in results], {})
    recording = Recording(Path("r"), None, [], None, [])
    return plain_text(report(lambda _: made, show_all=False).page(Case(recording)))


def line_of(text: str, *words: str) -> str:
    (found,) = (line for line in text.splitlines() if all(word in line for word in words))
    return " ".join(found.split())


def test_a_winner_stands_beside_what_it_beats() -> None:
    text = page(result(1, "inductor", measured("eager", 13), measured("inductor", 10), measured("b", 9.99)))
    assert text.startswith("1 distinct graph; the best backend is inductor for 1\n")
    assert line_of(text, "eager", "slower").startswith("eager 13 ms 1.30" + TIMES + " 1.30 to 1.30")
    assert line_of(text, "★", "winner") == "★ inductor 10 ms 1.00 s winner"
    assert "no faster" in line_of(text, "b ", "ms", "1.00 to 1.00")
    assert "beside the winner 99 % compile" in line_of(text, "candidate", "verdict")
    # What is no faster beyond doubt is not shown to beat the winners in all.
    assert line_of(text, "b alone").endswith("1.00" + TIMES)
    assert "busy" not in text and "Undecided" not in text


def test_how_fast_each_is_beside_the_winner_is_drawn() -> None:
    both = (measured("eager", 20), measured("inductor", 10))
    (drawn,) = candidates_intervals(both, "inductor")
    assert drawn.of == "as fast as inductor (99 %)"
    assert [(each.name, round(each.value, 2)) for each in drawn.estimates] == [("eager", 0.5)]
    (undecided,) = candidates_intervals(both, None)
    assert undecided.of == "as fast as inductor (99 %)", "the fastest, where none has won"
    assert list(candidates_intervals([measured("eager", 20, counts=False)], None)) == []


def test_times_are_those_of_rounds_in_which_both_were_timed() -> None:
    """The machine was twice as fast in rounds in which the winner's batches do not count."""
    slow = [Round(0.02 * (1 + 0.001 * (i % 5)), None, 0.0) for i in range(12)]
    fast = [each._replace(forward=each.forward / 2) for each in slow + slow]
    winner = Measurement("eager", AGREES, None, 1.0, (*slow, *(each._replace(counts=False) for each in fast)))
    other = Measurement("inductor", AGREES, None, 1.0, (*slow, *fast))
    assert other.seconds is not None and other.seconds < 0.011
    text = page(result(1, "eager", winner, other))
    assert line_of(text, "inductor", "no faster").startswith("inductor 20 ms 1.00" + TIMES)


def test_what_is_undecided_says_what_would_decide() -> None:
    held_up = [measured(name, 10, busy=0.9, counts=False) for name in ("eager", "inductor")]
    text = page(result(4, None, *held_up))
    assert text.startswith("1 distinct graph; undecided for 1\n")
    assert "graph 4: eager and inductor, after 12 rounds, of which 0 count: in others threads waited" in text
    assert "Nothing was stored for them" in text and "longer --budget" in text
    assert (
        "in 24 of 24 batches of calls, something waited for a processor for more than 10 % of the time"
        in text
    )
    assert "of its time; 24 batches do not count" in text
    first, second = (
        replace(measured(name, 10), rounds=tuple(Round(each, None) for each in seconds))
        for name, seconds in (("eager", [1.0] * 8), ("inductor", [0.93, 1.03] * 4))
    )
    assert "graph 4: eager and inductor, after 8 rounds\n" in page(result(4, None, first, second))
    assert "kept in" not in text


def on(device: str, found: tuple[DistinctGraph, Result]) -> tuple[DistinctGraph, Result]:
    graph, made = found
    assert made.tuned is not None
    tuned = replace(made.tuned, conditions=HERE._replace(device=device))
    return graph, replace(made, tuned=tuned)


def overview(*results: tuple[DistinctGraph, Result]) -> list[str]:
    """The rows of all graphs, below their headings."""
    _, *rest = page(*results).partition("  a call  ")
    return [" ".join(line.split()) for line in "".join(rest).splitlines()[: len(results) + 1]]


def test_each_graph_stands_beside_eager_with_its_winner() -> None:
    simple = result(1, "eager", measured("eager", 10), measured("inductor", 20))
    fast = result(2, "inductor", measured("eager", 20), measured("inductor", 10))
    headings, *rows = overview(simple, fast)
    assert "vs eager" in headings and "on" not in headings.split()
    assert rows[0].startswith("1 100 eager 10 ms unknown frame")
    assert rows[1].startswith(f"2 100 inductor 10 ms 2.00{TIMES} unknown frame")


def test_the_device_is_named_where_there_are_several() -> None:
    one = result(1, "inductor", measured("eager", 20), measured("inductor", 10))
    other = on("H100", result(2, "inductor", measured("eager", 20), measured("inductor", 10)))
    headings, first, second = overview(one, other)
    assert "on" in headings.split()
    assert "CPU, 2 threads" in first and "H100" in second
    headings, alone = overview(one)
    assert "on" not in headings.split() and "CPU" not in alone


def body(*results: tuple[DistinctGraph, Result], **unusable: str) -> dict[str, Any]:
    made = Tuning("t.json", [graph for graph, _ in results], [each for _, each in results], unusable)
    known: dict[str, Any] = json_value(
        report(lambda _: made, show_all=False).body(Case(Recording(Path("r"), None, [], None, [])))
    )
    return known


def test_the_document_has_each_candidate_beside_the_best() -> None:
    (graph,) = body(result(1, "inductor", measured("eager", 13), measured("inductor", 10)))["graphs"]
    eager, inductor = graph["measurements"]
    assert (graph["winner"], graph["undecided"], graph["numbers"], graph["calls"]) == (
        "inductor",
        [],
        [1],
        100,
    )
    assert (eager["standing"], inductor["standing"]) == ("slower", "winner")
    assert inductor["beside_best"] is None
    assert (round(eager["beside_best"]["ratio"], 3), eager["beside_best"]["rounds"]) == (1.3, 12)
    assert eager["beside_best"]["low"] <= eager["beside_best"]["high"]
    assert (graph["device"], graph["torch"], graph["settings"], graph["sizes"]) == (
        *("CPU, 2 threads", "2.13", "settings", []),
    )


def test_the_document_has_what_was_undecided_unusable_or_not_measured() -> None:
    held_up = [measured(name, 10, busy=0.9, counts=False) for name in ("eager", "inductor")]
    undecided = result(1, None, *held_up)
    graph, tried = result(2, None, measured("eager", 10))
    failed = graph, replace(tried, tuned=None, problem="it was recorded without a key")
    found = body(undecided, failed, ofi="it is not installed")
    assert found["unusable"] == [{"candidate": "ofi", "reason": "it is not installed"}]
    first, second = found["graphs"]
    assert (first["winner"], first["undecided"]) == (None, ["eager", "inductor"])
    assert [each["beside_best"] for each in first["measurements"]] == [None, None]
    assert (second["measurements"], second["undecided"], second["device"], second["sizes"]) == (
        [],
        [],
        None,
        None,
    )
    assert second["problem"] == "it was recorded without a key"


def test_a_ratio_of_one_round_has_no_interval_in_the_document() -> None:
    once = [
        replace(measured(name, ms), rounds=(Round(ms / 1e3, None),)) for name, ms in (("a", 20), ("b", 10))
    ]
    (graph,) = body(result(1, None, *once))["graphs"]
    assert graph["measurements"][0]["beside_best"] == {"ratio": 2.0, "low": None, "high": None, "rounds": 1}


def test_graphs_that_were_not_measured_and_candidates_that_were_rejected_are_said() -> None:
    def wrong(number: int) -> tuple[DistinctGraph, Result]:
        rejected = Measurement("b", "disagrees", "output 0 differs")
        declined = Measurement("c", "declined", "declined: it trains")
        return result(number, "eager", measured("eager", 10), rejected, declined, Measurement("d", "crashed"))

    graph, tried = result(3, None, measured("eager", 10))
    text = page(wrong(1), wrong(2), (graph, replace(tried, tuned=None, problem="it has no key")))
    for line in (
        "graphs 1, 2: b disagrees: output 0 differs",
        "graphs 1, 2: c declined: it trains",
        "graphs 1, 2: d crashed",
        "graph 3: not measured: it has no key",
    ):
        assert f"- {line}\n" in text
    assert text.startswith("3 distinct graphs; the best backend is eager for 2\n")
