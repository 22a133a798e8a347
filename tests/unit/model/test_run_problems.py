"""What a recording says that it could not see, and why."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.model import Health, Process, ProcessEnd, ProcessInfo, Recording
from support.made import of_one_process


def problems(**fields: object) -> list[str]:
    return of_one_process(**{"end": ProcessEnd(), **fields}).problems


def test_a_whole_recording_has_none() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"failed_probes": {"guards": "KeyError"}}, "process 1: no guards (KeyError)"),
        ({"lost_records": 3}, "process 1: 3 records could not be written"),
        ({"damaged_records": 2}, "process 1: 2 damaged records were skipped"),
        (
            {"damaged_records": 2, "first_damage": "cut"},
            "process 1: 2 damaged records were skipped (the first: cut)",
        ),
    ],
)
def test_each_is_said(fields: dict[str, object], said: str) -> None:
    assert problems(**fields) == [said]


def test_a_run_in_which_the_engine_did_not_start_says_so_first() -> None:
    recording = replace(
        of_one_process(end=ProcessEnd()), engine_failures=["OSError"], not_arrived=("a is not there",)
    )
    assert recording.problems == ["the engine could not start: OSError", "a is not there"]


def test_a_process_without_its_last_record_was_killed_goes_on_or_could_not_write() -> None:
    def missing(why: str) -> str:
        return f"process 1: no last record ({why}): torch's own counters and the peak memory"

    goes_on = of_one_process()
    assert goes_on.run is not None and goes_on.run.ended_ns is None
    ended = replace(goes_on, run=replace(goes_on.run, ended_ns=2))
    assert ended.problems == [missing("the process was killed, or called os._exit")]
    assert goes_on.problems == [missing("the process goes on, or was killed")]
    reader = of_one_process(info=ProcessInfo(pid=os.getpid()))
    assert reader.problems == []
    assert replace(reader, run=ended.run).problems
    assert of_one_process(lost_records=1).problems[0] == missing("it could not be written")
    assert of_one_process(info=ProcessInfo(pid=1, forked=True)).problems == []


def test_calls_that_were_not_counted_are_said_with_the_reason() -> None:
    lost = "no calls of graphs, and no count of records that could not be written"
    info = ProcessInfo(pid=1, calls_not_recorded="no memory")
    assert problems(info=info) == [f"process 1: {lost} (no memory)"]
    assert problems(calls_problem="its counters file is damaged") == [
        f"process 1: {lost} (its counters file is damaged)"
    ]


def test_a_log_of_torchs_own_lacks_nothing_that_torch_writes() -> None:
    process = Process(Path("trace.log"), health=Health(calls_problem="no counters"))
    assert Recording(Path("trace.log"), None, [process], None, []).problems == []


def test_what_goes_on_was_killed_or_lacks_records_is_there_in_part() -> None:
    goes_on = of_one_process(end=ProcessEnd())
    assert goes_on.run is not None
    ended = replace(goes_on, run=replace(goes_on.run, ended_ns=2))
    killed = replace(goes_on, run=replace(goes_on.run, ended_ns=2, signal=15))
    assert (goes_on.is_partial, ended.is_partial, killed.is_partial) == (True, False, True)
    assert replace(ended, not_arrived=("a",)).is_partial
    for lacking in ({"end": None}, {"lost_records": 1}, {"damaged_records": 1}):
        assert replace(
            ended, processes=of_one_process(**{"end": ProcessEnd(), **lacking}).processes
        ).is_partial
    assert not replace(killed, run=None).is_partial
