"""One cause in several processes or frames: one finding, whose words and figures agree."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.time.wall import across_ranks
from dynamo_core.findings import Cost, Draft, Figure, find
from dynamo_core.findings.build import by_identity, of_identities
from dynamo_core.model import (
    Bytecode,
    CompileId,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    RecompileReasons,
    Recording,
    ResumeFunction,
    Run,
)
from dynamo_core.recording.guards import parse_guard_failure
from support.made import of_one_process
from support.made_findings import a_break, fallback, graph, reasons, recompile, times


def of_processes(*processes: dict[str, Any]) -> Recording:
    """A recording of processes with these fields, each with a stream of its own."""
    made = [of_one_process(**fields).processes[0] for fields in processes]
    streams = [replace(each, stream=Path(f"{number}.log")) for number, each in enumerate(made)]
    return replace(of_one_process(), processes=streams)


def recompiled(*seconds: float, **fields: Any) -> dict[str, Any]:
    """Recompiles of one frame that took so long, for sizes of their own."""
    numbers = range(1, len(seconds) + 1)
    return {
        "compiles": [recompile(number, took) for number, took in zip(numbers, seconds, strict=True)],
        "recompile_reasons": [reasons(number, actual=str(number + 4)) for number in numbers],
        **fields,
    }


def test_ranks_run_at_the_same_time_so_that_the_slowest_is_what_can_be_saved() -> None:
    (found,) = find(of_processes(recompiled(0.25, rank=0), recompiled(2.0, 1.0, rank=1)))
    assert (found.cost.lost, found.cost.saves_at_most) == (Figure(3.0, "measured"),) * 2
    assert found.title.endswith("of rank 1: 2 recompiles took 3.00 s (likewise in 1 other rank)")
    assert found.cause.startswith("the size of `x` at dimension 0 was 4 when it was compiled, and then 5, 6")
    assert (found.evidence.times, found.evidence.compile_ids) == (3, ("0/1", "0/2"))
    assert found.processes == ("0.log", "1.log")


def test_processes_that_are_no_ranks_may_follow_each_other_and_are_added_up() -> None:
    (found,) = find(of_processes(recompiled(0.25), recompiled(2.0, 1.0)))
    assert found.cost.lost.seconds == 3.25
    assert found.title.endswith("2 recompiles took 3.00 s (likewise in 1 other process, 3.25 s in all)")


def test_what_each_of_them_advises_for_its_own_values_is_said_once() -> None:
    alone = find(of_processes(recompiled(2.0, 1.0)))[0].remedies
    (found,) = find(of_processes(recompiled(0.25, rank=0), recompiled(2.0, 1.0, rank=1)))
    assert [each.change for each in found.remedies] == [each.change for each in alone]


def process(rank: int | None, stream: str = "a.log", **info: Any) -> Process:
    return Process(Path(stream), rank, ProcessInfo(**{"pid": 1, **info}))


@pytest.mark.parametrize(
    ("spent", "in_all"),
    [
        ([(process(0), 1.0), (process(1), 3.0), (process(2), 2.0)], 3.0),
        ([(process(None), 1.0), (process(None), 3.0)], 4.0),
        # What a rank forked, or had its rank before it, adds to the rank.
        ([(process(0), 1.0), (process(0, forked=True), 1.5), (process(1), 2.0)], 2.5),
        # An attempt begins when the one before has failed, and jobs of one folder are other runs.
        (
            [(process(0, attempt=[0]), 1.0), (process(0, attempt=[1]), 1.0), (process(1, attempt=[1]), 3.0)],
            4.0,
        ),
        ([(process(0, job="a"), 1.0), (process(1, job="b"), 3.0)], 4.0),
        ([(process(0), 1.0), (process(1), 3.0), (process(None), 0.5)], 3.5),
        ([], 0.0),
    ],
)
def test_what_several_processes_spent_in_the_time_of_the_run(
    spent: list[tuple[Process, float]], in_all: float
) -> None:
    assert across_ranks(spent) == in_all


def lasting(seconds: int, **fields: Any) -> dict[str, Any]:
    """A process that lasted so long, all of it outside of compiled graphs."""
    return {
        "info": ProcessInfo(pid=1, began_ns=10**9),
        "end": ProcessEnd(ended_ns=10**9 * (1 + seconds)),
        "overlap_seconds": 0.0,
        "compiling_in_calls_seconds": 0.0,
        **fields,
    }


def test_frames_that_run_eager_share_the_time_outside_of_graphs() -> None:
    (once,) = find(of_processes(lasting(10, frames=[fallback()])))
    (twice,) = find(of_processes(lasting(10, frames=[fallback(), fallback()])))
    assert once.cost.saves_at_most.seconds == twice.cost.saves_at_most.seconds == 10.0
    assert twice.title == f"{once.title} (2 times)"


def test_a_frame_that_runs_eager_saves_no_more_than_was_computed() -> None:
    """Of a server that waited for requests for most of ten seconds."""
    waiting = of_one_process(
        Run(exit_code=0, launcher_pid=7, ended_ns=11_000_000_000, cpu_seconds=1.5),
        frames=[fallback()],
        info=ProcessInfo(pid=1, ppid=7, began_ns=1_000_000_000),
        overlap_seconds=0.0,
        compiling_in_calls_seconds=0.0,
    )
    (found,) = find(waiting)
    assert found.cost.saves_at_most == Figure(1.5, "estimated")


@pytest.mark.parametrize(
    ("ppid", "cpu_ns", "most"), [(7, 400_000_000, 0.4), (1, None, 1.5), (99, None, 10.0)]
)
def test_what_a_process_computed_is_its_own_cpu_time_or_that_of_the_run_with_its_children(
    ppid: int, cpu_ns: int | None, most: float
) -> None:
    """The run has that of the program's process, and of those that this one waited for."""
    server = of_one_process(
        Run(exit_code=0, launcher_pid=7, ended_ns=11_000_000_000, cpu_seconds=1.5),
        frames=[fallback()],
        info=ProcessInfo(pid=2, ppid=ppid, began_ns=1_000_000_000),
        end=ProcessEnd(ended_ns=11_000_000_000, cpu_ns=cpu_ns),
        overlap_seconds=0.0,
        compiling_in_calls_seconds=0.0,
    )
    parent = replace(server.processes[0], info=ProcessInfo(pid=1, ppid=7, began_ns=1_000_000_000), frames=[])
    found = find(replace(server, processes=[parent, *server.processes]))
    (eager,) = (each for each in found if each.kind == "fell back to eager")
    assert eager.cost.saves_at_most.seconds == pytest.approx(most)


def test_a_frame_that_runs_eager_costs_no_more_than_its_own_processes_took() -> None:
    met = a_break()
    fell_back = lasting(10, frames=[replace(fallback(), compile_id=met.compile_id)], breaks=[met])
    (found,) = find(of_processes(lasting(90), fell_back))
    assert (found.cost.saves_at_most.seconds, found.processes) == (10.0, ("1.log",))


def test_a_break_costs_what_the_rank_lost_that_crossed_it_most() -> None:
    (found,) = find(of_processes(crossed(10, rank=0), crossed(40, rank=1)))
    assert found.cost.saves_at_most.seconds == pytest.approx(0.08)
    assert found.cost.saves_at_most.known == "sampled"
    assert "ran 50 times; 2 ms outside of graphs each time, 80 ms in all in the rank" in found.effect
    assert found.title.endswith(" (2 times, in 2 ranks)")
    (apart,) = find(of_processes(crossed(10), crossed(40)))
    assert apart.cost.saves_at_most.seconds == pytest.approx(0.1)
    assert "100 ms in all: fixing" in apart.effect


def test_a_break_saves_what_compiling_in_parts_takes_as_well() -> None:
    part = replace(recompile(), recompile_reason=None)
    compiles = [
        replace(part, compile_id=CompileId(1, 0), seconds=3.0),
        replace(part, compile_id=CompileId(1, 1), seconds=1.0),
    ]
    (broken,) = (
        each for each in find(of_processes(crossed(40, compiles=compiles))) if each.kind == "graph break"
    )
    assert broken.cost.saves_at_most.seconds == pytest.approx(1.08)
    assert broken.cost.saves_at_most.known == "estimated"
    assert broken.cost.lost.seconds == pytest.approx(0.08)
    assert (
        "80 ms in all, and its parts took up to 1.00 s longer to compile than one graph: fixing it"
        in broken.effect
    )


def test_where_the_time_outside_of_graphs_is_not_known_nothing_bounds_what_a_break_saves() -> None:
    text = "SEEN.append(float(x))"
    again = replace(recompile(seconds=3.0), compile_id=CompileId(0, 1))
    words = f"0/0: len(G['SEEN']) == 0  # {text}  # /home/me/train.py:7 in forward"
    told = RecompileReasons(again.compile_id, (parse_guard_failure(words),))
    found = find(
        of_processes({"breaks": [a_break(7, text=text)], "compiles": [again], "recompile_reasons": [told]})
    )
    assert found[0].kind == "graph break"
    assert (found[0].cost.lost.seconds, found[0].cost.saves_at_most.known) == (3.0, "not recorded")


def crossed(calls: int, **fields: Any) -> dict[str, Any]:
    """A process with a break between two graphs, 2 ms apart, which it crossed so often."""
    after = graph(2, CompileId(1, 1), times=times(calls, 0.001, previous=1, gap=0.002), calls=calls)
    name = "torch_dynamo_resume_in_forward_at_7"
    code = Bytecode(CompileId(1, 1), name, name, Place("/home/me/train.py", 7), "its code", {}, (), ())
    return {
        "breaks": [a_break(7, compile_id=1)],
        "graphs": [graph(1, CompileId(1, 0), times=times(calls, 0.001), calls=calls), after],
        "resume_functions": [ResumeFunction("__resume_at_8_1", name, "its code", CompileId(1, 0))],
        "bytecodes": [code],
        **fields,
    }


def test_a_finding_that_is_the_users_in_one_place_is_the_users() -> None:
    (of,) = of_one_process().processes
    own = Draft("recompile", (), "own", "", processes=(of,), place=Place("/home/me/model.py", 7))
    through = a_break(file="/usr/lib/python3/site-packages/m/model.py").stack[0]
    dear = Cost(saves_at_most=Figure(5.0, "measured"))
    (found,) = of_identities(by_identity([replace(own, title="library", via=through, cost=dear), own]))
    assert (found.is_library, found.title) == (False, "own (and 1 more like it)")
    assert found.cost.saves_at_most.seconds == 5.0


def test_a_remedy_that_the_run_had_already_is_none() -> None:
    def changes(**environment: str) -> dict[str, str]:
        known = {"info": ProcessInfo(pid=1, environment=environment), "compiles": [recompile(1)]}
        (found,) = find(of_one_process(recompile_reasons=[reasons(1)], **known))
        made = [each.change for each in found.remedies if each.change is not None]
        return {variable.name: variable.value for each in made for variable in each.environment}

    advised = changes()
    assert advised
    assert changes(**advised) == {}
    assert changes(**{name: f"L['y'],{value}" for name, value in advised.items()}) == {}
    assert changes(**dict.fromkeys(advised, "L['y']")) == advised


def test_a_frame_at_its_limit_says_how_often_each_cause_was_met() -> None:
    limit = recompile(4, fail_reason="recompile_limit reached")
    (found,) = find(
        of_one_process(
            compiles=[recompile(1), recompile(2), recompile(3), limit],
            recompile_reasons=[reasons(1), reasons(2, actual="6"), reasons(3, kind="dtype")],
        )
    )
    assert found.effect.startswith(
        "of these recompiles 2 are for the size of x at dimension 0, 1 for the dtype of x"
    )
