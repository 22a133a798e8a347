"""When a run with a remedy is a cure, and when it is not; and patches."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.findings import Cost, Evidence, Finding
from dynamo_core.fix.applying import apply_patch, changed_lines, patch_text
from dynamo_core.fix.judging import ObservedRun, judge, judge_together, lines_compared, program_stderr
from dynamo_core.fix.trial import Patch, RunResult
from dynamo_core.model import Place

BREAK = Finding(
    kind="graph break",
    identity="graph-break-1",
    title="graph break at a.py:3",
    cause="",
    effect="",
    place=Place("/home/me/a.py", 3),
    function="f",
    source="if x.sum() > 0:",
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(times=2),
    remedies=(),
    processes=(),
)
RECOMPILE = replace(BREAK, kind="recompile", identity="recompile-1", title="g at a.py:9", function="g")
SLOW = replace(BREAK, kind="time outside of graphs", identity="time-1", function=None, place=None)


def run(*findings: Finding, stdout: str = "1.0\n2.0\n", **ran: Any) -> ObservedRun:
    values: dict[str, Any] = {
        "recording": "r",
        "exit_code": 0,
        "signal": None,
        "seconds": 10.0,
        "cpu_seconds": 8.0,
        "step_seconds": None,
    } | ran
    return ObservedRun(RunResult(**values), stdout, findings)


BASELINE = [run(BREAK, RECOMPILE), run(BREAK, RECOMPILE, SLOW)]


def verdict(tried: ObservedRun, *, is_edit: bool = False) -> str:
    return judge(BREAK, BASELINE, tried, is_edit=is_edit).verdict


def test_a_finding_that_is_gone_is_cured() -> None:
    assert verdict(run(RECOMPILE)) == "cures"
    assert verdict(run(RECOMPILE, replace(SLOW, identity="time-2"))) == "cures"  # which is no remedy's matter


def test_one_that_the_run_could_not_record_is_not_called_gone() -> None:
    """Where the probe of graph breaks failed, a recording without a break is no sign that there was none."""
    assert verdict(replace(run(), unseen=frozenset({"graph break"}))) == "does not cure"
    assert verdict(replace(run(), unseen=frozenset({"recompile"}))) == "does not cure"  # one may have come
    before = [replace(each, unseen=frozenset({"recompile"})) for each in BASELINE]
    after = replace(run(), unseen=frozenset({"recompile"}))
    assert judge(BREAK, before, after, is_edit=False).verdict == "cures"  # nothing is known of them as before


def test_one_that_is_met_less_often_is_helped() -> None:
    judged = judge(BREAK, BASELINE, run(replace(BREAK, evidence=Evidence(times=1)), RECOMPILE), is_edit=False)
    assert (judged.verdict, judged.after, judged.reason) == ("helps", 1, "4 → 3 in all")


def test_one_that_is_met_as_often_is_not() -> None:
    assert verdict(run(BREAK, RECOMPILE)) == "does not cure"


def test_another_finding_in_its_place_is_no_cure() -> None:
    other = replace(BREAK, identity="graph-break-2", key=("another cause",))
    assert verdict(run(RECOMPILE, other)) == "brings other findings"
    fewer = replace(other, evidence=Evidence(times=1))
    assert verdict(run(RECOMPILE, fewer)) == "helps"


@pytest.mark.parametrize(("ops", "expected"), [(12, "cures"), (10, "brings other findings")])
def test_what_a_frame_that_ran_eager_had_hidden_is_no_harm_where_more_is_in_graphs(
    ops: int, expected: str
) -> None:
    eager = replace(BREAK, kind="fell back to eager", identity="eager-1")
    hidden = replace(BREAK, identity="graph-break-2", key=("another cause",), evidence=Evidence(times=4))
    for finding, verdict in (
        (eager, expected),
        (replace(eager, kind="compiler error"), "brings other findings"),
    ):
        baseline = [run(finding, captured_ops=10)] * 2
        judged = judge(finding, baseline, run(hidden, captured_ops=ops), is_edit=True)
        assert judged.verdict == verdict


@pytest.mark.parametrize(("line", "expected"), [(2, "brings other findings"), (9, "cures")])
def test_what_stands_above_the_line_was_not_hidden(line: int, expected: str) -> None:
    """As the `while` around it, whose condition cuts the graph in each turn once its frame is compiled."""
    eager = replace(BREAK, kind="fell back to eager", identity="eager-1", place=Place("/home/me/a.py", 3))
    place = Place("/home/me/a.py", line)
    other = replace(BREAK, identity="graph-break-2", key=("another cause",), place=place)
    baseline = [run(eager, captured_ops=10)] * 2
    judged = judge(eager, baseline, run(other, captured_ops=12), is_edit=False)
    assert judged.verdict == expected


def test_a_limit_that_a_larger_function_hits_is_no_cure_whatever_else_went() -> None:
    """The break that cut a small function off is gone, and now the large one is compiled in each call."""
    small = replace(
        BREAK, kind="recompile limit", identity="limit-1", function="note", source="kept.append(x)"
    )
    large = replace(small, identity="limit-2", function="forward")
    before = [run(BREAK, small), run(BREAK, small)]
    assert judge(BREAK, before, run(large), is_edit=False).verdict == "brings other findings"
    assert judge_together(before, run(large), ()).verdict == "brings other findings"
    resumed = replace(small, identity="limit-3", function="torch_dynamo_resume_in_note_at_3")
    assert judge(BREAK, before, run(resumed), is_edit=False).verdict == "cures"


def test_together_is_a_gain_what_each_cures_alone_though_lines_behind_it_have_findings() -> None:
    more = replace(RECOMPILE, evidence=Evidence(times=9))
    assert judge_together(BASELINE, run(more), [BREAK]).verdict == "helps"
    assert judge_together(BASELINE, run(more), ()).verdict == "does not cure"


def test_a_break_that_moves_to_a_later_line_is_no_cure_though_other_findings_went() -> None:
    later = replace(BREAK, identity="graph-break-2", source="them[n](x)", key=("another cause",))
    judged = judge(BREAK, [run(BREAK, RECOMPILE), run(BREAK, RECOMPILE)], run(later), is_edit=False)
    assert (judged.verdict, judged.after) == ("does not cure", BREAK.evidence.times)


def test_a_break_that_is_gone_with_all_that_was_captured_is_not_cured() -> None:
    baseline = [run(BREAK, captured_ops=32), run(BREAK, captured_ops=32)]
    judged = judge(BREAK, baseline, run(captured_ops=21), is_edit=False)
    assert (judged.verdict, judged.reason) == (
        "brings other findings",
        "21 ops ran in graphs, not 32: more of the program runs eager",
    )
    for ops in (30, 33, None):  # an edit may take one or two out
        assert judge(BREAK, baseline, run(captured_ops=ops), is_edit=False).verdict == "cures"


def test_ops_that_ran_in_tiny_graphs_alone_are_no_loss() -> None:
    baseline = [run(BREAK, captured_ops=19, graph_calls=12)] * 2
    for calls, verdict in ((4, "cures"), (11, "brings other findings")):
        tried = run(captured_ops=8, graph_calls=calls)
        assert judge(BREAK, baseline, tried, is_edit=False).verdict == verdict


def test_a_recompile_that_happens_once_in_place_of_a_break_is_a_help_where_more_is_in_graphs() -> None:
    once = replace(RECOMPILE, evidence=replace(RECOMPILE.evidence, times=1))
    baseline = [run(replace(BREAK, evidence=once.evidence), graphs=2, captured_ops=10)] * 2
    for graphs, verdict in ((1, "helps"), (2, "brings other findings")):
        tried = run(once, graphs=graphs, captured_ops=10)
        assert judge(baseline[0].findings[0], baseline, tried, is_edit=False).verdict == verdict
    assert judge_together(baseline, run(once), ()).verdict == "helps"


def test_after_an_edit_the_function_counts_and_not_the_text_of_the_line() -> None:
    elsewhere = replace(BREAK, identity="graph-break-2", source="y = 1", place=Place("/tmp/x/a.py", 4))
    assert verdict(run(RECOMPILE, elsewhere), is_edit=True) == "does not cure"
    assert verdict(run(RECOMPILE), is_edit=True) == "cures"
    in_another = replace(elsewhere, function="h")
    assert verdict(run(RECOMPILE, in_another), is_edit=True) == "brings other findings"


@pytest.mark.parametrize("ran", [{"exit_code": 1}, {"exit_code": None, "signal": 11}])
def test_another_ending_is_no_cure(ran: dict[str, Any]) -> None:
    assert verdict(run(RECOMPILE, **ran)) == "changes the ending"


def test_what_an_edit_moves_into_a_function_with_others_is_no_cure() -> None:
    """Even where that function has no more of them than before: one of its own was not met this time."""
    first, second = (
        replace(BREAK, identity=f"graph-break-{n}", function="h", source=text)
        for n, text in ((3, "print(x)"), (4, "log.info(x)"))
    )
    moved = replace(first, identity="graph-break-5", source="time.sleep(1)")
    judged = judge(BREAK, [run(BREAK, first, second)], run(first, moved), is_edit=True)
    assert judged.verdict != "cures"
    assert judge(BREAK, [run(BREAK, first, second)], run(first), is_edit=True).verdict == "cures"
    why = Evidence(records=("Attempted to call function marked as skipped",), times=2)
    slept, once = replace(BREAK, evidence=why), replace(moved, evidence=replace(why, times=1))
    judged = judge(slept, [run(slept, first, second)], run(first, second, once), is_edit=True)
    assert (judged.verdict, judged.reason, judged.after) == ("does not cure", "it only moves, into h", 1)


TRACEBACK = 'Traceback (most recent call last):\n  File "/home/me/a.py", line …, in f'


def test_of_a_program_that_crashes_the_crash_is_to_be_gone() -> None:
    """Behind it, the program has other findings, prints more and takes longer."""
    error = replace(BREAK, kind="compiler error", identity="compiler-error-1")
    before = [replace(run(error, stdout="1.0\n", exit_code=1), stderr=TRACEBACK)] * 2
    after = run(RECOMPILE, stdout="1.0\n2.0\n", seconds=60.0, cpu_seconds=60.0)
    judged = judge(error, before, after, is_edit=False)
    assert (judged.verdict, judged.reason) == (
        "cures",
        "the program ends with exit code 0 instead of exit code 1",
    )
    assert judge_together(before, after, [error]).verdict == "helps"
    assert judge(error, before, run(error), is_edit=False).verdict == "does not cure"
    assert judge(error, before, run(stdout="1.5\n2.0\n"), is_edit=False).verdict == "changes the output"
    assert judge(error, before, run(exit_code=2), is_edit=False).verdict == "changes the ending"
    once = [before[0], run(error, stdout="1.0\n")]  # it crashes now and then
    assert judge(error, once, run(), is_edit=False).verdict == "changes the ending"


def test_an_exit_code_that_the_program_chose_is_no_crash() -> None:
    before = [run(BREAK, exit_code=3)] * 2
    assert judge(BREAK, before, run(), is_edit=False).verdict == "changes the ending"


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        ({"graphs": 2}, "does not cure"),
        ({"graphs": 3}, "does not cure"),
        ({"graphs": 2, "step_seconds": 0.009}, "cures"),
        ({"graphs": 2, "step_seconds": 0.011}, "does not cure"),
        ({"graphs": 1}, "cures"),
        ({"graphs": 2, "frames": 1}, "cures"),
        ({"graphs": 2, "frames": 3}, "does not cure"),
        ({"graphs": 2, "captured_ops": 12}, "cures"),
    ],
)
def test_what_leaves_as_many_graphs_is_to_be_faster(after: dict[str, Any], verdict: str) -> None:
    before = [
        run(BREAK, graphs=2, frames=3, captured_ops=10, step_seconds=seconds) for seconds in (0.01, 0.012)
    ]
    values = {"captured_ops": 10, "step_seconds": 0.011} | after
    assert judge(BREAK, before, run(**values), is_edit=True, must_gain=True).verdict == verdict
    assert judge(BREAK, before, run(**values), is_edit=True).verdict == "cures"


@pytest.mark.parametrize(
    ("stdout", "expected"),
    [
        ("1.0\n2.00001\n", "cures"),
        ("1.0\n2.1\n", "changes the output"),
        ("1.0\n", "changes the output"),
        ("1.0\nnan\n", "changes the output"),
        ("1.0\ntwo\n", "changes the output"),
    ],
)
def test_the_output_is_the_same_within_a_tolerance(stdout: str, expected: str) -> None:
    assert verdict(run(RECOMPILE, stdout=stdout)) == expected


def test_the_own_lines_of_stderr_are_the_same_where_they_are_in_all_runs_without() -> None:
    baseline = [replace(each, stderr="epoch 1\nloss 0.5") for each in BASELINE]
    judged = judge(BREAK, baseline, replace(run(RECOMPILE), stderr="epoch 1\nloss 0.7"), is_edit=False)
    assert (judged.verdict, judged.reason[:10]) == ("changes the output", "on stderr,")
    assert (
        judge(BREAK, baseline, replace(run(RECOMPILE), stderr=baseline[0].stderr), is_edit=False).after == 0
    )
    baseline[1] = replace(baseline[1], stderr="epoch 1 of 3\nloss 0.5")
    assert judge(BREAK, baseline, replace(run(RECOMPILE), stderr=""), is_edit=False).verdict == "cures"


def test_warnings_and_torchs_log_are_not_the_programs_own_lines() -> None:
    stderr = """step 1
/home/me/a.py:12: UserWarning: it is old
  warnings.warn("it is old")
  indented
[rank0]:W1122 10:19:33.854000 21113 torch/_dynamo/convert_frame.py:1994] [0/8] torch._dynamo hit the limit
[W1122 10:19:33.854 Logging.cpp:3] of C++
Traceback (most recent call last):
  File "/home/me/a.py", line 31, in f
/venv/torch/autograd/graph.py:979: UserWarning: Error detected in IndexPutBackward0. Traceback of the call:
  File "/home/me/a.py", line 19, in f
    loss[good] = 1
 (Triggered internally at /torch/csrc/autograd/python_anomaly_mode.cpp:122.)
  return run_backward(
/venv/torch/_dynamo/variables/functions.py:2431: UserWarning: Dynamo does not know how to trace `f`.
If it is a Python builtin, please file an issue.
  torch._dynamo.utils.warn_once(explanation)
dynamo: recorded"""
    assert program_stderr(stderr).splitlines() == [
        "step 1",
        "  indented",
        "Traceback (most recent call last):",
        '  File "/home/me/a.py", line …, in f',
    ]


def test_what_differs_from_run_to_run_is_not_compared() -> None:
    baseline = [run(BREAK, stdout="took 3 s\n1.0\n"), run(BREAK, stdout="took 4 s\n1.0\n")]
    assert judge(BREAK, baseline, run(stdout="took 9 s\n1.0\n"), is_edit=False).verdict == "cures"
    assert (
        judge(BREAK, baseline, run(stdout="took 9 s\n1.5\n"), is_edit=False).verdict == "changes the output"
    )


def test_in_a_line_that_holds_a_time_the_rest_is_compared() -> None:
    baseline = [run(BREAK, stdout=f"loss 0.31, {ms} ms\n") for ms in (12, 14)]
    verdicts = [
        judge(BREAK, baseline, run(stdout=f"{line}\n"), is_edit=False).verdict
        for line in ("loss 0.31, 17 ms", "loss 0.97, 17 ms", "loss 0.31, 17 ms too")
    ]
    assert verdicts == ["cures", "changes the output", "changes the output"]


def test_what_is_met_less_often_without_a_remedy_too_is_not_helped() -> None:
    once = replace(BREAK, evidence=Evidence(times=1))
    assert judge(BREAK, [run(BREAK), run(once)], run(once), is_edit=False).verdict == "does not cure"
    assert judge(BREAK, [run(BREAK), run()], run(), is_edit=False).verdict == "does not cure"


def test_lines_are_compared_where_there_are_as_many_each_time() -> None:
    assert lines_compared([run(), run()]) == 2
    assert lines_compared([run(stdout=""), run(stdout="")]) == 0
    assert lines_compared([run(), run(stdout="1.0\n")]) == 0


def test_a_line_of_which_nothing_is_alike_is_not_compared() -> None:
    assert lines_compared([run(stdout="-7.31\nloss 2\n"), run(stdout="10.57\nloss 3\n")]) == 1
    assert lines_compared([run(stdout="-7.31\n"), run(stdout="10.57\n")]) == 0


def test_what_compiles_for_the_first_time_may_take_longer() -> None:
    unused = replace(BREAK, kind="never called", identity="never-called-1")
    baseline = [run(unused, graphs=0), run(unused, graphs=0)]
    longer = run(seconds=30.0, cpu_seconds=28.0, graphs=2)
    assert judge(unused, baseline, longer, is_edit=True).verdict == "cures"
    compiled = [run(unused, graphs=1), run(unused, graphs=1)]
    assert judge(unused, compiled, longer, is_edit=True).verdict == "is slower"


def test_slower_is_no_cure_by_steps_where_there_are_some() -> None:
    assert verdict(run(RECOMPILE, seconds=11.0)) == "cures"
    assert verdict(run(RECOMPILE, seconds=30.0)) == "cures"  # the machine had other things to do
    assert verdict(run(RECOMPILE, seconds=30.0, cpu_seconds=28.0)) == "is slower"
    baseline = [run(BREAK, step_seconds=0.01), run(BREAK, step_seconds=0.012)]
    assert judge(BREAK, baseline, run(seconds=30.0, step_seconds=0.011), is_edit=False).verdict == "cures"
    assert judge(BREAK, baseline, run(step_seconds=0.02), is_edit=False).verdict == "is slower"


BEFORE = "".join(f"line {n}\n" for n in range(20))
PATCH = Patch("/home/me/a.py", BEFORE, BEFORE.replace("line 9\n", "line nine\nand more\n"))


def test_a_patch_is_a_unified_diff_both_ways() -> None:
    assert list(changed_lines(PATCH)) == ["-line 9", "+line nine", "+and more"]
    forth, back = patch_text([PATCH]), patch_text([PATCH], undo=True)
    assert "-line 9\n+line nine\n+and more\n" in forth
    assert "-line nine\n-and more\n+line 9\n" in back
    without_newline = Patch("a.py", "x", "y")
    assert patch_text([without_newline]).count("\\ No newline at end of file") == 2


def test_only_a_newline_ends_a_line_of_a_patch() -> None:
    before = "a = 1\r\n\x0c\nb = '\u2028'\n"
    patch = Patch("a.py", before, before.replace("a = 1", "a = 2"))
    assert patch_text([patch]).endswith("-a = 1\r\n+a = 2\r\n \x0c\n b = '\u2028'\n")
    assert apply_patch(before, patch) == patch.after


def test_an_edit_is_put_where_its_lines_are_now() -> None:
    assert apply_patch(BEFORE, PATCH) == PATCH.after
    moved = "# new\n" + BEFORE.replace("line 19\n", "last\n")
    assert apply_patch(moved, PATCH) == "# new\n" + PATCH.after.replace("line 19\n", "last\n")


def test_an_edit_whose_lines_are_gone_or_twice_there_is_not_made() -> None:
    assert apply_patch(BEFORE.replace("line 9\n", "line 9.5\n"), PATCH) is None
    assert apply_patch(BEFORE + BEFORE, PATCH) is None
