"""What was not recorded is never 0, and nothing is taken to be fine because it is absent."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.ranks import compare_ranks
from dynamo_core.analysis.summary import summarize, unrecorded
from dynamo_core.analysis.verdict import audit, verdict
from dynamo_core.case import Case
from dynamo_core.findings.kinds import unseen_kinds
from dynamo_core.model import (
    CompileId,
    Compiling,
    Graph,
    GuardSet,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    Runtime,
)
from dynamo_reporters.guards.report import report as guards
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.profile.report import report as profile
from dynamo_reporters.recompiles import report as recompiles
from dynamo_reporters.report import Report
from support.made import compiled, of_one_process, with_fields
from support.trace_bytes import process_of, record

BLIND = {"graphs": "KeyError: 'gm'"}


def first_line(report: Report[Case], recording: Recording) -> str:
    return plain_text(report.page(Case(recording))).partition("\n")[0]


def of_processes(*processes: Process) -> Recording:
    return Recording(Path("traces"), None, list(processes), None, [])


def traced(*ids: tuple[int, int], **metrics: Any) -> Recording:
    """A torch trace with a compile of each of these ids."""
    known = {"co_name": "f", "guard_count": 3, **metrics}
    parts = [
        record({"compilation_metrics": known, "frame_id": frame, "frame_compile_id": again, "attempt": 0})
        for frame, again in ids
    ]
    return of_processes(process_of(*parts))


def test_that_no_graph_was_compiled_is_said_only_where_graphs_were_recorded() -> None:
    seen, blind = of_one_process(), of_one_process(failed_probes=BLIND)
    assert verdict(seen, summarize(seen)).startswith("torch was imported, but no graph was compiled.")
    assert verdict(blind, summarize(blind)).startswith(
        "graphs: not recorded, ops: not recorded, 0 graph breaks"
    )
    assert audit(blind).unseen == "graphs could not be recorded"
    assert audit(seen).unseen == "nothing was compiled"


@pytest.mark.parametrize(
    ("recording", "count", "page"),
    [
        (traced((0, 0), (1, 0)), 0, "No recompiles."),
        (traced((0, 0), (0, 1)), None, "Recompiles were not recorded."),
        (traced((0, 0), (0, 1), recompile_reason=None), 0, "No recompiles."),
        (of_processes(process_of()), None, "Recompiles were not recorded."),
    ],
)
def test_recompiles_are_known_where_torchs_metrics_or_its_ids_tell(
    recording: Recording, count: int | None, page: str
) -> None:
    assert summarize(recording).recompiles == count
    assert first_line(recompiles(), recording) == page
    assert ("recompiles" in unrecorded(recording)) == (
        count is None and bool(recording.processes[0].compiles)
    )


def test_of_a_compile_that_the_process_was_killed_in_no_time_and_no_guards_are_known() -> None:
    known = {"torch_version": "2.13.0", "info": ProcessInfo(pid=1)}
    begun = Compiling(CompileId(0, 0), "f", None, 1)
    nothing = summarize(of_one_process(**known))
    killed = summarize(of_one_process(**known, compiling=[begun]))
    assert (nothing.guards, nothing.compile_time_s) == (0, 0.0)
    assert (killed.guards, killed.compile_time_s) == (None, None)


def test_cache_entries_whose_guards_nobody_recorded_are_not_0() -> None:
    entry = GuardSet(CompileId(0, 0), (), (), None)
    assert first_line(guards(), of_one_process(compiles=[compiled(0)])) == "cache entries: not recorded"
    assert (
        first_line(guards(), of_one_process(failed_probes={"guards": "x"})) == "cache entries: not recorded"
    )
    assert first_line(guards(), of_one_process()) == "0 cache entries"
    both = of_one_process(compiles=[compiled(0), compiled(1)], guard_sets=[entry])
    assert first_line(guards(), both) == "1 cache entry of 2"
    failed = replace(compiled(1), guards=None, fail_type="Unsupported")
    one = of_one_process(compiles=[compiled(0), failed], guard_sets=[entry])
    assert first_line(guards(), one) == "1 cache entry"


def test_the_profile_says_what_compiling_took_in_all_ranks() -> None:
    ranks = [Process(Path(f"rank_{rank}.log"), rank, compiles=[compiled(0, 2.0)]) for rank in range(2)]
    together = of_processes(*ranks)
    said = "Compiling took 4.00 s in 2 ranks together; the wall time was not recorded."
    assert first_line(profile(), together) == said
    unknown = of_processes(replace(ranks[0], compiles=[replace(compiled(0), seconds=None)]))
    assert first_line(profile(), unknown) == "Compiling took an unknown time; the wall time was not recorded."
    launcher = Process(
        Path("launcher.log"),
        info=ProcessInfo(pid=2, ppid=1, began_ns=10**9),
        runtime=Runtime(end=ProcessEnd(ended_ns=9 * 10**9)),
    )
    under_torchrun = replace(together, processes=[launcher, *ranks], run=Run(launcher_pid=1))
    said = "Compiling took 4.00 s in 2 ranks together; the wall time of each process is below."
    assert first_line(profile(), under_torchrun) == said


def rank(number: int, **fields: Any) -> Process:
    graph = Graph(1, CompileId(0, 0), 0, None, None, 1, nodes=(), is_compiled=True)
    info = ProcessInfo(pid=1)
    known = {"graphs": [graph], "torch_version": "2.13.0", "info": info, "end": ProcessEnd(), **fields}
    return with_fields(Process(Path(f"rank_{number}.log"), number), known)


def test_ranks_that_looked_nothing_up_are_not_said_to_agree_in_it() -> None:
    found = compare_ranks(of_processes(rank(0), rank(1)))
    assert "hits and misses in torch's caches (nothing was looked up)" in found.not_compared
    assert not any("caches" in text for text in found.compared)


@pytest.mark.parametrize(
    ("lost", "subject"),
    [
        ({"graphs": [], "failed_probes": BLIND}, "the graphs, with their ops and sizes"),
        ({"compiles": [replace(compiled(1), tells_recompile=False)]}, "the order of recompiles"),
    ],
)
def test_what_one_rank_did_not_record_is_no_difference(lost: dict[str, Any], subject: str) -> None:
    found = compare_ranks(of_processes(rank(0), rank(1, **lost)))
    assert found.differences == ()
    assert f"{subject} (not recorded of rank 1)" in found.not_compared


def test_what_a_torch_trace_lacks_is_named() -> None:
    plain = of_processes(process_of())
    assert list(unrecorded(plain)) == ["frames", "graph calls", "bytecode", "graph breaks"]
    assert unrecorded(of_one_process()) == {}
    assert unrecorded(of_one_process(failed_probes=BLIND)) == BLIND


def test_without_graphs_nothing_is_known_of_wrong_results() -> None:
    assert {"wrong result", "ranks differ", "backend declined"} <= unseen_kinds(
        of_one_process(failed_probes=BLIND)
    )
    assert "wrong result" not in unseen_kinds(of_one_process())


def test_an_engine_that_did_not_start_and_calls_that_were_not_counted_are_named() -> None:
    failed = replace(of_one_process(), engine_failures=["ImportError: x"], processes=[])
    assert unrecorded(failed) == {"processes": "ImportError: x"}
    uncounted = of_one_process(info=ProcessInfo(pid=1, calls_not_recorded="the disk is full"))
    assert unrecorded(uncounted) == {"graph calls": "the disk is full"}


def test_a_recording_of_ours_without_its_first_record_is_not_called_a_plain_trace() -> None:
    lost = of_one_process(Run(), info=ProcessInfo())
    why = set(unrecorded(lost).values())
    assert any("first record" in each for each in why)
    assert not any("plain torch trace" in each for each in why)
