"""The findings of a page: each with where, why, what it costs and what to do."""

from dataclasses import replace

from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.model import Place, StackFrame
from dynamo_core.remedies.rules import Change
from dynamo_reporters.page.blocks import Block, Heading, Paragraph
from dynamo_reporters.parts.sections import findings_section

BREAK = Finding(
    kind="graph break",
    identity="graph-break-1",
    title="graph break at a.py:3",
    cause="it prints",
    effect="2 graphs instead of 1",
    place=Place("a.py", 3),
    function="f",
    source="print(x)",
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(),
    remedies=(),
    processes=(),
)
EDIT = Remedy("edit", "print it elsewhere", "dynamo breaks")
SETTING = Remedy("setting", "set `a.b`", "dynamo recompiles", change=Change(edit="some edit"))
VIA = StackFrame(Place("/lib/x.py", 7), "g", "raise")


def section(*findings: Finding, can_run_again: bool = False) -> list[str]:
    return texts(findings_section(findings, can_run_again=can_run_again))


def texts(blocks: object) -> list[str]:
    made: list[Block] = list(blocks)  # type: ignore[call-overload]
    return [block.text for block in made if isinstance(block, Heading | Paragraph)]


def test_each_has_its_line_cause_effect_and_what_to_do() -> None:
    met = replace(BREAK, via=VIA, remedies=(EDIT, SETTING), evidence=Evidence(tests=("t.py::one",)))
    assert section(met) == [
        "Findings",
        "graph break at a.py:3",
        "print(x)\nit prints\n2 graphs instead of 1",
        "in the library at /lib/x.py:7: raise",
        "in t.py::one",
        "→ print it elsewhere",
        "→ or set `a.b`",
    ]


def test_nothing_is_said_of_what_is_not_known() -> None:
    assert section() == []
    bare = replace(BREAK, source="", cause="", effect="", title="much memory")
    assert section(bare) == ["Findings", "much memory"]
    assert section(replace(bare, effect="it costs 3 s"))[2:] == ["it costs 3 s"]
    assert section(replace(bare, cause="memory"))[2:] == [], "the title says it already"


def test_what_leads_into_a_library_is_said_as_what_it_is() -> None:
    recompile = replace(BREAK, kind="recompile", via=VIA)
    _, title, _, via = section(recompile)
    assert (title, via) == ("graph break at a.py:3", "called from /lib/x.py:7: raise")
    assert section(replace(recompile, kind="compiler error"))[-1] == "in the library at /lib/x.py:7: raise"


def test_the_first_eight_are_shown_and_the_rest_counted() -> None:
    many = [replace(BREAK, title=f"break {number}") for number in range(10)]
    assert section(*many)[-1] == "… and 2 more findings; --format json has all"
    assert section(*many[:9])[-1] == "… and 1 more finding; --format json has all"
    assert not any("more" in text for text in section(*many[:8]))


def test_fix_is_named_where_it_has_something_to_try_and_the_program_is_known() -> None:
    with_change, without = replace(BREAK, remedies=(EDIT, SETTING)), replace(BREAK, remedies=(EDIT,))
    assert section(without, with_change, can_run_again=True)[-1].startswith("`dynamo fix` runs the program")
    assert not section(without, can_run_again=True)[-1].startswith("`dynamo fix`")
    assert not section(without, with_change)[-1].startswith("`dynamo fix`")


def test_tests_are_named_as_far_as_there_is_room() -> None:
    tests = tuple(f"t.py::t{number}" for number in range(5))
    in_four, in_three = (replace(BREAK, evidence=Evidence(tests=tests[:count])) for count in (4, 3))
    assert section(in_four)[3] == "in t.py::t0, t.py::t1, t.py::t2 and 1 more test"
    assert section(in_three)[3] == "in t.py::t0, t.py::t1, t.py::t2"


def test_a_consequence_stands_below_its_cause_and_has_no_advice_of_its_own() -> None:
    follower = replace(
        BREAK, identity="recompile-1", title="f again", because_of=BREAK.identity, remedies=(EDIT,)
    )
    further = replace(follower, identity="recompile-2", title="and again", because_of="recompile-1")
    other = replace(BREAK, identity="graph-break-2", title="another")
    assert section(BREAK, follower, further, other)[3:] == [
        "because of this: f again",
        "because of this: and again",
        "another",
        "print(x)\nit prints\n2 graphs instead of 1",
    ]
