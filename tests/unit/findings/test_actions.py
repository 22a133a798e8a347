"""Actions: a remedy with everything that it cures, in one order; and what is true of any short run."""

from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.case import Case, _with_first
from dynamo_core.findings import (
    Action,
    Cost,
    Draft,
    Evidence,
    Figure,
    Finding,
    Kind,
    Remedy,
    actions_of,
    is_context,
)
from dynamo_core.findings.build import by_identity, merged, of_identities, saved_together
from dynamo_core.findings.finding import NOT_RECORDED, Shared
from dynamo_core.model import Place, Process, ProcessEnd, ProcessInfo, Recording, Run, Timeline
from dynamo_core.remedies.rules import Assignment, Change
from support.made import S, of_one_process

SETTING = Remedy("environment", "set `A=1`", "dynamo breaks", Change(environment=(Assignment("A", "1"),)))
ARGUMENT = Remedy("argument", "pass it", "dynamo breaks", Change(arguments=(Assignment("dynamic", "True"),)))
KEEP = Remedy("edit", "keep the tensor", "dynamo breaks", Change(edit="item kept a tensor"))
COMMAND = Remedy("command", "look with `dynamo profile`", "dynamo profile")


def finding(
    line: int, *remedies: Remedy, saves: float | None = None, kind: Kind = "graph break", times: int = 1
) -> Finding:
    figure = NOT_RECORDED if saves is None else Figure(saves, "measured")
    return Finding(
        kind=kind,
        identity=f"{kind}-{line}",
        title=f"{kind} at model.py:{line}",
        cause="",
        effect="",
        place=Place("/home/me/model.py", line),
        function="forward",
        source=f"x{line} = x.item()",
        via=None,
        is_library=False,
        cost=Cost(saves_at_most=figure),
        evidence=Evidence(times=times),
        remedies=remedies,
        processes=("s.log",),
    )


def summed(findings: object) -> Figure:
    known = [each.cost.saves_at_most.seconds for each in findings]  # type: ignore[attr-defined]
    return NOT_RECORDED if None in known else Figure(sum(known), "measured")


def actions(*findings: Finding) -> list[Action]:
    return actions_of(findings, summed)


def cures(*findings: Finding) -> list[tuple[str, ...]]:
    return [each.cures for each in actions(*findings)]


def test_one_setting_for_many_lines_is_one_action_with_its_alternatives() -> None:
    breaks = [finding(line, SETTING, KEEP, saves=0.5, times=2) for line in range(18)]
    other = finding(30, KEEP, saves=0.1)
    first, second = actions(*breaks, other)
    assert first.remedy == SETTING and first.cures == tuple(each.identity for each in breaks)
    assert (first.number, first.times, first.saves_at_most) == (
        1,
        {"graph break": 36},
        Figure(9.0, "measured"),
    )
    (alternative,) = first.alternatives
    assert (alternative.remedy, alternative.cures) == (KEEP, first.cures)
    assert (second.number, second.remedy, second.cures, second.alternatives) == (
        2,
        KEEP,
        (other.identity,),
        (),
    )


def test_a_finding_is_cured_by_the_remedy_that_cures_most_others() -> None:
    """It need not be its first advice, if it is the first of another and changes no more."""
    last = finding(3, KEEP, SETTING)
    (action,) = actions(finding(1, SETTING), finding(2, SETTING), last)
    assert (len(action.cures), action.alternatives[0].cures) == (3, (last.identity,))
    assert len(actions(finding(1, KEEP, SETTING), finding(2, ARGUMENT, SETTING))) == 2, (
        "nobody's first advice"
    )


def test_advice_in_the_same_words_is_one_action_whichever_of_them_a_line_has() -> None:
    stacked = Remedy("edit", "stack them in place of `min`, take `x1`", "dynamo breaks")
    (action,) = actions(finding(1, stacked), replace(finding(2, stacked), source="return min(rows)"))
    assert action.cures == ("graph break-1", "graph break-2")


@pytest.mark.parametrize("order", [1, -1])
def test_a_setting_that_is_among_those_of_another_action_is_that_actions(order: int) -> None:
    both = Remedy(
        "environment",
        "set `A=1 B=1`",
        "dynamo breaks",
        Change(environment=(Assignment("A", "1"), Assignment("B", "1"))),
    )
    (action,) = actions(*[finding(1, both), finding(2, SETTING, KEEP)][::order])
    assert action.remedy == both
    assert sorted(action.cures) == ["graph break-1", "graph break-2"]
    assert [(each.remedy.text, each.cures) for each in action.alternatives] == [
        ("keep the tensor", ("graph break-2",))
    ]


def test_the_same_advice_on_lines_that_differ_is_one_action() -> None:
    def moved(line: int) -> Finding:
        text = f"take `x{line} = x.item()` out of `forward`"
        return finding(line, Remedy("edit", text, "dynamo breaks"))

    assert len(actions(moved(1), moved(2))) == 1
    library = replace(moved(2), is_library=True)
    assert len(actions(moved(1), library)) == 2, "a library's lines are not the user's to edit"
    in_both = finding(1, SETTING), replace(finding(2, SETTING), is_library=True)
    assert len(actions(*in_both)) == 1, "a setting is for all lines"
    elsewhere = Remedy("edit", "take `x3 = x.item()` out of `loss`", "dynamo breaks")
    assert len(actions(moved(1), finding(3, elsewhere))) == 2


def test_values_of_one_list_are_one_action() -> None:
    """Who sets the variable a second time loses the first value."""

    def dynamic(line: int, source: str, name: str = "TORCH_COMPILE_DYNAMIC_SOURCES") -> Finding:
        change = Change(environment=(Assignment(name, source),))
        return finding(line, Remedy("environment", f"set it to {source}", "dynamo recompiles", change))

    joined, other = actions(
        dynamic(1, "x:0"),
        dynamic(2, "y:0"),
        dynamic(3, "x:0"),
        dynamic(4, "z:0", "TORCH_COMPILE_STATIC_SOURCES"),
    )
    assert joined.remedy is not None and joined.remedy.change is not None and other.remedy is not None
    assert joined.remedy.change.environment == (Assignment("TORCH_COMPILE_DYNAMIC_SOURCES", "x:0,y:0"),)
    assert joined.remedy.text.startswith('set `TORCH_COMPILE_DYNAMIC_SOURCES="x:0,y:0"` in')
    assert (len(joined.cures), other.remedy.text) == (3, "set it to z:0")
    # torch makes a number of that name dynamic by the entry with a dimension.
    (of_both,) = actions(dynamic(1, "L['x']"), dynamic(2, "L['x']:1"), dynamic(3, "L['n']"))
    assert of_both.remedy is not None and of_both.remedy.change is not None
    assert [each.value for each in of_both.remedy.change.environment] == ["L['x']:1,L['n']"]


def test_one_argument_for_several_calls_names_each_of_them() -> None:
    at = [replace(ARGUMENT, text=f"pass `dynamic=True` to the call at a.py:{line}: why") for line in (3, 9)]
    unknown = replace(ARGUMENT, text="pass `dynamic=True` to `torch.compile`: why")
    (one,) = actions(finding(1, unknown), finding(2, at[0]))
    (both,) = actions(finding(1, at[0]), finding(2, at[1]), finding(3, unknown))
    assert one.remedy and one.remedy.in_short == "pass `dynamic=True` to the call at a.py:3"
    assert both.remedy
    assert both.remedy.text == "pass `dynamic=True` to the call at a.py:3, and to the call at a.py:9."


def test_one_edit_with_two_sentences_is_two_actions() -> None:
    removed = Change(edit="statement removed")
    first, second = (Remedy("edit", text, "dynamo breaks", removed) for text in ("drop the dump", "drop pdb"))
    assert len(actions(finding(1, first), finding(2, second))) == 2


def test_what_saves_most_is_first() -> None:
    few, many = finding(1, ARGUMENT, saves=3.0), [finding(line, KEEP, saves=2.0) for line in (2, 3)]
    assert cures(few, *many) == [("graph break-2", "graph break-3"), ("graph break-1",)]


def test_of_equals_the_smaller_change_is_first() -> None:
    given = [
        finding(1, saves=1.0),
        finding(2, COMMAND, saves=1.0),
        finding(3, KEEP, saves=1.0),
        finding(4, ARGUMENT, saves=1.0),
        finding(5, SETTING, saves=1.0),
    ]
    assert [each.remedy for each in actions(*given)] == [SETTING, ARGUMENT, KEEP, COMMAND, None]
    several = [finding(line, KEEP, saves=0.5) for line in (1, 2)]
    one = finding(3, replace(KEEP, text="leave it off"), saves=1.0)
    assert [len(each.cures) for each in actions(*several, one)] == [1, 2]


def test_of_unknown_time_what_cures_more_is_first() -> None:
    assert [len(each) for each in cures(finding(1, SETTING), finding(2, KEEP), finding(3, KEEP))] == [2, 1]


def test_what_is_wrong_is_first_whatever_is_known_of_it() -> None:
    wrong = finding(1, kind="wrong result")
    assert cures(wrong, finding(2, SETTING, saves=9.0))[0] == (wrong.identity,)


def test_a_limit_that_was_hit_is_one_however_many_recompiles_led_there() -> None:
    (action,) = actions(
        finding(1, ARGUMENT, kind="recompile limit", times=8), finding(2, ARGUMENT, kind="recompile", times=2)
    )
    assert action.times == {"recompile limit": 1, "recompile": 2}


def test_what_consequences_cost_is_saved_too_but_what_a_break_costs_has_it_in_it() -> None:
    above = finding(1, SETTING, saves=2.0, kind="recompile")
    behind = replace(finding(2, SETTING, saves=1.0, kind="recompile"), because_of=above.identity)
    of_a_break = replace(finding(3, SETTING, saves=1.0, kind="recompile"), because_of="graph break-4")
    together = actions(above, behind, finding(4, KEEP, saves=1.5), of_a_break)
    assert [(each.cures, each.saves_at_most.seconds) for each in together] == [
        (("recompile-1", "recompile-2"), 3.0),
        (("graph break-4", "recompile-3"), 1.5),
    ]


def test_a_value_is_named_in_the_frames_behind_a_break_as_well() -> None:
    name = "TORCH_COMPILE_DYNAMIC_SOURCES"
    above, behind = (
        Remedy(
            "environment", f"set {each}", "dynamo recompiles", Change(environment=(Assignment(name, each),))
        )
        for each in ("L['x']:0", "L['y']:0")
    )
    cause = finding(1, above, kind="recompile")
    follower = replace(finding(2, behind, kind="recompile"), because_of=cause.identity)
    (action,) = actions(cause, follower)
    assert action.remedy is not None and action.remedy.change is not None
    assert action.remedy.change.environment == (Assignment(name, "L['x']:0,L['y']:0"),)


def test_fix_gets_the_remedy_of_the_action_first_but_an_edit_as_it_is_for_the_line() -> None:
    own = replace(KEEP, text="this line", change=Change(edit="branch to where"))
    elsewhere = replace(own, text="another line")
    found = finding(1, KEEP, own)
    assert _with_first(SETTING, found).remedies == (SETTING, KEEP, own)
    assert _with_first(elsewhere, found).remedies == (own, KEEP)
    assert _with_first(None, found) is found


def test_what_was_tried_says_what_came_of_it() -> None:
    assert actions(finding(1, SETTING))[0].tried is None
    gone = replace(SETTING, tried="gone")
    assert actions(finding(1, gone))[0].tried == "gone"
    assert actions(finding(1, gone, replace(KEEP, tried="still there")))[0].tried == "gone"
    assert (
        actions(finding(1, gone), finding(2, replace(SETTING, tried="still there")))[0].tried == "still there"
    )


@pytest.mark.parametrize("kind", ["never pays back", "cold start", "caches off", "eager optimizer"])
def test_what_is_true_of_any_short_run_is_context(kind: Kind) -> None:
    found = finding(1, COMMAND, saves=500.0, kind=kind)
    assert is_context(found, 510.0) and is_context(found, None), "too short, or how long is not known"
    assert is_context(found, 1100.0), "less than half of it"
    assert not is_context(found, 700.0), "most of a long run"
    assert is_context(replace(found, cost=Cost()), 700.0), "what it costs is not known"


def test_a_cause_in_the_program_is_no_context_but_what_is_right_as_it_is_is() -> None:
    assert not is_context(finding(1, KEEP), 5.0)
    assert is_context(finding(1, saves=0.0), 5.0) and not is_context(finding(1, KEEP, saves=0.0), 5.0)


def saved_by_one_action(recording: Recording, kind: Kind, each: Figure, outside: float) -> Figure:
    """What an action saves that cures two findings, each of which saves so much."""
    drafts = [
        Draft(
            kind,
            key=(name,),
            title=name,
            cause="",
            processes=tuple(recording.processes),
            cost=Cost(saves_at_most=each),
            shared_seconds=outside,
            remedies=(SETTING,),
        )
        for name in ("f", "g")
    ]
    case = Case(recording)
    case.found = of_identities(by_identity(drafts))
    case._drafts = by_identity(drafts)
    (action,) = case.actions
    assert case.cured_by(action) == case.findings
    return action.saves_at_most


def test_what_several_findings_share_is_saved_once() -> None:
    """Two frames run eager: either of them can save all the time outside of graphs, but not twice."""
    eager = Figure(4.0, "estimated")
    assert saved_by_one_action(of_one_process(), "fell back to eager", eager, 4.0) == eager


def test_seconds_that_two_breaks_of_one_line_share_count_once() -> None:
    """Breaks with no graph in between have one time together, and recompiles for their line are the same."""

    def a_break(name: str, seconds: float, *shares: Shared) -> Draft:
        cost = Cost(Figure(seconds + 1, "sampled"), saves_at_most=Figure(seconds, "estimated"))
        processes = tuple(of_one_process().processes)
        return Draft("graph break", (name,), name, "", processes, cost=cost, shares=shares)

    between, recompiles = (frozenset(each) for each in ("ab", "r"))
    both = [
        a_break(name, 3.5, Shared(between, 2.0, 2.0), Shared(recompiles, 1.0, 1.0)) for name in ("a", "b")
    ]
    assert saved_together(both) == Figure(2.0 + 1.0 + 2 * 0.5, "estimated")
    assert merged("graph-break-1", both).cost.lost == Figure(2.0 + 1.0 + 2 * 1.5, "sampled")
    alone = a_break("c", 3.5, Shared(frozenset("c"), 2.0, 2.0))
    assert saved_together([*both, alone]).seconds == 4.0 + 3.5
    assert saved_together([alone]).seconds == 3.5


def test_no_action_saves_more_than_its_processes_took() -> None:
    began = 1000 * S
    run = Run(exit_code=0, started_ns=began, ended_ns=began + 3 * S, launcher_pid=1)
    recording = of_one_process(
        run,
        timeline=Timeline(
            armed_ns=began, torch_began_ns=began + S, torch_ended_ns=began + 2 * S, ready_ns=began + 2 * S
        ),
        info=ProcessInfo(pid=2, ppid=1, began_ns=began),
        end=ProcessEnd(ended_ns=began + 3 * S),
    )
    measured = Figure(2.0, "measured")
    assert saved_by_one_action(recording, "recompile", measured, 0.0) == Figure(3.0, "measured")
    assert saved_by_one_action(of_one_process(), "recompile", measured, 0.0) == Figure(4.0, "measured")


def test_what_else_breaks_a_line_that_is_moved_out_goes_with_it() -> None:
    first, second = (
        Remedy("edit", text, "dynamo breaks", Change(edit="call moved out")) for text in ("call it", "or so")
    )
    bare, moved, other = finding(7, saves=3.0), finding(7, first, saves=2.0), finding(7, second, saves=1.0)
    elsewhere = finding(8, saves=0.5)
    same = [replace(each, identity=f"break-{number}") for number, each in enumerate((bare, moved, other))]
    action, rest = actions(*same, elsewhere)
    assert action.remedy == first and action.cures == ("break-0", "break-1", "break-2")
    assert rest.remedy is None and rest.cures == (elsewhere.identity,)


@pytest.mark.parametrize(("words", "follows"), [("SymNodeVariable()", True), ("print", False)])
def test_a_break_on_a_number_that_another_break_made_dynamic_follows_from_it(
    words: str, follows: bool
) -> None:
    stream = Path("s.log")
    process = Process(stream)
    made = Draft("graph break", ("1",), "made", "", (process,), brings_about=frozenset([(stream, "1/1")]))
    met = Draft("graph break", ("2",), "met", "", (process,), evidence=Evidence(("1/1",), records=(words,)))
    first, second = of_identities(by_identity([made, met]))
    assert second.because_of == (first.identity if follows else None)


def test_in_a_function_what_has_no_remedy_comes_behind_what_has_one() -> None:
    bare, known = finding(7, saves=3.0), finding(8, KEEP, saves=1.0)
    elsewhere = replace(finding(9, saves=2.0), function="other")
    assert [each.cures[0] for each in actions(bare, elsewhere, known)] == [
        "graph break-9",
        "graph break-8",
        "graph break-7",
    ]
