"""Two runs beside each other: findings by what they are, counts exactly, times within their spread."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.compare import Difference, compare
from dynamo_core.compare.difference import Condition
from dynamo_core.compare.findings import since
from dynamo_core.findings import OF_THE_COMPILER
from dynamo_core.findings.kinds import SPECS
from dynamo_core.model import (
    CacheLookup,
    Compile,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    Place,
    ProcessInfo,
    ProcessState,
    RecompileReasons,
    Recording,
    Run,
    StackFrame,
)
from dynamo_reporters.diff import diff_blocks, report
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import document as as_json
from support.made import called, of_one_process, pair_of, saved, verified_call_of
from support.ranks_by_hand import collective, graph, of, rank
from support.schemas import validate

FILE = "/home/me/model.py"


def recording(*, exit_code: int = 0, signal: int | None = None, **fields: object) -> Recording:
    info = ProcessInfo(pid=1, torch="2.13.0", python="3.11.7")
    run = Run(exit_code=None if signal else exit_code, signal=signal, ended_ns=1)
    return of_one_process(run, **{"info": info, **fields})


def a_break(
    line: int = 7, text: str = "print(x)", function: str = "forward", file: str = FILE, reason: str = "print"
) -> GraphBreak:
    return GraphBreak(reason, (StackFrame(Place(file, line), function, text),), CompileId(line, 0))


def recompiled(
    source: str = "x", kind: Any = "size", times: int = 1, line: str = "return {}.sin()"
) -> Recording:
    """`f`, compiled again for the size of one of its arguments."""
    place = Place(FILE, 3)
    compiles = [
        Compile(CompileId(0, n), "f", place, 1.0, True, 9, 2, "it failed", None, None, {}, None, None)
        for n in range(1, times + 1)
    ]
    text = line.format(source)
    failure = GuardFailure(CompileId(0, 0), "mismatch", kind, source, 0, "4", "5", Place(FILE, 4), text, None)
    reasons = [RecompileReasons(each.compile_id, (failure,)) for each in compiles]
    return recording(compiles=compiles, recompile_reasons=reasons)


def fallback(function: str = "tokens", line: int = 20) -> Frame:
    return Frame(function, Place(FILE, line), "failed", "generator", False, False, CompileId(9, 0))


def is_empty(found: Difference) -> bool:
    return found.verdict == "nothing differs" and not (found.came or found.went or found.changed)


def test_moved_renamed_and_edited_lines_are_no_differences() -> None:
    before = recording(breaks=[a_break()])
    for after in (
        a_break(line=90),
        a_break(file="/elsewhere/other.py"),
        a_break(function="step"),
        a_break(text="print(why)"),
        a_break(function="step", line=90, file="/elsewhere/other.py"),
    ):
        found = compare(before, recording(breaks=[after]))
        assert is_empty(found), after
        assert found.sentence == "Nothing differs (0 graphs, 1 finding compared)"


def test_a_second_break_of_the_same_kind_is_one_that_came() -> None:
    found = compare(recording(breaks=[a_break()]), recording(breaks=[a_break(), a_break(9, "print(y)")]))
    assert [finding.source for finding in found.came] == ["print(y)"]
    assert found.went == ()
    assert found.sentence == "Worse: 1 graph break more"


def test_two_breaks_of_which_one_was_edited_and_the_other_is_gone_are_not_one() -> None:
    two = recording(breaks=[a_break(7, "print(x)"), a_break(9, "print(y)")])
    one = recording(breaks=[a_break(8, "print(x + y)")])
    fixed, broken = compare(two, one), compare(one, two)
    assert [len(found.came) for found in (fixed, broken)] == [0, 1]
    assert [len(found.went) for found in (fixed, broken)] == [1, 0]


def test_another_cause_on_the_same_line_is_another_finding() -> None:
    found = compare(recording(breaks=[a_break()]), recording(breaks=[a_break(reason="open")]))
    assert (len(found.came), len(found.went)) == (1, 1)
    assert found.sentence == "Different: 1 finding came and 1 finding went"
    # Another torch may word the same cause in another way.
    newer = recording(breaks=[a_break(reason="open")], torch_version="2.14.0")
    assert is_empty(compare(recording(breaks=[a_break()]), newer))


def test_a_renamed_local_is_told_from_another_argument() -> None:
    assert is_empty(compare(recompiled("x"), recompiled("why")))
    # `y` is an argument on both sides: that it recompiles now is new.
    found = compare(recompiled("x", line="return x + y"), recompiled("y", line="return x + y"))
    assert (len(found.came), len(found.went)) == (1, 1)
    assert not is_empty(compare(recompiled("x"), recompiled("why", kind="dtype")))


def test_renamed_functions_have_the_same_line_or_are_two() -> None:
    assert is_empty(compare(recording(breaks=[a_break()]), recording(breaks=[a_break(function="step")])))
    other = a_break(text="print(y)", function="step")
    assert len(compare(recording(breaks=[a_break()]), recording(breaks=[other])).came) == 1


def test_more_recompiles_for_the_same_cause() -> None:
    found = compare(recompiled(times=1), recompiled(times=3))
    assert [(c.before.evidence.times, c.after.evidence.times) for c in found.changed] == [(1, 3)]
    assert found.sentence == "Worse: 2 recompiles more"
    assert ("guards", 9, 27) in [(c.name, c.before, c.after) for c in found.counts if c.function == "f"]


def test_a_break_that_became_a_frame_that_runs_eager_is_worse_in_one_way_and_better_in_another() -> None:
    found = compare(recording(breaks=[a_break()]), recording(frames=[fallback()]))
    assert found.sentence == "Different: 1 frame that runs eager more, 1 graph break fewer"


@pytest.mark.parametrize(
    ("ending", "verdict", "sentence"),
    [
        ({"exit_code": 3}, "worse", "Worse: it ended with exit code 3, not 0"),
        ({"signal": 9}, "worse", "Worse: it ended with exit code 137, not 0"),
    ],
)
def test_another_ending_is_a_difference(ending: dict[str, Any], verdict: str, sentence: str) -> None:
    found = compare(recording(), recording(**ending))
    assert (found.verdict, found.sentence) == (verdict, sentence)


def test_every_kind_of_finding_that_runs_are_compared_by_is_judged() -> None:
    assert [kind for kind, spec in SPECS.items() if spec.diff_words] == list(OF_THE_COMPILER)


def test_ranks_that_differ_now_are_worse() -> None:
    alike, other = graph(collective("all_reduce")), graph(collective("all_gather_into_tensor"))
    found = compare(of(rank(0, alike), rank(1, alike)), of(rank(0, alike), rank(1, other)))
    assert found.verdict == "worse" and "1 difference between ranks more" in found.sentence


def test_one_failure_for_another_is_neither_better_nor_worse() -> None:
    found = compare(recording(exit_code=1), recording(exit_code=2))
    assert found.sentence == "Different: it ended with exit code 2, not 1"
    assert compare(recording(exit_code=1), recording()).verdict == "better"


def test_what_was_not_recorded_is_said_and_not_counted_as_equal() -> None:
    after = recording(breaks=[a_break()])
    after.processes[0].health.failed_probes["graph breaks"] = "it has another name"
    found = compare(recording(breaks=[a_break()]), after)
    assert "not recorded after: graph breaks, graph breaks met while compiling" in found.not_compared
    assert any("it has another name" in text for text in found.not_compared)


def training(size: int, *, is_known: bool = True) -> Recording:
    """A graph with a backward, and how many bytes are saved for it."""
    pair = pair_of(saved("relu", size))
    graph = Graph(1, CompileId(0, 0), 0, None, "inductor", 2, is_compiled=True, key="k", backward_index=3)
    return recording(graphs=[graph], pairs=[pair] if is_known else [])


def test_what_is_saved_for_the_backward_counts_where_it_is_recorded_of_every_graph() -> None:
    found = compare(training(512), training(768))
    assert [(count.name, count.before, count.after) for count in found.counts] == [
        ("bytes saved for the backward", 512, 768)
    ]
    assert found.sentence == "Different: 1 graph changed"
    from_a_cache = compare(training(512), training(512, is_known=False))
    assert from_a_cache.counts == ()
    assert "not recorded after: bytes saved for the backward" in from_a_cache.not_compared


def test_a_side_without_a_process_cannot_be_compared() -> None:
    found = compare(recording(), replace(recording(), processes=[]))
    assert found.verdict == "not comparable"
    assert found.sentence == "Nothing can be compared; not recorded after: processes that imported torch"


def test_versions_settings_and_caches_are_told_and_do_not_count() -> None:
    info = ProcessInfo(pid=1, torch="2.14.0", python="3.12.1")
    config = ProcessState(torch_config={"torch._dynamo.config": {"dynamic_shapes": "False"}})
    default = ProcessState(torch_config={"torch._dynamo.config": {}})
    lookup = CacheLookup("fx_graph_cache", "hit", CompileId(0, 0))
    found = compare(
        recording(state=default, lookups=[replace(lookup, outcome="miss")]),
        recording(info=info, torch_version="2.14.0", state=config, lookups=[lookup]),
    )
    assert found.verdict == "nothing differs"
    assert found.conditions == (
        Condition("torch", "2.13.0", "2.14.0"),
        Condition("Python", "3.11.7", "3.12.1"),
        Condition("FX graph cache", "1 miss", "1 hit"),
        Condition("torch._dynamo.config.dynamic_shapes", "the default", "False"),
    )


@pytest.mark.parametrize("sides", [(True, False), (False, True), (False, False)])
def test_settings_that_one_side_did_not_record_are_not_compared(sides: tuple[bool, bool]) -> None:
    config = ProcessState(torch_config={"torch._dynamo.config": {"dynamic_shapes": "False"}})
    before, after = (recording(state=config if known else ProcessState()) for known in sides)
    assert compare(before, after).conditions == ()


def stepping(step_ms: Sequence[float], function: str = "forward", **fields: Any) -> Recording:
    """A run whose steps took these times."""
    begins = [5.0]
    for step in step_ms:
        begins.append(begins[-1] + step)
    times = called(begins, 1e-4)
    graph = Graph(1, CompileId(0, 0), 0, None, "eager", 2, is_compiled=True, times=times, key=function)
    graph.frame_name, graph.frame_place = function, Place(FILE, 3)
    return recording(graphs=[graph], **fields)


STEADY = [10.0, 10.5, 9.8, 10.2, 10.1, 10.4]


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ([10.3, 10.0, 9.9, 10.6, 10.2, 10.1], "within the spread"),
        ([20.0, 21.0, 20.5, 20.2, 20.9, 20.1], "longer"),
        ([5.0, 5.1, 5.2, 5.0, 5.1, 5.3], "shorter"),
        ([20.0, 21.0, 20.5, 10.0, 20.9, 20.1], "within the spread"),  # one of them was as fast
        ([10.55, 10.56, 10.57, 10.58, 10.56, 10.57], "within the spread"),  # beyond it by next to nothing
    ],
)
def test_a_step_is_longer_only_beyond_the_spread(after: list[float], verdict: str) -> None:
    found = compare(stepping(STEADY), stepping(after))
    (step,) = [time for time in found.times if time.name == "a steady step"]
    assert step.verdict == verdict
    assert found.verdict == "nothing differs"  # times do not decide
    assert ("a steady step is" in found.sentence) == (verdict != "within the spread")


@pytest.mark.parametrize(("change", "verdict"), [(1.0, "within the spread"), (1.5, "longer")])
def test_a_step_is_longer_by_more_than_a_twentieth(change: float, verdict: str) -> None:
    even = [20.0] * 6
    for was, now, told in (
        (even, [20.0 + change] * 6, verdict),
        ([20.0 + change] * 6, even, verdict.replace("longer", "shorter")),
    ):
        (step,) = [
            time for time in compare(stepping(was), stepping(now)).times if time.name == "a steady step"
        ]
        assert step.verdict == told
        assert step.why in (
            "the two differ by no more than repeats within a run do",
            "1.07 times as long",
            "1.07 times as fast",
        )


@pytest.mark.parametrize(("repeats", "is_compared"), [(3, False), (6, True)])
def test_steps_are_compared_from_four_repeats_on(repeats: int, is_compared: bool) -> None:
    found = compare(stepping([10.0] * repeats), stepping([20.0] * 6))
    (step,) = [time for time in found.times if time.name == "a steady step"]
    assert (step.why != "too few repeats") is is_compared


def test_steps_of_other_functions_or_machines_are_not_compared() -> None:
    slow = [each * 2 for each in STEADY]
    other = compare(stepping(STEADY), stepping(slow, "other"))
    assert [time.verdict for time in other.times if time.name == "a steady step"] == ["not comparable"]
    here, there = (ProcessState(devices=[device]) for device in ("cpu: 2 cores", "cpu: 64 cores"))
    moved = compare(stepping(STEADY, state=here), stepping(slow, state=there))
    (step,) = [time for time in moved.times if time.name == "a steady step"]
    assert (step.verdict, step.why) == ("not comparable", "not the same: devices")


def test_a_single_figure_is_never_called_changed() -> None:
    compiled = Compile(CompileId(0, 0), "f", None, 1.0, True, 1, 1, None, None, None, {}, None, None)
    found = compare(recording(compiles=[compiled]), recording(compiles=[replace(compiled, seconds=90.0)]))
    assert [time.verdict for time in found.times if time.name == "compiling"] == ["not comparable"]
    assert found.verdict == "nothing differs"


def test_the_page_shows_the_line_the_cause_and_the_lines_of_both_sides() -> None:
    before, after = recording(), recording(breaks=[a_break()])
    page = plain_text(diff_blocks(compare(before, after), before, after))
    assert page.startswith("Worse: 1 graph break more\n")
    assert "graph break at /home/me/model.py:7 print" in page
    assert "print(x)" in page
    often = recording(breaks=[a_break(text="print(y)"), replace(a_break(text="print(y)"), compile_id=None)])
    page = plain_text(diff_blocks(compare(after, often), after, often))
    assert "graph break at /home/me/model.py:7: 1 → 2 times" in page
    assert "before: print(x)" in page and "after: print(y)" in page


def test_the_document_fits_the_schema_that_is_shipped() -> None:
    before, after = recompiled(), stepping(STEADY, breaks=[a_break()], frames=[fallback()])
    document = as_json(report(before, after), compare(before, after))
    validate(json.loads(json.dumps(document)))
    assert document["difference"]["came"][0]["kind"] == "fell back to eager"


def test_since_the_run_before_a_moved_finding_is_still_there_and_others_are_gone_or_new() -> None:
    moved, cured, fresh = (
        a_break(),
        a_break(9, "y.item()", "loss"),
        a_break(12, "z.sort()", "sorted"),
    )
    before = recording(breaks=[moved, cured])
    after = recording(breaks=[a_break(8), fresh])
    found = since(before, after)
    assert (found.gone, found.new) == ([f"graph break at {FILE}:9"], [f"graph break at {FILE}:12"])
    assert found.still_there == 1


def verified(outcome: str) -> Recording:
    """A run with `--verify`, in which one call was compared."""
    call = verified_call_of(FILE, outcome=outcome, path="result", differences=1)
    return recording(verified_program_calls=[call])


def test_a_wrong_result_is_not_gone_in_a_run_that_compared_nothing() -> None:
    wrong, right, not_compared = verified("disagrees"), verified("agrees"), recording()
    assert since(wrong, not_compared).gone == []
    assert since(not_compared, wrong).new == []
    assert since(not_compared, wrong).by_verify == [f"wrong result at {FILE}:3"]
    assert since(right, wrong).by_verify == []
    assert since(wrong, right).gone == [f"wrong result at {FILE}:3"]
