"""Findings: what is concluded, in which order, and that each keeps its identity from run to run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.figures import Figures
from dynamo_core.analysis.summary import summarize
from dynamo_core.analysis.words import stable_text, without_numbers
from dynamo_core.case import Case
from dynamo_core.findings import KINDS, Cost, Draft, Figure, Finding, Known, find
from dynamo_core.findings.build import by_identity, of_identities
from dynamo_core.findings.finding import NOT_RECORDED
from dynamo_core.findings.recompiles import ranked_breaks
from dynamo_core.model import (
    AssignedBackend,
    Bytecode,
    CacheLookup,
    Compile,
    CompileId,
    DeclinedBy,
    Deferred,
    Optimizer,
    Place,
    ProcessEnd,
    ProcessInfo,
    RecompileReasons,
    Recording,
    ResumeFunction,
    Run,
    StackFrame,
    UnrolledLoop,
)
from dynamo_reporters.breaks import problem_blocks
from dynamo_reporters.documents import json_schema, json_value
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.parts.actions import action_lines
from support.made import of_one_process, pair_of
from support.made_findings import a_break, failure, fallback, graph, reasons, recompile, times
from support.places import REPOSITORY


def kinds(found: list[Finding]) -> list[str]:
    return [finding.kind for finding in found]


def test_nothing_is_concluded_from_nothing() -> None:
    assert find(of_one_process()) == []


def test_a_break_costs_the_time_between_the_graphs_that_it_separates() -> None:
    before = graph(1, CompileId(0, 0), times=times(10, 0.001))
    found = find(of_one_process(breaks=[a_break()], graphs=[before]))
    assert kinds(found) == ["graph break"]
    assert found[0].cost.lost.seconds is None
    assert found[0].cost.lost.known == "not recorded"
    assert found[0].source == "print(x)"
    assert found[0].remedies[0].check == "dynamo breaks"


def test_the_tests_in_which_it_was_met_are_named_in_its_line() -> None:
    met = [replace(a_break(), test=f"test_model.py::test_step[{number}]") for number in range(4)]
    again = recompile(1)
    known = of_one_process(
        breaks=met, compiles=[again], tests={again.compile_id: "test_model.py::test_sizes"}
    )
    of_break, of_recompile = sorted(find(known), key=lambda finding: finding.kind)
    assert of_break.evidence.tests == tuple(each.test for each in met)
    assert of_recompile.evidence.tests == ("test_model.py::test_sizes",)
    lines = action_lines(Case(known), 2)
    assert any(line.endswith("(4 times), in test_model.py::test_step[0] and 3 more tests") for line in lines)
    assert any(line.endswith(", in test_model.py::test_sizes") for line in lines)
    outside = Case(of_one_process(breaks=[a_break()], compiles=[again]))
    assert all(" in test" not in line for line in action_lines(outside, 2))


def test_a_value_of_a_break_has_no_name_of_torchs_in_what_a_lock_file_keeps() -> None:
    known = of_one_process(compiles=[recompile(1)], recompile_reasons=[reasons(1, source="___stack0")])
    (found,) = find(known)
    assert found.key == ("size", "value_at_break_0", "0")


def test_a_frame_that_fell_back_for_a_break_is_one_finding_with_it() -> None:
    met = a_break()
    frame = replace(fallback(), compile_id=met.compile_id)
    (found,) = find(of_one_process(breaks=[met], frames=[frame]))
    assert found.kind == "fell back to eager"
    assert found.title == "tokens runs eager: graph break at /home/me/train.py:7 Data-dependent branching"


def test_a_frame_that_runs_eager_comes_before_a_break_of_unknown_cost() -> None:
    found = find(of_one_process(breaks=[a_break()], frames=[fallback()]))
    assert kinds(found) == ["fell back to eager", "graph break"]


def test_the_breaks_alone_are_ranked_as_the_findings_are() -> None:
    """By the time that is known alone, the break that keeps another frame out of graphs would be last."""
    keeps_out, timed = a_break(7), a_break(9, compile_id=1)
    library = a_break(5, "/usr/lib/python3/site-packages/m.py")
    after = graph(2, CompileId(1, 1), times=times(10, 0.001, previous=1, gap=0.002))
    name = "torch_dynamo_resume_in_forward_at_9"
    resumed = ResumeFunction("__resume_at_8_1", name, "its code", CompileId(1, 0))
    known = of_one_process(
        breaks=[library, timed, keeps_out],
        frames=[replace(fallback(reason=keeps_out.reason), broke=keeps_out)],
        graphs=[graph(1, CompileId(1, 0), times=times(10, 0.001)), after],
        resume_functions=[resumed],
        bytecodes=[
            Bytecode(CompileId(1, 1), name, name, Place("/home/me/train.py", 9), "its code", {}, (), ())
        ],
    )
    order = [cost.distinct.first for cost in ranked_breaks(Figures(known))]
    assert [each.place for each in order] == [finding.place for finding in find(known) if finding.place]
    assert order == [keeps_out, timed, library]


def test_a_library_never_comes_before_the_users_own_line() -> None:
    library = fallback(file="/usr/lib/python3/site-packages/lib/model.py", reason="an error was suppressed")
    found = find(of_one_process(breaks=[a_break()], frames=[library]))
    assert [finding.is_library for finding in found] == [False, True]


def test_the_dearer_recompile_comes_first_and_shorter_runs_do_not_outrank_causes() -> None:
    cheap = recompile(1, 1.0)
    dear = replace(recompile(2, 3.0), compile_id=CompileId(1, 1), name="g")
    called = graph(1, CompileId(0, 0), times=times(10, 0.001))
    found = find(of_one_process(compiles=[cheap, dear], graphs=[called]))
    assert kinds(found) == ["recompile", "recompile", "never pays back"]
    assert [finding.function for finding in found] == ["g", "f", None]
    assert found[2].cause == "it pays back in this run only if they are more than 401 times as fast as eager"


@pytest.mark.parametrize(("seconds", "first"), [(5e-3, "recompile"), (1e-6, "overhead-bound graphs")])
def test_what_names_no_line_comes_first_only_where_it_is_worth_much_more(seconds: float, first: str) -> None:
    small = graph(1, CompileId(0, 0), times=times(1000, 10e-6))  # worth 10 ms at most
    found = find(
        of_one_process(graphs=[small], compiles=[recompile(1, seconds)], recompile_reasons=[reasons(1)])
    )
    assert found[0].kind == first
    assert len(found) == 2


def test_a_break_in_a_library_says_no_more_than_what_names_no_line() -> None:
    small = graph(1, CompileId(0, 0), times=times(1000, 10e-6))
    known: dict[str, Any] = {
        "graphs": [small],
        "compiles": [recompile(1, 1e-6)],
        "recompile_reasons": [reasons(1)],
    }
    library = a_break(file="/usr/lib/python3/site-packages/lib/model.py")
    found = find(of_one_process(breaks=[library], **known))
    assert kinds(found) == ["overhead-bound graphs", "recompile", "graph break"]
    found = find(of_one_process(breaks=[a_break()], **known))
    assert kinds(found) == ["graph break", "overhead-bound graphs", "recompile"]


def test_causes_of_recompiles_are_findings_of_their_own() -> None:
    found = find(
        of_one_process(
            compiles=[recompile(1), recompile(2), recompile(3)],
            recompile_reasons=[reasons(1), reasons(2, actual="6"), reasons(3, kind="dtype")],
        )
    )
    assert sorted(finding.evidence.times for finding in found) == [1, 2]
    assert len({finding.identity for finding in found}) == 2
    (size,) = (finding for finding in found if finding.evidence.times == 2)
    assert size.cost.lost.seconds == 4.0
    assert size.evidence.compile_ids == ("0/1", "0/2")


def test_a_frame_at_its_limit_is_one_finding() -> None:
    limit = recompile(2, fail_reason="recompile_limit reached")
    (found,) = find(of_one_process(compiles=[recompile(1), limit], recompile_reasons=[reasons(1)]))
    assert found.kind == "recompile limit"
    assert found.title.endswith("2 recompiles took 4.00 s, the last of them refused at torch's limit")


def test_calling_compile_anew_is_told_from_other_recompiles() -> None:
    anew = replace(failure(), check="BACKEND_MATCH failure: different backend callables", kind="other")
    of = RecompileReasons(CompileId(0, 1), (anew,))
    (found,) = find(of_one_process(compiles=[recompile(1)], recompile_reasons=[of]))
    assert found.kind == "compiled anew"
    assert "call `torch.compile` once" in found.remedies[0].text


def first_compile(frame: int, generation: int = 0, name: str = "f") -> Compile:
    return replace(
        recompile(), compile_id=CompileId(frame, 0, None, generation), recompile_reason=None, name=name
    )


def test_a_function_that_is_compiled_from_the_start_again_and_again_is_told_why() -> None:
    (reset,) = find(of_one_process(compiles=[first_compile(0, generation) for generation in range(3)]))
    assert reset.kind == "compiled anew"
    assert reset.cost.lost.seconds == 4.0
    assert "torch._dynamo.reset()" in reset.remedies[0].text
    (defined,) = find(of_one_process(compiles=[first_compile(frame) for frame in range(3)]))
    assert "define the function once" in defined.remedies[0].text
    assert defined.identity != reset.identity


def test_a_library_function_is_compiled_from_the_start_by_resets_alone() -> None:
    sequential = Place("/usr/lib/python3.11/site-packages/torch/nn/modules/container.py", 250)

    def found(*compiles: Compile) -> list[str]:
        of_library = [replace(each, place=sequential) for each in compiles]
        return [each.kind for each in find(of_one_process(compiles=of_library))]

    assert found(*(first_compile(0, generation) for generation in range(3))) == ["compiled anew"]
    assert found(*(first_compile(frame) for frame in range(4))) == []


def test_a_backward_that_was_prepared_and_never_ran_is_the_first_thing_to_leave_out() -> None:
    pair = replace(pair_of(), backward={"aten.mm": 3, "aten.sum": 1})
    inductor = replace(graph(1, CompileId(0, 0), times=times(10, 0.001)), backend="inductor")
    slow = replace(first_compile(0), seconds=30.0)

    def advised(**fields: Any) -> list[str]:
        known = {"graphs": [inductor], "compiles": [slow], "pairs": [pair], "end": ProcessEnd()} | fields
        (found,) = find(of_one_process(**known))
        return [each.text for each in found.remedies]

    prepared, less = advised()
    assert "torch.no_grad()" in prepared and "AOTAutograd prepared one of 4 ops" in prepared
    assert less.startswith("compile less: the part that is called most")
    for runs_one in (
        {"graphs": [replace(inductor, backward_index=3)]},
        {"graphs": [replace(inductor, backend="cudagraphs")]},  # whose backwards are not seen
        {"optimizers": [Optimizer(name="Adam", module="torch.optim.adam", file="/x/adam.py")]},
        {"end": None},
    ):
        assert advised(**runs_one) == [less]


def test_two_copies_and_the_parts_behind_breaks_are_no_functions_compiled_anew() -> None:
    assert find(of_one_process(compiles=[first_compile(0), first_compile(1)])) == []
    resumed = "torch_dynamo_resume_in_f_at_4"
    assert find(of_one_process(compiles=[first_compile(frame, name=resumed) for frame in range(4)])) == []


def test_a_loop_that_makes_the_first_step_slow_is_named_with_its_counts() -> None:
    loop = UnrolledLoop(Place("/home/me/train.py", 9), "for layer in self.layers:", 240, 60, True, None)
    large = graph(1, CompileId(0, 0), ops=242, loop=loop)
    slow = replace(first_compile(0), seconds=30.0)
    (found,) = find(of_one_process(graphs=[large], compiles=[slow]))
    assert (found.kind, found.place, found.source) == ("unrolled loop", loop.place, loop.text)
    assert found.title == "240 of the 242 ops of forward come from a loop, at /home/me/train.py:9"
    assert found.cause == (
        "Dynamo unrolls loops: most ops of this one are 60 times in graph 1, each of them traced and "
        "compiled anew"
    )
    assert "`layer.compile()` on each layer" in found.remedies[0].text
    counted = replace(large, loop=replace(loop, text="for tap in range(60):"))
    (of_numbers,) = find(of_one_process(graphs=[counted], compiles=[slow]))
    assert of_numbers.remedies[0].text.startswith("compute over all of it at once")
    # 59 of its 60 turns, which have 240 of the 242 ops.
    assert of_numbers.cost.saves_at_most == Figure(30.0 * 240 / 242 * (1 - 1 / 60), "estimated")
    calls = graph(1, CompileId(0, 0), ops=242, loop=replace(loop, is_loop=False))
    (called,) = find(of_one_process(graphs=[calls], compiles=[slow]))
    assert called.cause.startswith("Dynamo inlines calls: this function is 60 times in graph 1")
    (found,) = find(of_one_process(graphs=[replace(large, method="Net.forward")], compiles=[slow]))
    assert found.title.startswith("240 of the 242 ops of Net.forward come")
    assert found.cost.saves_at_most == NOT_RECORDED
    assert find(of_one_process(graphs=[large], compiles=[replace(slow, seconds=0.9)])) == []
    assert find(of_one_process(graphs=[replace(large, loop=None)], compiles=[slow])) == []


def test_a_cache_with_a_hit_is_not_cold() -> None:
    slow = graph(1, CompileId(0, 0), backend_seconds=5.0)
    misses = [CacheLookup("fx_graph_cache", "miss", CompileId(0, 0))] * 2
    (cold,) = find(of_one_process(graphs=[slow], lookups=misses))
    assert cold.kind == "cold start"
    assert cold.cause == "look-ups in the FX graph cache: 2 misses"
    hit = CacheLookup("aotautograd_cache", "hit", CompileId(0, 0))
    assert find(of_one_process(graphs=[slow], lookups=[*misses, hit])) == []


def test_only_small_graphs_that_are_called_often_are_overhead_bound() -> None:
    small = graph(1, CompileId(0, 0), times=times(1000, 10e-6))
    large = graph(2, CompileId(1, 0), times=times(1000, 5e-3))
    rare = graph(3, CompileId(2, 0), times=times(20, 5e-6))
    (found,) = find(of_one_process(graphs=[small, large, rare]))
    assert found.kind == "overhead-bound graphs"
    assert found.evidence.graphs == (1,)
    assert found.cost.saves_at_most.seconds == pytest.approx(10e-3)
    assert find(of_one_process(graphs=[replace(small, times=times(900, 10e-6))])) == []


def test_what_holds_most_calls_up_does_not_hide_that_a_graph_is_small() -> None:
    quick, slow = times(2000, 5e-6), {(50_000, 70_000): 1500}
    held_up = graph(1, CompileId(0, 0), times=replace(quick, histogram={(4_999, 5_001): 500, **slow}))
    rarely_quick = graph(
        1, CompileId(0, 0), times=replace(quick, histogram={(4_999, 5_001): 150, (50_000, 70_000): 1850})
    )
    two_kinds = graph(
        1,
        CompileId(0, 0),
        times=replace(quick, histogram={(4_999, 5_001): 500, (5_000_000, 5_000_001): 1500}),
    )
    assert kinds(find(of_one_process(graphs=[held_up]))) == ["overhead-bound graphs"]
    assert find(of_one_process(graphs=[two_kinds])) == []
    assert find(of_one_process(graphs=[rarely_quick])) == []


def test_a_graph_that_no_backend_took_is_one_and_one_that_was_taken_is_none() -> None:
    declined = (DeclinedBy("tensorrt", "not installed\nmore"),)
    untaken = graph(1, CompileId(0, 0), assigned_backend=AssignedBackend(None, None, declined))
    (found,) = find(of_one_process(graphs=[untaken]))
    assert found.kind == "backend declined"
    assert found.cause == "tensorrt: not installed"
    taken = replace(untaken, assigned_backend=AssignedBackend("eager", None, declined))
    assert find(of_one_process(graphs=[taken])) == []


def test_an_optimizer_in_a_graph_is_not_eager() -> None:
    made = [Optimizer(name="AdamW", module="torch.optim.adamw", file="adamw.py")]
    outside = graph(1, CompileId(0, 0), trains=True, optimizer_steps=())
    (found,) = find(of_one_process(graphs=[outside], optimizers=made))
    assert found.title == "the step of torch.optim.adamw.AdamW runs eager"
    inside = replace(outside, optimizer_steps=("adamw.py",))
    assert find(of_one_process(graphs=[inside], optimizers=made)) == []
    not_recorded = replace(outside, optimizer_steps=None)
    assert find(of_one_process(graphs=[not_recorded], optimizers=made)) == []


def identities(found: Recording) -> list[str]:
    return [finding.identity for finding in find(found)]


def test_an_identity_survives_moved_lines_other_folders_and_other_ids() -> None:
    here = of_one_process(breaks=[a_break()], frames=[fallback(reason="no step at line 4, object at 0x7f00")])
    there = of_one_process(
        breaks=[a_break(line=90, file="/tmp/copy/train.py", compile_id=5)],
        frames=[fallback(line=99, file="/tmp/copy/train.py", reason="no step at line 8, object at 0x7fff")],
    )
    assert identities(here) == identities(there)


def test_what_goes_on_behind_a_break_has_the_identity_of_its_function() -> None:
    moved = [replace(recompile(), name=f"torch_dynamo_resume_in_f_at_{line}") for line in (4, 9)]
    one, other = (of_one_process(compiles=[each], recompile_reasons=[reasons(1)]) for each in moved)
    assert identities(one) == identities(other)


def test_different_causes_never_share_an_identity() -> None:
    alike = [a_break(line=7), a_break(line=9)]  # the same text twice in a function
    other_text = a_break(line=11, text="print(y)")
    other_reason = replace(a_break(line=12), reason="open is not traced")
    other_function = replace(a_break(), stack=(StackFrame(Place("/home/me/train.py", 30), "g", "print(x)"),))
    found = identities(of_one_process(breaks=[*alike, other_text, other_reason, other_function]))
    assert len(found) == len(set(found)) == 5


def test_the_same_cause_in_two_processes_is_one_finding() -> None:
    one, other = of_one_process(breaks=[a_break()]), of_one_process(breaks=[a_break(compile_id=3)])
    both = replace(one, processes=[*one.processes, replace(other.processes[0], stream=Path("other.log"))])
    (found,) = find(both)
    assert (found.evidence.times, found.processes) == (2, ("s.log", "other.log"))


def test_a_line_says_how_often_a_break_was_met() -> None:
    once, twice = (
        action_lines(Case(of_one_process(breaks=[a_break(compile_id=n) for n in range(times)])), 1)
        for times in (1, 2)
    )
    assert "time)" not in once[0] and twice[0] == f"{once[0]} (2 times)"


def test_a_break_is_of_the_processes_that_met_it() -> None:
    one, other = of_one_process(), of_one_process(breaks=[a_break()])
    both = replace(one, processes=[*one.processes, replace(other.processes[0], stream=Path("other.log"))])
    assert [found.processes for found in find(both)] == [("other.log",)]


def test_what_passes_is_left_out_of_reasons_and_what_matters_is_not() -> None:
    assert stable_text("in /home/me/a/b.py:12: 0x7f3a") == "in b.py: …"
    assert stable_text('File "/x/y/model.py", line 3') == 'File "model.py", line'
    assert stable_text("C:\\\\me\\\\a.py:7 and a/b of 0/1") == "a.py and a/b of 0/1"
    assert stable_text("size mismatch, expected 4") == "size mismatch, expected 4"
    assert stable_text("no {'b', 'a'} and {2, 1}") == stable_text("no {'a', 'b'} and {1, 2}")
    assert without_numbers("size mismatch, expected 4") == "size mismatch, expected #"


def test_figures_are_worked_out_once() -> None:
    known = Figures(of_one_process(breaks=[a_break()], frames=[fallback()]))
    assert known.breaks is known.breaks
    assert known.recompiled is known.recompiled
    process = known.recording.processes[0]
    assert known.wall(process) is known.wall(process)


def test_a_type_without_a_schema_is_refused() -> None:
    with pytest.raises(TypeError, match="no schema is known"):
        json_schema(complex)
    assert json_value((Place("a.py", 1), None)) == [{"file": "a.py", "line": 1}, None]


def test_the_documentation_lists_every_kind_and_nothing_else() -> None:
    page = (REPOSITORY / "docs/findings.md").read_text()
    listed = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(listed) == sorted(KINDS)


def test_the_page_of_breaks_begins_with_what_is_to_be_fixed_first() -> None:
    known = of_one_process(breaks=[a_break()], frames=[fallback()])
    page = plain_text(problem_blocks(Case(known).figures))
    first, _ = find(known)
    assert first.kind == "fell back to eager"
    assert page.index(f"1. {first.title}") < page.index("2. /home/me/train.py:7")


def test_what_is_added_up_is_known_as_well_as_the_least_well_known_part() -> None:
    def lost(seconds: float, known: Known) -> Draft:
        cost = Cost(lost=Figure(seconds, known))
        return Draft("graph break", key=(), title="a break", cause="", processes=(process,), cost=cost)

    (process,) = of_one_process().processes
    (both,) = of_identities(by_identity([lost(1.0, "measured"), lost(2.0, "estimated")]))
    assert both.cost.lost == Figure(3.0, "estimated")
    (both,) = of_identities(by_identity([lost(1.0, "sampled"), lost(2.0, "measured")]))
    assert both.cost.lost == Figure(3.0, "sampled")


@pytest.mark.parametrize(("in_graphs_s", "is_found"), [(6.0, False), (3.0, True)])
def test_time_outside_of_graphs_is_a_finding_where_it_is_most_of_the_run(
    in_graphs_s: float, is_found: bool
) -> None:
    """Of ten seconds."""
    made = graph(1, CompileId(0, 0), times=times(10, in_graphs_s / 10), calls=10)
    lasting = of_one_process(
        graphs=[made],
        info=ProcessInfo(pid=1, began_ns=1_000_000_000),
        end=ProcessEnd(ended_ns=11_000_000_000),
        overlap_seconds=0.0,
        compiling_in_calls_seconds=0.0,
    )
    kind = "time outside of graphs"
    outside = [each for each in find(lasting) if each.kind == kind]
    assert bool(outside) is is_found
    assert [each.cost.saves_at_most for each in outside] == [Figure(7.0, "estimated")][: len(outside)]
    lasting.processes[
        0
    ].runtime.overlap_seconds = None  # what of the calls' time counts twice is not recorded
    assert all(each.kind != kind for each in find(lasting))


@pytest.mark.parametrize(
    ("cpu_s", "started_by", "is_found"),
    [(1.0, None, False), (6.0, None, True), (None, None, True), (None, "environment", False)],
)
def test_time_in_which_nothing_was_computed_is_not_lost(
    cpu_s: float | None, started_by: str | None, is_found: bool
) -> None:
    """A server or a kernel that waits for requests: ten seconds, one of them in graphs."""
    run = Run(exit_code=0, launcher_pid=7, ended_ns=11_000_000_000, cpu_seconds=cpu_s, started_by=started_by)
    waiting = of_one_process(
        run,
        graphs=[graph(1, CompileId(0, 0), times=times(10, 0.1), calls=10)],
        info=ProcessInfo(pid=1, ppid=7, began_ns=1_000_000_000),
        end=ProcessEnd(ended_ns=11_000_000_000),
        overlap_seconds=0.0,
        compiling_in_calls_seconds=0.0,
    )
    assert any(each.kind == "time outside of graphs" for each in find(waiting)) is is_found


def test_a_frame_that_waited_until_the_end_was_left_eager_and_counts() -> None:
    waited = Deferred("forward", Place("/x/a.py", 3), 7)
    recording = of_one_process(deferred=[waited])
    (found,) = find(recording)
    assert found.kind == "left eager by dynamo run"
    assert "in each of its 7 calls (--capture-budget)" in found.title
    assert found.remedies[0].text.startswith("`dynamo run --capture-budget 0` compiles what waited")
    assert summarize(recording).frames_left_eager == 1
    compiled = replace(fallback(), name="forward", place=waited.place, outcome="compiled")
    assert summarize(of_one_process(deferred=[waited], frames=[compiled])).frames_left_eager == 0


def test_a_frame_that_capture_left_eager_at_a_limit_is_a_finding_with_the_option_that_lifts_it() -> None:
    reason = "its graph has more than 9 ops (--op-limit 9)"
    limited = replace(fallback(reason=reason), outcome="skipped", limit="--op-limit")
    (found,) = find(of_one_process(frames=[limited]))
    assert found.kind == "left eager by dynamo run"
    assert found.title == f"tokens at /home/me/train.py:20 runs eager: {reason}"
    assert found.remedies[0].text.startswith("`dynamo run --op-limit 0` lifts the limit")
    assert find(of_one_process(frames=[replace(limited, limit=None)])) == []
    library = replace(limited, place=Place("/usr/lib/python3/site-packages/lib/model.py", 3))
    both = find(of_one_process(frames=[library, limited, limited], breaks=[a_break()]))
    assert [(each.kind, each.is_library) for each in both] == [
        ("left eager by dynamo run", False),
        ("graph break", False),
        ("left eager by dynamo run", True),
    ]
    assert both[0].title.endswith("(--op-limit 9) (2 times)")
