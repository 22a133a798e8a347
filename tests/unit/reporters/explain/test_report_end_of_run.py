"""The lines that `dynamo run` leaves on stderr: what was going on, what to set, and what to type next."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.case import Case
from dynamo_core.model import (
    CallTimes,
    ChangedSetting,
    CompileId,
    Compiling,
    Deferred,
    Frame,
    FreezeNoted,
    Graph,
    NotCompiled,
    Place,
    ProcessEnd,
    Recording,
    Run,
)
from dynamo_reporters.explain.report import render_end_of_run
from support.made import S, compiled, decided, of_one_process
from support.ranks_by_hand import collective, graph, of, rank, running

AT = Place("/home/me/train.py", 3)
CAPTURED = decided(policy="all")
FAILED = Run(exit_code=1, started_ns=0, ended_ns=9 * S)


def told(run: Run | None = FAILED, /, **fields: Any) -> list[str]:
    return render_end_of_run(Case(of_one_process(run, end=ProcessEnd(), **fields)), is_newest=True)


def lines_with(begin: str, lines: list[str]) -> list[str]:
    return [line.strip().removeprefix(begin) for line in lines if line.strip().startswith(begin)]


def test_what_a_killed_program_was_in_the_middle_of() -> None:
    busy = CallTimes(2, 0.0, {}, (), (), None, running_since_ns=4 * S)
    first = replace(busy, calls=0, is_running_since_exact=False)
    graphs = [
        Graph(1, CompileId(0, 0), 0, None, "eager", 1, frame_name="f", frame_place=AT, is_compiled=True)
    ]
    graphs.append(replace(graphs[0], number=2))
    graphs[0].times, graphs[1].backward = busy, first
    compiling = [
        Compiling(CompileId(1, 0), "g", AT, 3 * S),
        Compiling(CompileId(1, 1), "g", AT, 3 * S, graph=7, ops=1, backend="inductor", backend_ns=5 * S),
        Compiling(CompileId(1, 2), "g", AT, 8 * S, is_backward=True),
    ]
    killed = of_one_process(FAILED, graphs=graphs, compiling=compiling)
    assert lines_with("not finished: ", render_end_of_run(Case(killed), is_newest=True)) == [
        "compiling g at /home/me/train.py:3 [1/0]: traced by Dynamo for 6.00 s",
        "compiling g at /home/me/train.py:3 [1/1]: graph 7, 1 op, in backend inductor for 4.00 s "
        "(6.00 s in all)",
        "compiling g at /home/me/train.py:3 [1/2]: its backward for 1.00 s",
        "running graph 1 [0/0] of f at /home/me/train.py:3 for 5.00 s, after 2 calls",
        "running its backward graph 2 [0/0] of f at /home/me/train.py:3 for at most 5.00 s, its first call",
    ]
    assert lines_with("not finished: ", told(graphs=graphs, compiling=compiling)) == [], "it has ended itself"
    (line,) = lines_with(
        "not finished: ",
        told(interrupted=[replace(compiling[0], interrupted_ns=4 * S, interrupted_by="KeyboardInterrupt")]),
    )
    assert line.endswith("traced by Dynamo for 1.00 s, interrupted by KeyboardInterrupt")


def test_frames_that_were_left_eager_for_their_cost_say_what_to_set() -> None:
    reason = "its graph has more than 9,999 ops (--op-limit 9999)"
    fallbacks = Frame("f", AT, "skipped", reason, False, False, None, limit="--op-limit")
    run = Run.of({"exit_code": 0, "settings": {"capture_budget": 30.0}})
    lines = told(run, frames=[fallbacks, fallbacks], deferred=[Deferred("g", AT, 2)])
    assert f"  1. f at /home/me/train.py:3 runs eager: {reason} (2 times)" in lines
    assert lines_with("limit: ", lines) == [
        "g at /home/me/train.py:3 ran eager 2 times, as compiling had taken, or would take, more CPU time "
        "than the program itself and 30 s (--capture-budget 30)",
    ]
    assert lines_with("limit: ", told(deferred=[Deferred("g", AT, 1)]))[0].endswith("the program itself")


def test_of_many_lines_of_a_kind_five_are_shown() -> None:
    changed = [
        ChangedSetting(change=f"torch.a{number}=1", was="0", now="1", problem=None) for number in range(7)
    ]
    asked = Run.of({"exit_code": 0, "settings": {"config": [each.change for each in changed]}})
    lines = told(asked, changed_settings=changed)
    assert len(lines_with("override: torch", lines)) == 5
    assert lines_with("override: … and ", lines) == ["2 more; `dynamo explain` has all"]
    five = told(asked, changed_settings=changed[:5])
    assert not any("…" in line for line in lines_with("override: ", five)[:5])
    elsewhere = render_end_of_run(Case(of_one_process(asked, changed_settings=changed)), is_newest=False)
    assert "  override: … and 2 more; `dynamo explain rec` has all" in elsewhere


@pytest.mark.parametrize(
    ("settings", "fields", "blames"),
    [
        ({}, {}, False),
        ({}, {"frames": [Frame("f", AT, "raised", "no", False, False, None)]}, True),
        ({}, {"frames": [Frame("f", AT, "compiled", None, True, False, None)]}, False),
        ({}, {"raised": 1}, True),
        ({"semantics": "eager"}, {"raised": 1}, False),
        ({"semantics": "eager"}, {"frames": [Frame("f", AT, "raised", "no", False, False, None)]}, True),
    ],
)
def test_a_program_that_failed_in_what_we_compiled_can_be_run_as_it_is(
    settings: dict[str, Any], fields: dict[str, Any], blames: bool
) -> None:
    known = {
        "captures": [CAPTURED],
        "frames": [Frame("g", AT, "skipped", None, False, False, None)],
        **fields,
    }
    if known.pop("raised", 0):
        known["graphs"] = [Graph(1, CompileId(0, 0), 0, None, "eager", 1)]
        known["graphs"][0].backward = CallTimes(1, 0.0, {}, (), (), None, raised=1)
    as_it_is = "It was compiled by dynamo; `dynamo run --capture none` runs it as it is."
    run = Run.of({"exit_code": 1, "ended_ns": 9 * S, "settings": settings})
    assert (as_it_is in told(run, **known)) is blames
    assert as_it_is not in told(replace(run, exit_code=0), **known)
    assert as_it_is not in told(run, **{**known, "captures": [decided("observe", policy="all")]})


def test_what_comes_next_is_the_report_on_what_is_open() -> None:
    assert told()[-1] == "next: dynamo explain"
    frozen = Run.of({"exit_code": 0, "settings": {"freeze_after": "9"}})
    refused = NotCompiled("f", AT, ("never compiled before",), (), 3, 1)
    lines = told(
        frozen, freeze=FreezeNoted(frozen=True, calls=9, seconds=None, at_ns=1), not_compiled=[refused]
    )
    assert lines[-1] == "next: dynamo recompiles"
    assert len(lines_with("not compiled: f at /home/me/train.py:3, 3 times", lines)) == 1
    nothing = Recording(of_one_process().path, Run(exit_code=0), [], 0, [])
    assert not any(line.startswith("next:") for line in render_end_of_run(Case(nothing), is_newest=True))


def test_of_ranks_that_wait_for_each_other_it_says_who_and_where_to_look() -> None:
    alike = of(*(rank(number, graph(collective("all_reduce"))) for number in range(2)))
    assert render_end_of_run(Case(alike), is_newest=True)[-1] == "next: dynamo explain"
    waiting = of(
        rank(0, graph(collective("all_reduce"), times=running(5 * S)), ended=False),
        rank(1, ended=False),
    )
    lines = render_end_of_run(Case(waiting), is_newest=True)
    assert lines[-1] == "next: dynamo ranks"
    assert any("rank 0" in line for line in lines[1:-1])


def test_what_could_not_be_seen_and_how_it_ended() -> None:
    lines = render_end_of_run(
        Case(of_one_process(FAILED, lost_records=2, compiles=[compiled(0)])), is_newest=True
    )
    assert lines_with("not seen: ", lines)[0].startswith("process 1: no last record")
    assert lines_with("The program ", lines) == ["ended with exit code 1 after 9.00 s."]
    plain = render_end_of_run(Case(of_one_process(None)), is_newest=True)
    assert lines_with("The program ", plain) == []
