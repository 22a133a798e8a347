"""Which backend took a graph, from the record to the words."""

import json
from pathlib import Path

from dynamo_core.model import AssignedBackend, CompileId, DeclinedBy, Graph, Process, Recording
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.parts.backends import (
    Taken,
    backend_text,
    backends_section,
    taken,
    taken_line,
    untaken_lines,
)
from trace_bytes import NO_FRAME, artifact, process_of


def graph(number: int, by: str | None, *declined: tuple[str, str], using: str | None = None) -> Graph:
    assigned_backend = AssignedBackend(by, using, tuple(DeclinedBy(*each) for each in declined))
    return Graph(
        number,
        CompileId(number - 1, 0),
        0,
        None,
        "a,b",
        1,
        is_compiled=True,
        calls=2,
        host_seconds=1.0,
        assigned_backend=assigned_backend,
    )


def recording(*graphs: Graph) -> Recording:
    return Recording(Path("rec"), None, [Process(Path("trace.log"), graphs=list(graphs))], None, [])


def test_a_record_that_makes_no_sense_is_damage() -> None:
    for payload in ({"graph": 7, "by": "a", "using": None, "declined": []}, ["no"], {"graph": 1}):
        process = process_of(artifact("dynamo_graph_taken", json.dumps(payload), NO_FRAME))
        assert process.damaged_records == 1
        assert process.graphs == []
        assert "checksum" not in str(process.first_damage)


def test_a_backend_that_chooses_is_shown_with_its_choice() -> None:
    tuned = graph(1, "autotuned", using="inductor:max-autotune")
    assert backend_text(tuned) == "autotuned: inductor:max-autotune"
    assert taken(tuned) == Taken("autotuned", "inductor:max-autotune", [])
    fell_back = [graph(number, "inductor", ("autotuned", "unknown")) for number in (2, 3)]
    assert taken_line(recording(tuned, *fell_back)) == (
        "graphs by backend: inductor 2; autotuned: inductor:max-autotune 1"
    )
    page = plain_text(backends_section(recording(tuned, *fell_back)))
    assert "autotuned declined 2 graphs: unknown" in page


def test_a_graph_that_none_took_is_told_with_every_reason() -> None:
    (line,) = untaken_lines(
        recording(graph(1, None, ("/x/mine.py:f", "it returned None"), ("b", "E: no\nmore")))
    )
    assert line.endswith("it runs eager: mine.py:f: it returned None; b: E: no")
    assert taken_line(recording(graph(1, None, ("a", "no")))) is None


def test_without_a_choice_there_is_nothing_to_tell() -> None:
    of_torch = Graph(1, None, 0, None, "inductor", 1)
    assert backend_text(of_torch) == "inductor"
    assert taken(of_torch) is None
    assert list(backends_section(recording(of_torch))) == []
    assert taken_line(recording(graph(1, "mine.py:f"))) is None
