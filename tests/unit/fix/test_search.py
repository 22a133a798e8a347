"""The search for fixes, with runs that are made up: which are made, and what is concluded from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dynamo_core.analysis.time.steps import Steps
from dynamo_core.case import Case
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.fix.joint import Candidate, has_cured
from dynamo_core.fix.judging import ObservedRun
from dynamo_core.fix.search import BudgetSpent, Plan, _advised_beside, _Search, fix, refuse_unknown
from dynamo_core.fix.trial import Fix, Fixes, Patch, RunResult, Trial, beside_eager, comparable_step
from dynamo_core.launch.process import Unattended
from dynamo_core.launch.program import Program
from dynamo_core.launch.run import Request
from dynamo_core.model import Place, Recording
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_core.shared.errors import NothingSelected, NotMeasured
from dynamo_core.shared.settings import Settings
from support.answering import answer

RAN = RunResult("r", 0, None, 5.0, 4.0, 0.02)
AGAIN = replace(RAN, recording="r2")
LIMIT = Finding(
    kind="recompile limit",
    identity="recompile-limit-0123456789ab",
    title="8 recompiles of f",
    cause="",
    effect="",
    place=Place("/home/me/a.py", 3),
    function="f",
    source="f(x)",
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(times=8),
    remedies=(),
    processes=(),
)
BREAK = replace(LIMIT, kind="graph break", identity="graph-break-0123456789ab", evidence=Evidence(times=2))
OTHER = replace(LIMIT, function="g", identity="recompile-limit-1111111111aa")


def setting(name: str) -> Remedy:
    change = Change(settings=(Assignment(f"torch._dynamo.config.{name}", "True"),))
    return Remedy("setting", f"set {name}", "dynamo breaks", change=change)


@pytest.fixture
def search() -> _Search:
    request = Request(Program(("p.py",), is_python=True), Settings(recording=""))
    search = _Search(Plan(request, Path("r"), 40, 60.0), lambda what, done: None)
    search._baseline += [ObservedRun(ran, "", [LIMIT, BREAK, OTHER]) for ran in (RAN, AGAIN)]
    return search


def kept(finding: Finding, name: str) -> Fix:
    trial = Trial(setting(name), "cures", "", 2, 0, (replace(RAN, recording=name),))
    return Fix(1 + [LIMIT, BREAK, OTHER].index(finding), finding, [trial], trial)


Runs = Callable[..., ObservedRun]


def runs_by_settings(findings: Callable[[Sequence[str]], list[Finding]]) -> Runs:
    """A program whose findings depend on which settings are set."""
    numbers = iter(range(100))

    def run(what: str, request: Request, *others: Any) -> ObservedRun:
        names = [each.partition("=")[0].rpartition(".")[2] for each in request.settings.config]
        return ObservedRun(replace(RAN, recording=f"run {next(numbers)}"), "", findings(names))

    return run


@pytest.mark.parametrize("identity", ["3", "graph-break", "slow-loader-0123456789ab", "graph-break-1"])
def test_what_is_no_identity_is_refused_before_anything_runs(identity: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("open('ran', 'w')\n")
    result = answer("fix", "-y", "--finding", identity, "program.py", cwd=tmp_path)
    assert (result.exit_code, result.stderr.count("\n")) == (119, 1)
    assert f"--finding {identity}: no finding that has remedies is called so" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_what_a_recording_does_not_have_is_refused() -> None:
    refuse_unknown([BREAK.identity], [BREAK])
    refuse_unknown(["recompile-0123456789ab"])
    with pytest.raises(NothingSelected, match=f"it has {BREAK.identity}"):
        refuse_unknown([BREAK.identity, "recompile-0123456789ab"], [BREAK])
    with pytest.raises(NothingSelected, match="it has no findings of the compiler's"):
        refuse_unknown([BREAK.identity], [])


def test_what_is_tried_on_frames_takes_a_share_of_the_budget(search: _Search) -> None:
    for seconds, share in ((40.0, 10.0), (600.0, 60.0)):
        settings = replace(search._plan, seconds=seconds).tried().settings
        assert (settings.try_changes, settings.try_budget) == (True, share)


def together_and_what_holds(search: _Search, fixes: list[Fix]) -> Fixes:
    result = Fixes("p", tuple(each.result for each in search._baseline), fixes)
    result.together = search._try_together(fixes)
    search._keep_what_holds_together(result)
    return result


def test_of_fixes_that_clash_the_later_is_withdrawn(search: _Search, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cures its own alone; with both, the first one's finding is there again, for another reason."""
    again = replace(LIMIT, identity="recompile-limit-ba9876543210", title="9 recompiles of f")

    def findings(names: Sequence[str]) -> list[Finding]:
        if {"one", "two"} <= set(names):
            return [again]
        cures = (("one", LIMIT), ("two", BREAK), ("three", OTHER))
        return [finding for name, finding in cures if name not in names]

    monkeypatch.setattr(search, "_run", runs_by_settings(findings))
    first, second, third = kept(LIMIT, "one"), kept(BREAK, "two"), kept(OTHER, "three")
    result = together_and_what_holds(search, [first, second, third])
    assert [fix.kept is not None for fix in result.fixes] == [True, False, True]
    (withdrawn,) = second.trials
    assert (withdrawn.verdict, withdrawn.reason) == (
        "brings other findings",
        "with fix 1: 9 recompiles of f",
    )
    assert result.together is not None
    assert (result.is_refuted, result.together.after) == (False, 2)
    assert len(result.runs) == 2 + 3 + 4  # as it is, alone, and the first, two pairs and all three


def test_what_another_cures_is_not_held_against_those_without_it(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first clashes with none; the second, which cures the third's finding, makes the program fail."""
    run = runs_by_settings(lambda names: [] if "two" in names else [BREAK, OTHER])

    def fails(what: str, request: Request, *others: Any) -> ObservedRun:
        ran = run(what, request)
        return ran if ran.findings else replace(ran, result=replace(ran.result, exit_code=1))

    monkeypatch.setattr(search, "_run", fails)
    second = kept(BREAK, "two")
    result = together_and_what_holds(search, [kept(LIMIT, "one"), second, Fix(3, OTHER, cured_by=second)])
    assert [fix.is_proven for fix in result.fixes] == [True, False, False]
    assert not result.is_refuted


def test_a_remedy_that_is_kept_alone_falls_with_the_run_beside_eager(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(BREAK, kind="wrong result", title="graph 1 differs")
    monkeypatch.setattr(search, "_run", runs_by_settings(lambda names: [wrong]))
    first = kept(BREAK, "one")
    result = together_and_what_holds(search, [first, Fix(1, LIMIT, cured_by=first)])
    assert [fix.is_proven for fix in result.fixes] == [False, False]
    assert (result.fixes[0].trials[0].verdict, result.fixes[0].trials[0].reason) == (
        "disagrees with eager",
        "graph 1 differs",
    )
    assert (result.is_refuted, len(result.runs)) == (True, 2 + 1 + 1)


def test_what_was_tried_on_the_frame_in_vain_takes_no_run(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def run(what: str, *others: Any) -> ObservedRun:
        ran.append(what)
        return ObservedRun(RAN, "", [])

    monkeypatch.setattr(search, "_run", run)
    in_vain, gone = (replace(setting(name), tried=name) for name in ("still there", "gone"))
    fix = Fix(1, replace(BREAK, remedies=(in_vain, gone)))
    search._try_remedies(fix, [fix])
    assert [(each.verdict, len(each.runs)) for each in fix.trials] == [("does not cure", 0), ("cures", 1)]
    assert ran == ["trying: set gone"] and fix.kept is fix.trials[1]


def test_a_remedy_of_two_findings_is_run_once(search: _Search, monkeypatch: pytest.MonkeyPatch) -> None:
    run, left = in_turn(ObservedRun(RAN, "", [LIMIT]))
    monkeypatch.setattr(search, "_run", run)
    monkeypatch.setattr("dynamo_core.fix.search.patches", lambda *_: ())
    fixes = [Fix(1, replace(each, remedies=(setting("one"),))) for each in (LIMIT, BREAK)]
    for each in fixes:
        search._try_remedies(each, fixes)
    assert [each.trials[0].verdict for each in fixes] == ["does not cure", "cures"]
    assert fixes[0].trials[0].runs == fixes[1].trials[0].runs and not list(left)


def test_two_edits_that_come_to_the_same_are_run_once(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, left = in_turn(ObservedRun(RAN, "", [BREAK]))
    monkeypatch.setattr(search, "_run", run)
    same = (Patch("a.py", "f()", "g()"),)
    monkeypatch.setattr("dynamo_core.fix.search.patches", lambda *_: same)
    with_it = Fix(1, BREAK)
    search._try_remedies(with_it, [with_it])
    assert [each.verdict for each in with_it.trials] == ["does not cure"] * 2 and not list(left)


THREE = {"one": LIMIT, "two": BREAK, "three": OTHER}


def at_once(
    search: _Search,
    monkeypatch: pytest.MonkeyPatch,
    run: Runs,
    names: Mapping[str, Finding] = THREE,
    fixes: Sequence[Fix] = (),
) -> Fixes:
    """The fixes of a program with these findings, each with a remedy that cured its frame, traced again.

    They are put into `fixes` where these are given, with remedies of their own.
    """
    findings = [each.finding for each in fixes] or [
        replace(finding, remedies=(replace(setting(name), tried="gone"),)) for name, finding in names.items()
    ]
    search._baseline[:] = [replace(each, findings=findings) for each in search._baseline]
    recording = SimpleNamespace(processes=[])
    search._first = cast(Case, SimpleNamespace(recording=recording))
    search._last = cast(Recording, recording)
    monkeypatch.setattr(search, "_run", run)
    baseline = tuple(each.result for each in search._baseline)
    made = [Fix(number, each) for number, each in enumerate(findings, 1)]
    result = Fixes("p", baseline, list(fixes) or made)
    search._prove(result)
    return result


def test_one_run_proves_what_is_cured_with_all_first_remedies(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = at_once(search, monkeypatch, runs_by_settings(lambda names: [] if len(names) == 3 else [LIMIT]))
    assert [fix.kept is not None and fix.kept.is_shared for fix in result.fixes] == [True] * 3
    assert len(result.runs) == 2 + 1  # as it is, and all at once
    assert result.together is not None and not result.is_refuted


def test_what_is_not_cured_beside_the_others_is_not_kept(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = at_once(search, monkeypatch, runs_by_settings(lambda names: [BREAK]))
    assert [fix.kept is not None for fix in result.fixes] == [True, False, True]
    refuted, *_ = result.fixes[1].trials
    assert (refuted.verdict, refuted.is_shared) == ("does not cure", True)
    assert refuted.runs == result.fixes[0].trials[0].runs
    assert result.together is not None and result.together.after == 2


def test_where_all_at_once_do_harm_each_is_tried_alone(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs_by_settings(lambda names: [each for name, each in THREE.items() if name not in names])

    def fails(what: str, request: Request, *others: Any) -> ObservedRun:
        ran = run(what, request)
        return replace(ran, stdout="nan") if "three" in str(request.settings.config) else ran

    result = at_once(search, monkeypatch, fails)
    assert [fix.kept is not None for fix in result.fixes] == [True, True, False]
    assert result.fixes[2].trials[0].verdict == "changes the output"
    assert not any(fix.kept.is_shared for fix in result.fixes if fix.kept)


def test_a_single_remedy_that_does_harm_is_not_run_again(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def run(what: str, *others: Any) -> ObservedRun:
        ran.append(what)
        return ObservedRun(RAN, "nan", [])

    result = at_once(search, monkeypatch, run, {"one": LIMIT})
    assert ran == ["the first remedy of each finding, beside eager"]
    assert [each.verdict for each in result.fixes[0].trials] == ["changes the output"]


def test_a_single_remedy_that_does_not_cure_is_not_run_again(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, left = in_turn(ObservedRun(RAN, "", [LIMIT]))
    result = at_once(search, monkeypatch, run, {"one": LIMIT})
    assert [each.verdict for each in result.fixes[0].trials] == ["does not cure"]
    assert result.together is None and not list(left)


def test_what_another_setting_may_have_cured_is_tried_alone(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    untried = [Fix(1, LIMIT), Fix(2, BREAK)]
    change = setting("one").change
    assert change is not None
    tried = [Candidate(fix, setting("one"), change, ()) for fix in untried]
    recording = cast(Recording, SimpleNamespace(processes=[]))
    assert not has_cured(tried[0], tried, recording)
    assert has_cured(tried[0], tried[:1], recording)
    edit = Candidate(Fix(3, OTHER), setting("two"), Change(edit="branch to where"), ())
    assert has_cured(tried[1], [tried[1], edit], recording)


def in_turn(*runs: ObservedRun) -> tuple[Runs, Iterator[ObservedRun]]:
    left = iter(runs)
    return lambda *_: next(left), left


@pytest.mark.parametrize(("then", "verdict"), [(0.03, "cures"), (0.02, "is slower")])
def test_what_seems_slower_is_run_again_beside_the_program_as_it_is(
    then: float, verdict: str, search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower = ObservedRun(replace(RAN, step_seconds=0.03), "", [LIMIT])
    unchanged = ObservedRun(replace(RAN, step_seconds=then), "", [LIMIT, BREAK])
    run, left = in_turn(slower, unchanged, slower)
    monkeypatch.setattr(search, "_run", run)
    monkeypatch.setattr("dynamo_core.fix.search.patches", lambda *_: ())
    change = setting("one").change
    assert change is not None
    trial, _ = search._try(BREAK, setting("one"), change)
    # Where the unchanged program is as slow now, the run with the remedy has shown enough.
    runs = 1 if verdict == "cures" else 2
    assert (trial.verdict, len(trial.runs), len(search._baseline)) == (verdict, runs, 3)
    assert len(list(left)) == 2 - runs


def test_a_single_remedy_that_is_slower_beside_eager_is_run_without(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower, plain = (ObservedRun(replace(RAN, step_seconds=each), "", []) for each in (0.03, 0.02))
    run, left = in_turn(slower, plain)
    result = at_once(search, monkeypatch, run, {"one": LIMIT})
    assert result.fixes[0].kept is not None and result.fixes[0].kept.runs == (plain.result,)
    # What was run beside eager before is the run with all that is kept.
    assert result.together is not None and result.together.runs == (slower.result,) and not list(left)


def test_a_single_remedy_that_helps_is_not_run_again_and_is_kept(
    search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    some_are_left = replace(BREAK, evidence=Evidence(times=1))

    def run(what: str, *others: Any) -> ObservedRun:
        ran.append(what)
        if len(ran) == 2:
            raise BudgetSpent("over")
        return ObservedRun(RAN, "", [some_are_left])

    remedies = [replace(setting(name), tried="gone") for name in ("one", "two")]
    finding = replace(BREAK, remedies=tuple(remedies))
    with pytest.raises(BudgetSpent):
        at_once(search, monkeypatch, run, {"one": finding}, fixes=(fix := Fix(1, finding),))
    assert ran == ["the first remedy of each finding, beside eager", "trying: set two"]
    assert [each.verdict for each in fix.trials] == ["helps"]
    assert fix.kept is fix.trials[0]


@pytest.mark.parametrize(
    ("printed", "further", "verdict"),
    [
        ("total 1.4", ["total 1.7"], "cures"),
        ("total 1.4", ["total 1.6", "total 1.7"], "cures"),
        ("total 1.4", ["total 1.6", "total 1.6"], "changes the output"),
        ("sum 1.6", [], "changes the output"),  # no number: nothing is run again
    ],
)
def test_where_only_numbers_differ_the_unchanged_program_is_run_again(
    printed: str, further: list[str], verdict: str, search: _Search, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs may print the same seconds by chance."""
    search._baseline[:] = [replace(each, stdout="total 1.6") for each in search._baseline]
    unchanged = [ObservedRun(RAN, each, [LIMIT, BREAK]) for each in further]
    run, left = in_turn(ObservedRun(RAN, printed, [LIMIT]), *unchanged)
    monkeypatch.setattr(search, "_run", run)
    monkeypatch.setattr("dynamo_core.fix.search.patches", lambda *_: ())
    change = setting("one").change
    assert change is not None
    trial, _ = search._try(BREAK, setting("one"), change)
    assert (trial.verdict, len(trial.runs), list(left)) == (verdict, 1, [])


def test_what_is_advised_for_others_than_the_compilers_findings_is_known() -> None:
    cached = replace(BREAK, kind="cache bypass", identity="cache-bypass-0123456789ab")
    actions = [
        SimpleNamespace(remedy=remedy, cures=(finding.identity,))
        for remedy, finding in ((setting("one"), BREAK), (None, cached), (setting("two"), cached))
    ]
    case = cast(Case, SimpleNamespace(findings=[BREAK, cached], actions=actions))
    assert list(_advised_beside(case)) == ["set two"]


def test_a_step_is_compared_where_it_is_as_much_of_the_program() -> None:
    def steps(steady: int) -> Steps:
        return Steps(cast(Any, None), steady, 0, (1, 1), 0.02, (0.02,), 1, (), 0.0)

    assert comparable_step(steps(11), steps(9)) == 0.02
    assert comparable_step(steps(11), steps(30)) is None  # the function was called three times in each
    assert comparable_step(None, steps(9)) is None and comparable_step(steps(9), None) is None


def test_a_step_that_is_compared_with_eager_has_no_time_of_its_own() -> None:
    calls = [SimpleNamespace(call=call, compared=int(call < 4), seconds=2.0) for call in (1, 2, 3, 4)]
    changed = SimpleNamespace(verified=calls[:1], verified_program_calls=calls)
    recording = cast(Recording, SimpleNamespace(processes=[SimpleNamespace(interventions=changed)]))
    assert beside_eager(recording) == (8.0, 3)
    steps = Steps(cast(Any, None), 4, 0, (1, 1), 0.02, (0.02,), 1, (), 0.0)
    assert comparable_step(steps, steps, 2) == 0.02
    assert comparable_step(steps, steps, 3) is None


def test_a_first_run_that_does_not_end_is_told_how_it_would(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limits: list[float] = []
    settings: list[str] = []

    def record(request: Request, *, announce: object, unattended: Unattended) -> None:
        limits.append(unattended.time_limit or 0.0)
        settings.extend(request.settings.config)
        unattended.timed_out = True

    monkeypatch.setattr("dynamo_core.fix.search.record", record)
    request = Request(Program(("p.py",), is_python=True), Settings(recording=""))
    with pytest.raises(NotMeasured, match="had not ended after 300 s: `--steps N` ends each run"):
        fix(Plan(request, tmp_path, 40, 300.0), lambda what, done: None)
    with pytest.raises(NotMeasured, match=r"no compiled frame was called over 12 times \(a server needs"):
        (tmp_path / "other").mkdir()
        given = replace(request, settings=request.settings._replace(stop_after=12))
        fix(Plan(given, tmp_path / "other", 40, 300.0), lambda what, done: None)
    assert limits == [300.0] * 2
    assert settings[:1] == ["torch._inductor.config.fallback_random=True"]
