"""Which backend took a graph, from the record to the words."""

import json
from dataclasses import replace
from pathlib import Path

from dynamo_core.model import AssignedBackend, CompileId, DeclinedBy, Graph, Process, Recording
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.parts.backends import (
    backend_text,
    backends_section,
    taken_line,
    untaken_lines,
)
from support.trace_bytes import NO_FRAME, artifact, process_of


def graph(number: int, by: str | None, *declined: tuple[str, str], using: str | None = None) -> Graph:
    assigned_backend = AssignedBackend(by, using, tuple(DeclinedBy(*each) for each in declined))
    return Graph(
        number,
        CompileId(number - 1, 0),
        0,
        None,
        ",".join([*(name for name, _ in declined), *([] if by is None else [by])]),
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
        assert process.health.damaged_records == 1
        assert process.graphs == []
        assert "checksum" not in str(process.health.first_damage)


def test_a_backend_that_chooses_is_shown_with_its_choice() -> None:
    tuned = graph(1, "autotuned", using="inductor:max-autotune")
    assert backend_text(tuned) == "autotuned: inductor:max-autotune"
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
    assert list(backends_section(recording(of_torch))) == []
    assert taken_line(recording(graph(1, "mine.py:f"))) is None


def test_of_graphs_that_were_taken_none_is_said_to_be_left() -> None:
    assert untaken_lines(recording(graph(1, "a"), graph(2, "b", ("a", "not this one")))) == []
    left = [graph(number, None, ("a", "no")) for number in range(1, 8)]
    assert len(untaken_lines(recording(graph(8, "a"), *left[:5]))) == 5
    assert untaken_lines(recording(*left))[5:] == ["… and 2 more graphs that no backend took"]


def test_each_backend_has_a_row_with_what_it_took() -> None:
    unknown = replace(graph(3, "b", ("a", "other")), calls=None, host_seconds=None)
    several = recording(graph(1, "b", ("a", "no")), graph(2, "b", ("a", "no")), unknown, graph(4, "a"))
    lines = [" ".join(line.split()) for line in plain_text(backends_section(several)).splitlines()]
    assert lines[2:4] == ["b 3 not recorded not recorded", "a 1 2 1.00 s"]
    assert lines[4:] == ["- a declined 2 graphs: no", "- a declined graph 3: other"]


def test_a_named_backend_that_took_nothing_is_told_with_why() -> None:
    first = replace(graph(1, "a", ("/x/mine.py:f", "no")), backend="/x/mine.py:f,a,/x/mine.py:g")
    lines = [" ".join(line.split()) for line in plain_text(backends_section(recording(first))).splitlines()]
    assert lines[2:] == [
        "a 1 2 1.00 s",
        "- mine.py:g was never asked: the backends before it took every graph",
        "- mine.py:f declined graph 1: no",
    ]
    assert taken_line(recording(first)) == "graphs by backend: a 1; mine.py:f 0; mine.py:g 0"
    tuned = replace(graph(1, "inductor:max-autotune[a=1]"), backend="inductor")
    assert taken_line(recording(tuned)) is None
