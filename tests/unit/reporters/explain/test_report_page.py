"""What `dynamo explain` counts, where compile time went, and which graphs there are, as tables."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.case import Case
from dynamo_core.model import (
    CacheLookup,
    CallSample,
    CallTimes,
    CompileId,
    CudaGraphNoted,
    Frame,
    Graph,
    GraphBreak,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    StackFrame,
)
from dynamo_reporters.explain.report import report
from dynamo_reporters.page.console import plain_text
from support.made import called, compiled, of_one_process

AT = Place("/home/me/train.py", 3)


def graph(number: int, times: CallTimes | None = None, **more: Any) -> Graph:
    known = {"frame_name": "f", "frame_place": AT, "is_compiled": True, **more}
    made = Graph(number, CompileId(0, number), 0, None, "eager", 3, **known)
    if times is not None:
        made.times, made.calls, made.host_seconds = times, times.calls, times.seconds
    return made


def a_break() -> GraphBreak:
    return GraphBreak("print", (StackFrame(AT, "f", "print(x)"),), CompileId(0, 0))


def frame(name: str, outcome: str, **more: Any) -> Frame:
    return Frame(name, AT, outcome, None, outcome == "compiled", False, None, **more)  # type: ignore[arg-type]


def section(recording: Recording, title: str) -> list[str]:
    """The lines below a heading, each with single blanks, up to the next heading."""
    lines = plain_text(report(show_all=True).page(Case(recording))).splitlines()
    below = lines[lines.index(title) + 1 :]
    end = next((at for at, line in enumerate(below) if line and not line.startswith(" ")), len(below))
    return [" ".join(line.split()) for line in below[:end] if line.strip()]


def test_each_count_has_a_row_and_says_what_it_counts() -> None:
    known = of_one_process(
        frames=[frame("f", "compiled"), frame("g", "failed"), frame("h", "skipped")],
        graphs=[graph(1, called([1, 2, 3], 0.5)), graph(2, called([9], 0.25))],
        compiles=[compiled(0, 1.5), compiled(1, 0.5, "size mismatch")],
        end=ProcessEnd(),
    )
    rows = dict(row.rsplit(" ", 1) for row in section(known, "Counts") if "(1 ok" not in row)
    assert rows["graphs"] == "2" and rows["ops"] == "6" and rows["graph calls"] == "4"
    assert rows["recompiles"] == "1" and rows["frames that fell back to eager"] == "1"
    assert "frames traced 3 (1 ok, as torch counts)" in section(known, "Counts")
    assert "compile time 2.00 s" in section(known, "Counts")
    assert not any("whole-graph" in row for row in section(known, "Counts"))
    exported = of_one_process(frames=[replace(frame("f", "compiled"), is_whole_graph=True)])
    assert "whole-graph frames 1" in section(exported, "Counts")


def test_what_was_not_recorded_is_not_counted_as_none() -> None:
    plain = Recording(Path("trace"), None, [Process(Path("trace"))], None, [])
    rows = section(plain, "Counts")
    for name in ("frames traced", "graph calls", "graph breaks"):
        assert f"{name} not recorded" in rows


def test_compile_time_by_phase_with_what_of_it_was_done_again() -> None:
    parts = {"dynamo": 3.0, "backend": 1.0}
    first = replace(compiled(0, 3.0), phases=parts, seconds_before_restart=0.25, cache_hits=1, cache_misses=3)
    again = replace(compiled(1, 1.0, "size mismatch"), cache_hits=0, cache_misses=0)
    failed = replace(compiled(2, 0.5), fail_type="Unsupported", is_forward=False)
    looked = [
        CacheLookup("fx_graph", outcome, None, None, None)
        for outcome in ("hit", "hit", "miss", "bypass", "bypass")
    ]
    lines = section(
        of_one_process(compiles=[again, first, failed], lookups=looked), "Where compile time went"
    )
    assert "- 1.00 s of it in recompiles" in lines
    assert "- 250 ms of it before tracing restarted" in lines
    assert "- 500 ms of it in compiles that failed" in lines
    assert "- fx_graph: 2 hits, 1 miss, 2 bypassed" in lines
    at = lines.index("costliest took caches hit of")
    assert lines[at + 1 :] == [
        "[0/0] 3.00 s 1 of 4 f /home/me/train.py:3",
        "[0/1] 1.00 s - f /home/me/train.py:3",
        "[0/2] backward 500 ms not recorded f /home/me/train.py:3",
    ]


def test_a_compile_of_an_unknown_place_is_told_by_its_process_alone() -> None:
    one, two = ranks(1, 1).processes
    one.compiles = [replace(compiled(0, 2.0), place=None), compiled(1, 1.0)]
    lines = section(Recording(Path("rec"), None, [one, two], 2, []), "Where compile time went")
    at = lines.index("costliest took caches hit of")
    assert lines[at + 1 : at + 3] == [
        "[0/0] 2.00 s not recorded of rank 0",
        "[0/1] 1.00 s not recorded f /home/me/train.py:3 of rank 0",
    ]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, None),
        ({"frames": [frame("g", "failed")]}, "breaks | bytecode --diff"),
        ({"breaks": [a_break()]}, "breaks"),
        ({"compiles": [replace(compiled(1, 1.0, "size"), guards=0)]}, "recompiles"),
        ({"compiles": [compiled(0)]}, "guards"),
        ({"graphs": [graph(1)]}, "profile | graphs | ops"),
    ],
)
def test_the_page_ends_with_the_reports_that_have_more_to_say(
    fields: dict[str, Any], named: str | None
) -> None:
    page = plain_text(report(show_all=True).page(Case(of_one_process(**fields))))
    assert page.rstrip().endswith(f"\n\nMore\n  dynamo {named}  rec") if named else "\nMore\n" not in page
    assert "  dynamo ranks | " in plain_text(report(show_all=True).page(Case(ranks(1, 1))))


def test_where_torchs_own_counts_are_others_it_says_so() -> None:
    totals = {"unique_graphs": 3, "frames_total": 0, "frames_ok": 1, "graph_break_reasons": 0}
    known = of_one_process(
        graphs=[graph(1)], frames=[frame("f", "compiled")], end=ProcessEnd(torch_totals=totals)
    )
    assert section(known, "What could not be seen") == [
        "- process 1: torch counts 3 unique_graphs, the recording has 1",
        "- process 1: torch counts 0 frames_total, the recording has 1",
    ]
    agreeing = {**totals, "unique_graphs": 1, "frames_total": 1}
    assert "What could not be seen" not in plain_text(
        report(show_all=True).page(
            Case(
                of_one_process(
                    graphs=[graph(1)], frames=[frame("f", "compiled")], end=ProcessEnd(torch_totals=agreeing)
                )
            )
        )
    )


def test_one_compile_is_in_no_list_of_the_costliest_and_of_many_ten_are() -> None:
    title = "Where compile time went"
    assert not any("costliest" in line for line in section(of_one_process(compiles=[compiled(0)]), title))
    eleven = section(of_one_process(compiles=[compiled(number) for number in range(12)]), title)
    assert sum(line.startswith("[0/") for line in eleven) == 10
    assert eleven[-1] == "… and 2 more compiles; --format json has all"
    assert title not in plain_text(report(show_all=True).page(Case(of_one_process())))


def test_graphs_with_their_calls_the_longest_first() -> None:
    running = CallTimes(0, 0.0, {}, (), (), None, running_since_ns=5)
    never = replace(running, running_since_ns=None)
    samples = (CallSample(1, 10**9, 3.0), CallSample(2, 5 * 10**9, 1.0), CallSample(3, 7 * 10**9, 2.0))
    thrice = CallTimes(3, 6.0, {}, samples, samples, None)
    made = [graph(1, called([1], 0.5)), graph(2, thrice), graph(3, running), graph(4, never)]
    lines = section(of_one_process(graphs=made), "Graphs")
    assert lines == [
        "graph ops calls host time a later call backend from",
        "2 [0/2] 3 3 6.00 s 1.50 s eager f /home/me/train.py:3",
        "1 [0/1] 3 1 500 ms called once eager f /home/me/train.py:3",
        "3 [0/3] 3 0 0 µs running eager f /home/me/train.py:3",
        "4 [0/4] 3 0 0 µs never called eager f /home/me/train.py:3",
    ]
    many = section(of_one_process(graphs=[graph(number, called([1])) for number in range(1, 13)]), "Graphs")
    assert len(many) == 12 and many[-1] == "… and 2 more graphs; `dynamo graphs` shows all"


def test_cuda_graphs_have_a_column_where_any_were_asked_for() -> None:
    made = [graph(1, called([1, 2])), graph(2, called([1]))]
    noted = [CudaGraphNoted(CompileId(0, 1), "recorded", part=1, function=0)]
    lines = section(of_one_process(graphs=made, cuda_graphs=noted), "Graphs")
    assert lines[0] == "graph ops calls host time a later call backend CUDA graphs from"
    assert [line.split()[-4:-2] for line in lines[1:]] == [["1", "recorded"], ["eager", "-"]]


def test_a_trace_that_has_no_calls_has_no_columns_for_them() -> None:
    plain = of_one_process(graphs=[replace(graph(1), backend=None)])
    assert section(plain, "Graphs") == ["graph ops from", "1 [0/1] 3 f /home/me/train.py:3"]
    assert "calls" in section(of_one_process(graphs=[graph(1)]), "Graphs")[0]


def ranks(*graphs: int | None) -> Recording:
    """A process with so many graphs a rank; None is a plain trace, of which there are no breaks."""
    made = []
    for number, count in enumerate(graphs):
        info = ProcessInfo(pid=number + 1) if count is not None else ProcessInfo()
        own = [graph(each) for each in range(1, (count or 1) + 1)]
        made.append(Process(Path(f"rank_{number}"), number, info, graphs=own, compiles=[compiled(0, 0.5)]))
    return Recording(Path("rec"), Run(exit_code=0), made, len(made), [])


def test_the_counts_of_each_rank_and_in_what_they_differ() -> None:
    lines = section(ranks(1, 2), "Ranks")
    assert lines[:3] == [
        "rank graphs ops breaks recompiles guards compile time",
        "0 1 3 0 0 1 500 ms",
        "1 2 6 0 0 1 500 ms",
    ]
    assert lines[3] == "The ranks differ in: graphs, ops."
    assert lines[4].startswith("The ranks agree in the number of: breaks, recompiles, guards; `dynamo ranks`")
    assert len(lines) == 5
    assert "Ranks" not in plain_text(report(show_all=True).page(Case(ranks(1)))).splitlines()


def test_what_one_rank_did_not_record_is_no_difference() -> None:
    lines = section(ranks(1, None), "Ranks")
    assert lines[2] == "1 1 3 not recorded 0 1 500 ms"
    assert not any("differ" in line for line in lines)
    assert lines[-1] == "Not recorded for every rank: breaks."


@pytest.mark.parametrize(
    ("count", "rest"), [(100, ""), (102, "… and 2 more problems; --format json has all")]
)
def test_of_many_problems_the_first_hundred_are_shown(count: int, rest: str) -> None:
    noted = of_one_process(
        Run(exit_code=0, notes=[f"note {number}" for number in range(count)]), end=ProcessEnd()
    )
    lines = section(noted, "What could not be seen")
    assert sum(line.startswith("- note") for line in lines) == 100
    assert (lines[-1] == rest) is bool(rest)
