"""What `dynamo check` calls worse, better, the same, and not comparable."""

import sys
from dataclasses import replace
from pathlib import Path

from dynamo_core.compare.lock import Bounds, ProjectBounds, check
from dynamo_core.compare.lock_file import (
    Facts,
    facts_of_runs,
    lock_text,
    read_lock,
    write_lock,
)
from dynamo_core.findings import Cost, Evidence, Finding
from dynamo_core.findings.matching import KnownFinding

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BREAK = KnownFinding("graph-break-1", "graph break", "model.py", "forward", "if x.sum() > 0:", "branch")
COUNTS = {"graphs": 2, "graph-breaks": 1, "recompiles": 0, "frames-run-eager": 0}
FACTS = Facts(COUNTS, {BREAK.identity: BREAK})
FINDING = Finding(
    kind="graph break",
    identity=BREAK.identity,
    title="",
    cause="",
    effect="",
    place=None,
    function="forward",
    source=BREAK.line,
    via=None,
    is_library=False,
    cost=Cost(),
    evidence=Evidence(),
    remedies=(),
    processes=(),
)


def facts(*findings: KnownFinding, **counts: int | None) -> Facts:
    return Facts(
        {**COUNTS, **{name.replace("_", "-"): count for name, count in counts.items()}},
        {each.identity: each for each in findings},
    )


def said(now: Facts, locked: Facts | None = FACTS, bounds: Bounds | None = None) -> list[tuple[str, str]]:
    return [(each.direction, each.text) for each in check("p", now, locked, bounds).differences]


def test_the_same_facts_are_no_difference() -> None:
    checked = check("p", FACTS, FACTS, None)
    assert (checked.is_locked, checked.differences, checked.not_comparable) == (True, (), ())


def test_more_is_worse_and_less_is_better() -> None:
    assert said(facts(BREAK, graphs=3, recompiles=2)) == [
        ("worse", "graphs: 2 → 3"),
        ("worse", "recompiles: 0 → 2"),
    ]
    assert said(facts(graphs=1, graph_breaks=0)) == [
        ("better", "gone: graph break in model.py forward: if x.sum() > 0:"),
        ("better", "graphs: 2 → 1"),
        ("better", "graph-breaks: 1 → 0"),
    ]


def test_no_graph_at_all_is_worse_for_what_had_some() -> None:
    assert said(facts(BREAK, graphs=0)) == [("worse", "graphs: 2 → 0, nothing is compiled any more")]


def test_a_new_finding_is_worse_even_where_the_count_is_the_same() -> None:
    other = replace(BREAK, identity="graph-break-2", line="y = x.item()", function="head")
    assert said(facts(other)) == [
        ("worse", "new: graph break in model.py head: y = x.item()"),
        ("better", "gone: graph break in model.py forward: if x.sum() > 0:"),
    ]


def test_what_is_told_in_the_same_words_has_its_cause_with_it() -> None:
    was = replace(BREAK, identity="recompile-1", kind="recompile", cause="value kinds[0]")
    assert said(facts(replace(was, identity="recompile-2", cause="value kinds[1]")), facts(was)) == [
        ("worse", "new: recompile in model.py forward: if x.sum() > 0: (value kinds[1])"),
        ("better", "gone: recompile in model.py forward: if x.sum() > 0: (value kinds[0])"),
    ]


def test_no_two_new_findings_are_told_in_the_same_words() -> None:
    """They have their causes with them, or are numbered where these are the same."""
    same = [replace(BREAK, identity=f"graph-break-{n}", cause=cause) for n, cause in enumerate("aab", 2)]
    where = "graph break in model.py forward: if x.sum() > 0:"
    told = [f"{where} (a) (1 of 2 such lines)", f"{where} (a) (2 of 2 such lines)", f"{where} (b)"]
    assert said(facts(*same), facts()) == [("worse", f"new: {each}") for each in told]
    assert said(facts(*same), None, Bounds({"graph-breaks": 0}))[1:] == [("worse", each) for each in told]
    assert said(facts(*same[1:]), facts()) == [("worse", f"new: {where} (a)"), ("worse", f"new: {where} (b)")]
    varying = replace(facts(*same[1:]), varying={each.identity: "in 1 of 2 runs" for each in same})
    assert [text for _, text in said(varying, None)] == [
        f"in 1 of 2 runs: {where} (a)",
        f"in 1 of 2 runs: {where} (b)",
    ]


def test_renamed_functions_and_names_are_no_difference() -> None:
    assert said(facts(replace(BREAK, identity="graph-break-2", function="run", file="net.py"))) == []
    assert said(facts(replace(BREAK, identity="graph-break-2", line="if y.sum() > 0:"))) == []
    assert said(facts(replace(BREAK, identity="graph-break-2", line="if y.max() > 1:"))) == []
    assert said(facts(replace(BREAK, identity="graph-break-2", cause="print"))) != []


def test_findings_without_a_line_are_not_taken_for_the_same_line() -> None:
    was, now = (
        replace(BREAK, identity=f"graph-break-{name}", function=name, line="") for name in ("forward", "head")
    )
    assert said(facts(now), facts(was)) == [
        ("worse", "new: graph break in model.py head"),
        ("better", "gone: graph break in model.py forward"),
    ]


def test_what_was_not_recorded_is_not_compared() -> None:
    checked = check("p", facts(BREAK, graphs=None), FACTS, None)
    assert (checked.differences, checked.not_comparable) == ((), ("graphs",))
    bounded = check("p", facts(BREAK, graphs=None), None, Bounds({"graphs": 3}))
    assert (bounded.not_comparable, bounded.unbounded) == (("graphs",), ("graphs",))


def test_bounds_hold_without_a_lock_and_name_what_breaks_them() -> None:
    assert said(FACTS, None, Bounds({"graph-breaks": 1, "graphs": 2})) == []
    assert said(FACTS, None, Bounds({"graph-breaks": 0})) == [
        ("worse", "graph-breaks: 1, at most 0 allowed"),
        ("worse", "graph break in model.py forward: if x.sum() > 0:"),
    ]


def test_what_is_allowed_is_not_counted_and_not_new() -> None:
    allowed = frozenset({BREAK.identity})
    assert said(FACTS, None, Bounds({"graph-breaks": 0}, allowed)) == []
    assert said(FACTS, Facts({**COUNTS}), Bounds({}, allowed)) == []


def test_what_is_allowed_beside_a_lock_may_raise_its_counts_and_no_others() -> None:
    came = replace(BREAK, identity="graph-break-2", line="y = x.item()", function="head")
    bounds = Bounds({}, frozenset({came.identity}))
    assert said(facts(BREAK, came, graphs=4, graph_breaks=2), FACTS, bounds) == []
    assert said(facts(BREAK, came, graph_breaks=3, recompiles=1), FACTS, bounds) == [
        ("worse", "graph-breaks: 1 → 3"),
        ("worse", "recompiles: 0 → 1"),
    ]


def test_what_is_allowed_is_not_blamed_for_a_bound_that_others_break() -> None:
    other = replace(BREAK, identity="graph-break-2", line="y = x.item()")
    eager = replace(BREAK, identity="eager-1", kind="fell back to eager", line="yield x")
    again = replace(BREAK, identity="recompile-1", kind="recompile", line="f(x)")
    bounds = Bounds({"graph-breaks": 0}, frozenset({BREAK.identity}))
    assert said(facts(BREAK, other, eager, again, graph_breaks=3), None, bounds) == [
        ("worse", "graph-breaks: 2, at most 0 allowed"),
        ("worse", "graph break in model.py forward: y = x.item()"),
        ("worse", "fell back to eager in model.py forward: yield x"),
    ]


def test_bounds_of_a_project_hold_for_the_names_that_fit() -> None:
    by_pattern = {"a.py::*": Bounds({"graphs": 1}), "b.py::t[x]": Bounds({"recompiles": 0})}
    bounds = ProjectBounds(Bounds({"graphs": 9}), by_pattern)
    assert bounds.of("a.py::t[y]") == Bounds({"graphs": 1})
    assert bounds.of("b.py::t[x]") == Bounds({"graphs": 9, "recompiles": 0})
    assert bounds.of("b.py::t[y]") == Bounds({"graphs": 9})
    assert ProjectBounds(None, by_pattern).of("c.py") is None


def test_without_lock_and_bounds_there_is_nothing_to_compare() -> None:
    assert check("p", FACTS, None, None).is_locked is False
    assert check("p", FACTS, None, Bounds({}, frozenset({"x"}))).is_locked is False


def test_the_lock_file_has_a_line_for_each_fact_sorted() -> None:
    second = replace(BREAK, identity="graph-break-0", line='print("a\\b")')
    text = lock_text({"b.py": facts(BREAK, second, recompiles=None), "a.py": facts()})
    assert [line for line in text.splitlines() if line and not line.startswith("#")] == [
        "version = 1",
        '["a.py"]',
        "graphs = 2",
        "graph-breaks = 1",
        "recompiles = 0",
        "frames-run-eager = 0",
        '["b.py"]',
        "graphs = 2",
        "graph-breaks = 1",
        "frames-run-eager = 0",
        'findings.graph-break-0 = ["graph break", "model.py", "forward", "print(\\"a\\\\b\\")", "branch"]',
        'findings.graph-break-1 = ["graph break", "model.py", "forward", "if x.sum() > 0:", "branch"]',
    ]


def test_an_identity_that_somebody_wrote_by_hand_is_kept_as_toml() -> None:
    odd = replace(BREAK, identity='a "b".c')
    table = tomllib.loads(lock_text({"a.py": facts(odd)}))["a.py"]
    assert list(table["findings"]) == [odd.identity]


# Programs that differ from run to run


def found(times: int, known: KnownFinding = BREAK) -> dict[str, Finding]:
    return {known.identity: replace(FINDING, identity=known.identity, evidence=Evidence(times=times))}


OTHER = replace(BREAK, identity="graph-break-2", function="head", line="y = x.item()")


def test_what_differs_between_runs_is_said_with_where() -> None:
    """A finding in some runs, one that is met more often in some, and the counts of it."""
    once, twice = (facts(BREAK), found(1)), (facts(BREAK, graphs=3), found(2))
    now, findings = facts_of_runs([once, twice, (facts(BREAK, OTHER), {**found(1), **found(1, OTHER)})])
    assert now.counts == {**COUNTS, "graphs": 3}
    assert (set(findings), findings[BREAK.identity].evidence.times) == ({BREAK.identity, OTHER.identity}, 1)
    expected = [
        ("differs from run to run", "graphs: 2 to 3 in 3 runs"),
        (
            "differs from run to run",
            "1 to 2 times in 3 runs: graph break in model.py forward: if x.sum() > 0:",
        ),
        ("differs from run to run", "in 1 of 3 runs: graph break in model.py head: y = x.item()"),
    ]
    assert said(now) == expected == said(now, locked=None)
    allowed = Bounds({}, frozenset({BREAK.identity, OTHER.identity}))
    assert said(now, bounds=allowed) == expected[:1]
    assert said(replace(now, counts={**now.counts, "recompiles": 4}))[-1] == ("worse", "recompiles: 0 → 4")


def test_what_every_run_has_and_the_lock_file_has_not_is_new() -> None:
    """A break that each run meets is worse, however often each of them does."""
    once, twice = (facts(OTHER), found(1, OTHER)), (facts(OTHER, graphs=3), found(2, OTHER))
    now, _ = facts_of_runs([once, twice])
    assert ("worse", "new: graph break in model.py head: y = x.item()") in said(now)
    assert not [how for how, what in said(now) if how != "worse" and "model.py head" in what]
    assert said(now, bounds=Bounds({}, frozenset({OTHER.identity}))) == [
        ("differs from run to run", "graphs: 2 to 3 in 2 runs"),
        ("better", "gone: graph break in model.py forward: if x.sum() > 0:"),
    ]


def test_what_no_run_has_is_not_better_where_its_count_differs() -> None:
    """Chance may have kept it out of all of them; where another count differs, it is gone."""
    was = replace(BREAK, identity="recompile-1", kind="recompile", cause="value k")
    other = replace(was, identity="recompile-2", cause="dtype x", function="g")
    none: tuple[Facts, dict[str, Finding]] = (facts(), {})
    one = (facts(other, recompiles=1), found(1, other))
    where = "in none of these runs: recompile in model.py forward: if x.sum() > 0:"
    assert said(facts_of_runs([none, one])[0], facts(was, recompiles=1)) == [
        ("differs from run to run", "recompiles: 0 to 1 in 2 runs"),
        ("differs from run to run", "in 1 of 2 runs: recompile in model.py g: if x.sum() > 0:"),
        ("differs from run to run", where),
    ]
    breaks = (facts(BREAK, OTHER, graph_breaks=2), {**found(1), **found(1, OTHER)})
    now, _ = facts_of_runs([breaks, (facts(BREAK), found(1))])
    assert ("better", where.replace("in none of these runs", "gone")) in said(now, facts(BREAK, was))


def test_one_run_and_equal_runs_differ_in_nothing() -> None:
    for runs in (1, 3):
        assert facts_of_runs([(FACTS, found(2))] * runs) == (FACTS, found(2))


def test_a_count_that_one_run_did_not_record_is_not_known() -> None:
    now, _ = facts_of_runs([(FACTS, {}), (facts(BREAK, graphs=None), {})])
    assert (now.counts["graphs"], now.varying) == (None, {})


def test_what_the_lock_notes_to_differ_is_not_compared() -> None:
    """Nor are counts that include it, nor recompiles of that function; all else is."""
    locked = replace(facts(BREAK, OTHER), varying={OTHER.identity: "in 1 of 3 runs"})
    third = replace(OTHER, identity="graph-break-3", line="print(x)")
    recompile = replace(OTHER, identity="recompile-4", kind="recompile", line="z = y + 1")
    for now in (facts(BREAK), facts(BREAK, OTHER, recompile, graphs=9, graph_breaks=7)):
        checked = check("p", now, locked, None)
        assert (checked.differences, checked.noted) == ((), ("graphs", "graph-breaks", "model.py head"))
        told = ["new: recompile in model.py head: z = y + 1"] if recompile.identity in now.findings else []
        assert [each.text for each in checked.new_where_noted] == told, "its line is told, and fails nothing"
    assert said(facts(BREAK, OTHER, third), locked) == [
        ("worse", "new: graph break in model.py head: print(x)")
    ]
    elsewhere = replace(third, function="tail")
    assert said(facts(BREAK, elsewhere), locked) == [("worse", "new: graph break in model.py tail: print(x)")]
    moved = replace(OTHER, identity="graph-break-5", function="tail")  # it might have moved, or be new
    new = ("worse", f"new: graph break in model.py tail: {OTHER.line}")
    assert said(facts(BREAK, moved), locked) == [new]
    assert said(facts(BREAK, recompiles=1), locked) == [("worse", "recompiles: 0 → 1")]
    assert said(facts(BREAK, graphs=5), locked, Bounds({"graphs": 4})) == [
        ("worse", "graphs: 5, at most 4 allowed")
    ]


def test_the_lock_file_keeps_what_differs(tmp_path: Path) -> None:
    varying = {"recompiles": "0 to 1 in 3 runs", OTHER.identity: "in 1 of 3 runs"}
    write_lock(tmp_path / "dynamo.lock", {"p": replace(facts(BREAK, OTHER), varying=varying)})
    text = (tmp_path / "dynamo.lock").read_text()
    assert 'recompiles = "differs from run to run"\n' in text
    assert 'y = x.item()", "branch", "differs from run to run"]\n' in text
    read = read_lock(tmp_path / "dynamo.lock")["p"]
    assert (set(read.varying), read.counts["recompiles"]) == (set(varying), None)
    write_lock(tmp_path / "again.lock", {"p": read})
    assert (tmp_path / "again.lock").read_text() == text


def test_a_break_that_every_run_has_is_locked_though_another_count_of_it_differs() -> None:
    """A lock file says that it is there; that it is gone is better."""
    now, _ = facts_of_runs([(facts(BREAK), found(1)), (facts(BREAK, graphs=3), found(2))])
    assert now.certain_breaks == {BREAK.identity}
    noted = lock_text({"train.py": now})
    assert noted.count("differs from run to run") == 1 and 'graphs = "differs' in noted
    locked = replace(now, varying={"graphs": "differs from run to run"}, in_every_run=frozenset())
    assert said(now, locked=locked) == []
    gone = said(facts(**{"graph-breaks": 0}), locked=locked)
    assert ("better", "gone: graph break in model.py forward: if x.sum() > 0:") in gone
