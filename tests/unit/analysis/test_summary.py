"""Whether that there is none of something means that there was none: in a process, and in all of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.summary import (
    breaks_recorded,
    breaks_recorded_in,
    failed_to_compile,
    graphs_recorded,
    graphs_recorded_in,
    raised_error,
)
from dynamo_core.model import Frame, Place, Process, ProcessInfo, Recording
from support.made import compiled
from support.made_findings import a_break

OURS = Process(Path("s.log"), info=ProcessInfo(pid=1))
PLAIN = Process(Path("trace.log"))
WITHOUT_BREAKS = replace(OURS, health=replace(OURS.health, failed_probes={"graph breaks": "TypeError"}))
WITHOUT_GRAPHS = replace(OURS, health=replace(OURS.health, failed_probes={"graphs": "TypeError"}))


def of(*processes: Process) -> Recording:
    return Recording(Path("rec"), None, list(processes), None, [])


def test_breaks_are_known_where_they_were_recorded_in_every_process() -> None:
    assert breaks_recorded(of(OURS, OURS))
    assert not breaks_recorded(of(OURS, WITHOUT_BREAKS))
    assert not breaks_recorded(of(WITHOUT_BREAKS, OURS))
    assert breaks_recorded(of(OURS, WITHOUT_GRAPHS))


def test_a_trace_of_torchs_has_breaks_if_it_has_a_version_or_any_break() -> None:
    assert not breaks_recorded_in(PLAIN)
    assert breaks_recorded_in(replace(PLAIN, torch_version="2.8.0"))
    assert breaks_recorded_in(replace(PLAIN, breaks=[a_break()]))
    assert not breaks_recorded_in(replace(WITHOUT_BREAKS, torch_version="2.8.0", breaks=[a_break()]))


def test_graphs_are_known_where_no_process_lost_them_and_any_has_them() -> None:
    assert graphs_recorded(of(OURS, PLAIN)) and graphs_recorded(of(PLAIN, OURS))
    assert not graphs_recorded(of(OURS, WITHOUT_GRAPHS))
    assert not graphs_recorded(of(PLAIN, PLAIN))
    assert graphs_recorded_in(replace(PLAIN, compiles=[compiled(0)]))
    assert not graphs_recorded_in(PLAIN) and not graphs_recorded_in(WITHOUT_GRAPHS)


@pytest.mark.parametrize(
    ("outcome", "is_exit", "gives_up", "is_error"),
    [
        ("compiled", False, False, False),
        ("skipped", False, False, False),
        ("failed", False, True, False),
        ("failed", True, True, False),
        ("raised", False, True, True),
        ("raised", True, False, False),
    ],
)
def test_an_interrupt_is_no_error_and_a_skipped_frame_was_not_given_up(
    outcome: str, is_exit: bool, gives_up: bool, is_error: bool
) -> None:
    frame = Frame("f", Place("a.py", 1), outcome, None, False, False, None, is_exit=is_exit)  # type: ignore[arg-type]
    assert (failed_to_compile(frame), raised_error(frame)) == (gives_up, is_error)
