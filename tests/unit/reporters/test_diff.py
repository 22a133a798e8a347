"""`dynamo diff` as a page: each kind of difference in its words, made by hand."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.compare.counts import SAVED
from dynamo_core.compare.difference import (
    ArgumentChange,
    Compared,
    Condition,
    CountChange,
    Difference,
    FindingChange,
    GraphChange,
    GraphSide,
    GuardChange,
    KernelChange,
    OpChange,
    SavedChange,
    TensorChange,
    Time,
)
from dynamo_core.findings import Cost, Evidence, Finding, Remedy
from dynamo_core.model import Place, Recording, Run, StackFrame
from dynamo_reporters.diff import diff_blocks
from dynamo_reporters.diff_graphs import changes_in, sentence
from dynamo_reporters.page.console import plain_text
from support.made import of_one_process

FILE = "/home/me/model.py"
AT = Place(FILE, 4)
NOTHING = Difference("nothing differs", "Nothing differs", Compared(1, 0), (), (), (), (), (), (), (), (), ())
BREAK = Finding(
    *(
        "graph break",
        "graph-break-1",
        "graph break at model.py:4",
        "it prints",
        "",
        AT,
        "f",
        "print(x)",
        None,
    ),
    *(False, Cost(), Evidence(times=2), (), ()),
)
ADVICE = (Remedy("edit", "print it elsewhere", "dynamo breaks"), Remedy("edit", "or not", "dynamo breaks"))


def side(number: int, ops: int | None = 3, place: Place | None = AT) -> GraphSide:
    return GraphSide(number, "p", "0/0", "f", place, ops)


CHANGED = GraphChange("changed", "f", 1, (side(1),), (side(2),))
GUARD = GuardChange("f", "EQUALS_MATCH", "L['n']", "equals 3", 1, AT, "y = x + n")


def lines(difference: Difference) -> list[str]:
    """The page without what stands at the top of each."""
    before, after = of_one_process(), of_one_process(torch_version="2.15.0")
    shown = [line for line in plain_text(diff_blocks(difference, before, after)).splitlines() if line.strip()]
    return shown[3:]


def test_the_page_begins_with_the_verdict_and_what_was_compared() -> None:
    before = replace(of_one_process(Run(program="train")), path=Path("old"))
    page = plain_text(diff_blocks(NOTHING, before, of_one_process(torch_version="2.15.0")))
    assert page.splitlines() == [
        "Nothing differs",
        "before: old, train, torch 2.13.0",
        "after:  rec, torch 2.15.0",
    ]
    foreign = Recording(Path("trace"), None, [], None, [])
    assert "after:  trace\n" in plain_text(diff_blocks(NOTHING, before, foreign))


def test_a_finding_that_came_has_cause_effect_on_graphs_and_advice_and_one_that_went_no_advice() -> None:
    via = StackFrame(Place("/lib/x.py", 7), "g", "raise")
    came = replace(BREAK, remedies=ADVICE, via=via)
    went = replace(came, identity="graph-break-2", title="it prints, at model.py:9", source="")
    split = GraphChange("split", "f", 1, (side(1),), (side(1, 1), side(2, None)), because=BREAK.identity)
    assert lines(replace(NOTHING, came=(came,), went=(went,), graphs=(split,))) == [
        "Added",
        "  graph break at model.py:4",
        "    print(x)",
        "    it prints",
        "    in the library at /lib/x.py:7: raise",
        "    - graph 1 of f (3 ops) is split into graphs 1 and 2 of 1 and ? ops",
        "    → print it elsewhere",
        "Removed",
        "  it prints, at model.py:9",
        "    in the library at /lib/x.py:7: raise",
    ]


def test_what_one_remedy_cures_stands_together() -> None:
    remedy = replace(ADVICE[0], text="take `print(x)` out.")
    others = [
        replace(BREAK, identity=str(line), place=Place(FILE, line), remedies=(remedy,)) for line in (4, 5, 9)
    ]
    gone = GraphChange("went", "f", 1, (side(1),), (), because="9")
    assert lines(replace(NOTHING, came=tuple(others), graphs=(gone,))) == [
        "Added",
        f"  6 graph breaks at {FILE}:4-5, 9",
        f"    - 1 graph fewer of f at {FILE}:4 (3 ops)",
        "    → take `print(x)` out.",
    ]


def test_what_is_met_another_number_of_times_has_both_lines_where_they_differ() -> None:
    more = replace(BREAK, evidence=Evidence(times=5))
    edited = replace(more, source="print(y)", identity="graph-break-2")
    went = GraphChange("went", "f", 1, (side(1),), (), because="graph-break-2")
    found = replace(
        NOTHING, changed=(FindingChange(BREAK, more), FindingChange(BREAK, edited)), graphs=(went,)
    )
    assert lines(found) == [
        "Count changed",
        f"  graph break at {FILE}:4: 2 → 5 times",
        "    print(x)",
        "    it prints",
        f"  graph break at {FILE}:4: 2 → 5 times",
        "    before: print(x)",
        "    after: print(y)",
        "    it prints",
        f"    - 1 graph fewer of f at {FILE}:4 (3 ops)",
    ]


def test_what_another_torch_did_has_a_section_of_its_own() -> None:
    moved = replace(CHANGED, is_of_torch=True)
    own = replace(CHANGED, function="g", settings=("backend eager → inductor",))
    heading = "From another torch"
    note = "  In functions whose own lines are the same on both sides."
    assert lines(replace(NOTHING, graphs=(moved, own))) == [
        "Graphs",
        f"  graph 2 of g at {FILE}:4 (3 ops) changed",
        "    - backend eager → inductor",
        heading,
        note,
        "Graphs",
        f"  graph 2 of f at {FILE}:4 (3 ops) changed",
    ]
    guards = (GUARD, replace(GUARD, function="g", is_of_torch=True))
    assert lines(replace(NOTHING, guards=guards))[3:6] == [heading, note, "Guards"]
    found = replace(NOTHING, came=(BREAK,), went=(replace(BREAK, identity="2"),), of_torch=("2",))
    assert [line for line in lines(found) if not line.startswith("  ")] == ["Added", heading, "Removed"]
    assert heading not in lines(replace(NOTHING, graphs=(own,), guards=(GUARD,), came=(BREAK,)))


def test_guards_stand_by_function_with_what_they_demand_and_where() -> None:
    guards = (
        GUARD,
        replace(GUARD, count=-2, source="", place=None),
        replace(GUARD, function="", text="", count=3),
    )
    assert lines(replace(NOTHING, guards=guards)) == [
        "Guards",
        "  f",
        f"    - added: EQUALS_MATCH L['n']: equals 3 at {FILE}:4 `y = x + n`",
        "    - removed: 2 \u00d7 EQUALS_MATCH equals 3",
        "  no function",
        f"    - added: 3 \u00d7 EQUALS_MATCH L['n']: equals 3 at {FILE}:4",
    ]


def test_many_guards_of_a_function_are_told_by_type_and_the_first_with_a_line() -> None:
    many = [replace(GUARD, source=f"L['{name}']", text="") for name in "abcdefg"]
    eight = (*many, replace(GUARD, count=-1, type="TYPE_MATCH"))
    assert len(lines(replace(NOTHING, guards=eight))) == 2 + 8
    nine = (*eight, replace(GUARD, source="L['i']", count=2))
    assert lines(replace(NOTHING, guards=nine)) == [
        "Guards",
        "  f",
        f"    - added: 9 \u00d7 EQUALS_MATCH first L['i']: equals 3 at {FILE}:4 `y = x + n`",
        f"    - removed: TYPE_MATCH L['n']: equals 3 at {FILE}:4 `y = x + n`",
    ]


def test_counts_times_conditions_and_what_was_not_compared() -> None:
    counts = (
        CountChange("graphs", None, 1999, 2001),
        CountChange("ops", "f", 9, 4),
        CountChange("guards", "", 1, 2),
        CountChange(SAVED, None, 3 << 20, 1 << 20),
    )
    times = (
        Time("a step", 0.010, 0.020, (0.009, 0.011), (0.019, 0.021), "longer", "beyond the spread"),
        Time("compiling", 2.0, None, None, None, "not comparable", "not recorded"),
    )
    found = replace(
        NOTHING,
        counts=counts,
        times=times,
        conditions=(Condition("torch", "2.13.0", "2.15.0"),),
        not_compared=("the guards of g",),
    )
    assert [" ".join(line.split()) for line in lines(found)] == [
        "Counts",
        "before after",
        "graphs 1,999 2,001 +2",
        "ops of f 9 4 -5",
        "guards of no function 1 2 +1",
        "saved for the backward 3.0 MB 1.0 MB -2.0 MB",
        "Times",
        "before after",
        "a step 10 ms (9 ms to 11 ms) 20 ms (19 ms to 21 ms) beyond the spread",
        "compiling 2.00 s not recorded not recorded",
        "What the runs ran under",
        "before after",
        "torch 2.13.0 2.15.0",
        "Not compared",
        "- the guards of g",
    ]


def test_of_very_many_the_first_twenty_are_shown_and_the_rest_counted() -> None:
    came = tuple(replace(BREAK, identity=str(number), cause="") for number in range(22))
    graphs = tuple(replace(CHANGED, function=f"f{number}") for number in range(21))
    counts = tuple(CountChange(f"count {number}", None, 0, 1) for number in range(23))
    found = replace(NOTHING, came=came, graphs=graphs, counts=counts, not_compared=("one",) * 22)
    shown = lines(found)
    assert [line.strip() for line in shown if "more" in line] == [
        "… and 2 more findings; --format json has all",
        "… and 1 more change; --format json has all",
        "… and 3 more counts; --format json has all",
        "- … and 2 more; --format json has all",
    ]
    assert sum("graph break at" in line for line in shown) == 20
    assert "more" not in " ".join(
        lines(replace(found, came=came[:20], graphs=(), counts=(), not_compared=()))
    )


def test_sentences_say_which_graphs_and_how_many() -> None:
    came = GraphChange("came", "f", 2, (), (side(4, 1),))
    joined = GraphChange("joined", "f", 3, (side(1), side(2, 4), side(3, 5)), (side(1, 12),))
    assert sentence(came) == f"2 graphs more of f at {FILE}:4 (1 op each)"
    assert sentence(joined) == (
        "graphs 1, 2 and 3 of 3, 4 and 5 ops of f are one, graph 1 (12 ops), and so are 2 others"
    )
    assert sentence(replace(joined, times=2)).endswith(", and so is 1 other")
    assert sentence(replace(CHANGED, function="", times=4)) == "4 graphs changed alike, graph 2 first"
    less = replace(CHANGED, after=(side(2, 2, None),))
    assert sentence(less) == "graph 2 of f (3 → 2 ops) changed"
    op = OpChange("relu", 1, AT, "y = x.relu()")
    assert sentence(replace(CHANGED, ops=(op,))) == "graph 2 of f (3 ops) changed", "the lines are below"


def test_what_changed_in_a_graph_is_told_with_the_programs_lines() -> None:
    here, there = Place(FILE, 5), Place(FILE, 9)
    change = replace(
        CHANGED,
        ops=(
            OpChange("relu", 2, AT, "y = x.relu()"),
            OpChange("exp", -1, None, ""),
            OpChange("add", -2, here, "a + b"),
            OpChange("add", 2, there, "c + d"),
            OpChange("mul", 1, None, ""),
            OpChange("mul", -1, here, ""),
        ),
        tensors=(TensorChange("dtype", "float32", "bfloat16", 2, "x", AT, AT, "y = x.relu()"),),
        argument=ArgumentChange("softmax", "0", "1", here, here, "x.softmax(1)"),
        settings=("autocast: off → on",),
        kernels=KernelChange(2, 2, ("fused_add",), ()),
        saved=SavedChange(2 << 20, 1 << 20, (OpChange("exp", -1, AT, ""),)),
    )
    assert list(changes_in(change)) == [
        f"added: 2 \u00d7 relu at {FILE}:4 `y = x.relu()`",
        "removed: exp",
        f"moved: 2 \u00d7 add from {FILE}:5 to {FILE}:9 `c + d`",
        f"moved: mul from {FILE}:5",
        f"dtype float32 → bfloat16, first of x at {FILE}:4 `y = x.relu()`; 2 values in all",
        f"softmax at {FILE}:5 `x.softmax(1)` of 0 → 1",
        "autocast: off → on",
        "kernels that Inductor generated: 2; fused_add → none",
        f"saved for the backward: 2.0 MB → 1.0 MB; removed: exp at {FILE}:4",
    ]
