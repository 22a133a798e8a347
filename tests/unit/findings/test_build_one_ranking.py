"""One ranking: no library's line before the user's own, and every surface has the same order and words."""

import re
from dataclasses import replace
from html import unescape
from itertools import permutations

import pytest

from dynamo_core.case import Case
from dynamo_core.findings import KINDS, Cost, Evidence, Figure, Finding, Kind, find
from dynamo_core.findings.build import ranked, via_line
from dynamo_core.findings.finding import NOT_RECORDED
from dynamo_core.findings.kinds import SPECS
from dynamo_core.model import CompileId, Place, Recording, StackFrame
from dynamo_reporters.breaks import report as breaks_report
from dynamo_reporters.documents import json_value
from dynamo_reporters.explain.report import report as explain_report
from dynamo_reporters.html import page
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.parts.actions import action_lines, what_is_cured
from dynamo_reporters.profile.report import report as profile_report
from dynamo_reporters.recompiles import report as recompiles_report
from support.made import of_one_process
from support.made_findings import a_break, fallback, reasons, recompile

HERE = Place("/home/me/train.py", 7)
WRONG = (
    "wrong result",
    "compiler error",
    "error with compiled code",
    "hook not called",
    "ranks differ",
    "backend declined",
)


def finding(
    kind: Kind,
    seconds: float | None,
    place: Place | None = HERE,
    *,
    is_library: bool = False,
    title: str = "",
) -> Finding:
    figure = NOT_RECORDED if seconds is None else Figure(seconds, "measured")
    cost = Cost(saves_at_most=figure)
    return Finding(
        kind, kind, title, "", "", place, None, "", None, is_library, cost, Evidence(), (), ("s.log",)
    )


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WRONG])
def test_no_line_of_a_librarys_comes_before_one_of_the_users(kind: Kind) -> None:
    own = finding(kind, 0.0)
    edited = [each for each in KINDS if each not in WRONG and not SPECS[each].is_cured_by_option]
    library = [finding(each, 300.0, is_library=True) for each in edited]
    assert ranked([*library, own])[0] == own


def test_what_an_option_cures_is_the_users_to_change_wherever_it_stands() -> None:
    left, recompile = finding("left eager by dynamo run", 40.0, is_library=True), finding("recompile", 6.0)
    assert ranked([recompile, left]) == [left, recompile]


def test_of_breaks_on_one_line_what_torch_met_first_comes_first_whatever_the_clock_said() -> None:
    elsewhere = finding("graph break", 2.0, Place("/home/me/train.py", 9))
    met_first, dearest = finding("graph break", 1.0, title="met first"), finding("graph break", 3.0)
    assert ranked([elsewhere, met_first, dearest]) == [met_first, dearest, elsewhere]


def test_what_is_wrong_comes_first_whoevers_it_is() -> None:
    wrong = finding("compiler error", None, is_library=True)
    assert ranked([finding("graph break", 5.0), wrong])[0] == wrong


@pytest.mark.parametrize("seconds", [1e-3, None])
def test_what_was_compiled_again_once_comes_behind_a_break_in_every_call(seconds: float | None) -> None:
    met_once = finding("graph break", seconds)
    in_every_call = replace(met_once, evidence=Evidence(ran=300))
    once, often = finding("recompile", 5.0), replace(finding("recompile", 5.0), evidence=Evidence(times=7))
    assert ranked([once, in_every_call]) == [in_every_call, once]
    assert ranked([often, in_every_call])[0] == often
    assert ranked([met_once, once])[0] == once


def test_an_unrolled_loop_stands_by_what_compiling_it_took() -> None:
    loop, again, cold = finding("unrolled loop", 40.0), finding("recompile", 1.0), finding("cold start", 90.0)
    assert ranked([cold, again, loop]) == [loop, again, cold]


def test_what_is_of_the_run_and_of_no_line_comes_last() -> None:
    cold, library = finding("cold start", 60.0, None), finding("fell back to eager", 1e-3, is_library=True)
    assert ranked([cold, library]) == [library, cold]


def test_what_is_true_of_any_short_run_comes_behind_a_break_in_a_library() -> None:
    optimizer, library = finding("eager optimizer", None), finding("graph break", None, is_library=True)
    of_no_line = replace(optimizer, place=None)
    assert ranked([of_no_line, library]) == [library, of_no_line]


def in_order(*findings: Finding) -> list[str]:
    """Their titles, which do not depend on the order in which they were found."""
    (order,) = {tuple(each.title for each in ranked(some)) for some in permutations(findings)}
    return [*order]


def test_what_a_break_of_unknown_cost_leads_to_comes_below_it_and_above_what_is_worth_less() -> None:
    outside = finding("time outside of graphs", 100.0, None, title="outside")
    short, untimed = (
        finding("graph break", 1e-6, title="short"),
        finding("graph break", None, title="untimed"),
    )
    dear = finding("graph break", 50.0, Place("/home/me/train.py", 9), title="dear")
    assert in_order(outside, short, untimed) == ["untimed", "outside", "short"]
    assert in_order(outside, short, untimed, dear) == ["dear", "untimed", "outside", "short"]
    assert in_order(short, untimed) == ["short", "untimed"]
    assert in_order(outside, short) == ["outside", "short"]
    again = finding("recompile", None, title="recompile")
    assert in_order(outside, short, again) == ["outside", "short", "recompile"]


LIBRARY = "/usr/lib/python3/site-packages/lib/model.py"


def everything() -> Recording:
    """Breaks and frames that fell back and recompiles, of the user's and of a library's."""
    own, theirs = Place("/home/me/train.py", 3), Place(LIBRARY, 40)
    cheap, dear = recompile(1, 1.0), recompile(1, 9.0)
    dear = replace(dear, compile_id=CompileId(4, 1), name="g", place=theirs)
    limit = replace(
        recompile(2, 0.5, "recompile_limit reached"), compile_id=CompileId(5, 2), name="h", place=own
    )
    at_g, at_h = (replace(reasons(1), compile_id=each.compile_id) for each in (dear, limit))
    called = StackFrame(Place(LIBRARY, 12), "call", "self.forward(x)")
    through = replace(a_break(9, compile_id=2), stack=(*a_break(9).stack, called))
    return of_one_process(
        breaks=[
            a_break(5, LIBRARY, compile_id=3),
            a_break(5, LIBRARY, compile_id=7),
            through,
            a_break(compile_id=1),
            a_break(compile_id=6),
        ],
        frames=[
            fallback(file=LIBRARY, reason="an error was suppressed"),
            fallback(),
            replace(fallback(30, "recompile_limit reached"), compile_id=limit.compile_id),
            replace(fallback(40, a_break().reason), broke=a_break(compile_id=8), compile_id=CompileId(8, 0)),
        ],
        compiles=[dear, cheap, limit],
        recompile_reasons=[reasons(1), at_g, at_h],
    )


def test_titles_are_the_same_in_the_same_order_on_every_surface() -> None:
    known = everything()
    titles = [each.title for each in find(known)]
    assert len(titles) == 8 and sum(title.endswith(" (2 times)") for title in titles) == 1
    assert [each["title"] for each in json_value(explain_report().body(Case(known)))["findings"]] == titles
    full = explain_report(show_all=True)
    for shown in (
        plain_text(full.page(Case(known))),
        to_markdown(full.page(Case(known))).replace("\\", ""),
        plain_text(profile_report(show_all=True).page(Case(known))),
    ):
        in_full = shown[shown.index("Findings\n") :]
        at = [in_full.index(title) for title in titles]
        assert at == sorted(at)


def test_actions_are_the_same_in_the_same_order_on_every_surface() -> None:
    known = everything()
    actions = Case(known).actions
    assert [len(each.cures) for each in actions] == [1, 1, 3, 1, 1, 1]
    told = json_value(explain_report().body(Case(known)))["actions"]
    assert [(each["number"], tuple(each["cures"])) for each in told] == [
        (each.number, each.cures) for each in actions
    ]
    cured = [what_is_cured(each, Case(known).cured_by(each)) for each in actions]
    cards = re.findall(r'class="card".*?</h3><p>(.*?)</p>', html_of(known))
    assert cards == [each.replace("/home/me/", "").replace("lib/", "") for each in cured]
    for shown in (
        plain_text(explain_report().page(Case(known))),
        to_markdown(explain_report().page(Case(known))).replace("\\", ""),
        plain_text(explain_report(show_all=True).page(Case(known))),
        plain_text(profile_report().page(Case(known))),
        "\n".join(action_lines(Case(known), len(actions))),
    ):
        at = [shown.index(each) for each in cured if each in shown]
        assert at == sorted(at) and at


def html_of(known: Recording) -> str:
    """The first screen, as it is without JavaScript: links are to files by their names alone."""
    text = unescape(page(Case(known)).decode())
    return re.sub(r"</?(?:a|code)\b[^>]*>", "", text)


def test_where_it_is_in_a_library_is_said_in_the_same_words_on_every_surface() -> None:
    known = everything()
    (line,) = {via_line(each) for each in find(known) if each.via is not None}
    assert line == "in the library at lib/model.py:12: self.forward(x)"
    assert line in plain_text(explain_report(show_all=True).page(Case(known)))
    assert "in the library at model.py:12: self.forward(x)" in html_of(known)
    call = StackFrame(Place("/home/me/train.py", 3), "main", "model(x)")
    assert via_line(replace(find(known)[0], kind="recompile", via=call)).startswith("called from /home/me")
    assert via_line(replace(find(known)[0], kind="unrolled loop", via=call)).startswith("in the library at")


def test_the_pages_of_one_subject_have_the_order_of_the_findings() -> None:
    known = everything()
    broken = [each["place"]["line"] for each in json_value(breaks_report().body(Case(known)))["breaks"]]
    assert broken == [7, 5, 12]
    kinds = ("graph break", "fell back to eager")
    lines = [(each.via or each).place for each in find(known) if each.kind in kinds]
    assert [each.line for each in lines if each is not None and each.line in broken] == broken
    taken = json_value(profile_report().body(Case(known)))["breaks"]
    assert [each["place"]["line"] for each in taken] == broken
    frames = [each["name"] for each in json_value(recompiles_report().body(Case(known)))["frames"]]
    text = plain_text(recompiles_report().page(Case(known)))
    assert frames == ["f", "h", "g"]
    assert sorted(frames, key=lambda name: text.index(f"\n{name} (")) == frames


def test_the_page_of_breaks_lists_what_the_findings_do_and_counts_as_every_page() -> None:
    known = everything()
    text = plain_text(breaks_report().page(Case(known)))
    assert text.startswith(
        "5 graph breaks, 3 distinct, 4 frames fell back to eager (1 of them at the recompile limit)\n"
    )
    assert json_value(explain_report().body(Case(known)))["summary"]["frames_fell_back"] == 4
    listed = re.findall(r"^(\d\.) (\S+) ", text, re.MULTILINE)
    assert [rank for rank, _ in listed] == ["1.", "2.", "3.", "4.", "5."]
    # The frame that fell back where another one breaks is told with the break, and once.
    assert text.count("the whole frame runs eager (tokens)") == 1
    assert "Other frames that could not be compiled" in text
    assert re.search(
        r"\[5/2\] +tokens \(\S+train.py:30\) +runs eager +torch's recompile limit: `dynamo recompiles`", text
    )
    assert text.count(":30") == 1


def test_a_break_that_was_met_often_comes_before_a_recompile_also_where_nothing_else_is_known() -> None:
    met_often = replace(finding("graph break", None), evidence=Evidence(times=3))
    assert ranked([finding("recompile", 5.0), met_often])[0] == met_often


def test_what_was_compiled_again_but_once_stands_behind_what_runs_eager() -> None:
    once, eager = (
        replace(finding("recompile", 3.0), evidence=Evidence(times=1)),
        finding("fell back to eager", 0.4),
    )
    often = replace(once, evidence=Evidence(times=5))
    assert ranked([once, eager]) == [eager, once]
    assert ranked([often, eager]) == [often, eager]
