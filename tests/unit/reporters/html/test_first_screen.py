"""The first screen of the HTML page: counts, wall time, findings, and what makes the rest say less."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest

from dynamo_core.case import Case
from dynamo_core.findings import Cost, Evidence, Figure, Finding, Remedy
from dynamo_core.model import (
    Compiling,
    Graph,
    Node,
    Phase,
    Place,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    StackFrame,
    Timeline,
)
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_reporters.html.document import page
from dynamo_reporters.html.element import Part, sentence, to_html, within_bounds
from dynamo_reporters.html.first_screen import card, command, first_screen, ranks_in_short
from dynamo_reporters.html.links import Links, short_names
from support.made import FIRST, S, called, compiled, of_one_process
from support.page_reader import Page, Tag
from support.ranks_by_hand import collective, of, rank
from support.ranks_by_hand import graph as graph_of_a_rank

FILE = "/home/me/model.py"
AT = Place(FILE, 4)
BREAK = Finding(
    kind="graph break",
    identity="graph-break-1",
    title="graph break at [0/0]",
    cause="it prints, says `torch`",
    effect="2 graphs instead of 1",
    place=AT,
    function="f",
    source="print(x)",
    via=None,
    is_library=False,
    cost=Cost(lost=Figure(3.0, "measured"), saves_at_most=Figure(0.5, "estimated")),
    evidence=Evidence(compile_ids=("0/0",), graphs=(1, 2)),
    remedies=(),
    processes=("s.log",),
)
ENDED = Run(exit_code=0, started_ns=0, ended_ns=S)
GRAPH = Graph(1, FIRST, 0, None, "eager", 3, frame_name="f", frame_place=AT, is_compiled=True)


def links(recording: Recording) -> Links:
    return Links(recording.processes, {FILE: {4}})


def screen(recording: Recording, *findings: Finding) -> Page:
    case = Case(recording)
    case.found = list(findings)
    elements = first_screen(case, links(recording), None)
    return Page("".join(map(to_html, elements)))


def shown_card(finding: Finding, recording: Recording | None = None) -> Page:
    of = recording or of_one_process(graphs=[GRAPH], compiles=[compiled(0)])
    return Page(to_html(card(finding, of, links(of))))


def texts(tags: list[Tag]) -> list[str]:
    return [" ".join(tag.text.split()) for tag in tags]


def test_of_the_differences_between_ranks_the_first_is_shown_and_the_others_are_counted() -> None:
    def shown(*sizes: int) -> str:
        case = Case(
            of(
                *(
                    rank(number, graph_of_a_rank(collective("all_reduce", size=size)))
                    for number, size in enumerate(sizes)
                )
            )
        )
        return "".join(map(to_html, ranks_in_short(case, links(case.recording))))

    assert shown(8, 8) == ""
    assert "The 1st collective of group 0 that was compiled is not the same" in shown(8, 16)
    assert "… and 1 more difference<" in shown(8, 16)  # of the graphs, which these make different


def test_each_count_leads_to_what_was_counted_and_bad_ones_are_marked() -> None:
    timed = replace(GRAPH)
    timed.times, timed.calls, timed.host_seconds = called([1, 2], 0.5), 2, 1.0
    read = screen(of_one_process(graphs=[timed], compiles=[compiled(0, 1.5), compiled(1, 0.5, "size")]))
    counts = {tag.attributes["data-name"]: tag for tag in read.tags if "data-name" in tag.attributes}
    values = {name: tag.attributes["data-value"] for name, tag in counts.items()}
    assert values.items() >= {
        ("graphs", "1"),
        ("ops", "3"),
        ("recompiles", "1"),
        ("graph_calls", "2"),
        ("graph_host_seconds", "1.0"),
        ("compile_time_s", "2.0"),
    }
    assert (counts["recompiles"].attributes["class"], counts["graph_breaks"].attributes["class"]) == (
        "count bad",
        "count",
    )
    assert counts["compile_time_s"].text == "2.00 s" and "frames_raised" not in counts
    targets = [tag.attributes["href"] for tag in read.tags if "href" in tag.attributes]
    assert {"#/graphs", "#/breaks", "#/time", "#/run"} <= set(targets)


def test_what_was_not_recorded_is_null_and_no_all_clear() -> None:
    plain = replace(of_one_process(None, info=ProcessInfo()), run=None)
    read = screen(plain)
    (calls,) = (tag for tag in read.tags if tag.attributes.get("data-name") == "graph_calls")
    assert (calls.text, calls.attributes["data-value"]) == ("not recorded", "null")
    (warning,) = (text for text in texts(read.all("p", class_="warning")) if "Nothing in the way" in text)
    assert re.search(r"Not recorded, so that nothing is known of it: .*calls of graphs", warning)
    whole = screen(of_one_process(ENDED, end=ProcessEnd()))
    assert [text for text in texts(whole.all("p", class_="dim")) if "Nothing in the way" in text] == [
        "Nothing in the way was found in what was recorded."
    ]


def test_a_partial_recording_says_so_first_and_what_was_going_on() -> None:
    killed = of_one_process(
        Run(signal=9, started_ns=0, ended_ns=9 * S), compiling=[Compiling(FIRST, "f", AT, 3 * S)]
    )
    read = screen(killed)
    assert texts(read.all("p", class_="warning"))[0].startswith("Partial. This recording is partial")
    assert "Not finished" in texts(read.all("h2"))
    assert any(text.startswith("compiling f at") for text in texts(read.all("li")))
    whole = screen(of_one_process(ENDED, end=ProcessEnd()))
    assert not any("Partial" in text for text in texts(whole.all("p")))


def test_the_wall_time_is_a_bar_of_its_parts() -> None:
    begin = 1000 * S
    timeline = Timeline(
        armed_ns=begin + S, torch_began_ns=begin + 2 * S, torch_ended_ns=begin + 5 * S, ready_ns=begin + 5 * S
    )
    run = Run(exit_code=0, started_ns=begin, ended_ns=begin + 10 * S, launcher_pid=1)
    ended = ProcessEnd(ended_ns=begin + 9 * S)
    read = screen(
        of_one_process(run, timeline=timeline, info=ProcessInfo(pid=2, ppid=1, began_ns=begin), end=ended)
    )
    (bar,) = read.all("svg", class_="bar")
    assert bar.attributes["aria-label"] == "Wall time, 10.00 s, in its parts"
    rects = [tag.attributes for tag in read.tags if tag.name == "rect" and "x" in tag.attributes]
    assert float(rects[0]["x"]) == 0
    for before, after in pairwise(rects):
        assert float(after["x"]) == pytest.approx(float(before["x"]) + float(before["width"]), abs=0.05)
    assert float(rects[-1]["x"]) + float(rects[-1]["width"]) == pytest.approx(1000, abs=0.1)
    imported = next(text for text in texts(read.all("li")) if text.startswith("importing torch"))
    assert imported.startswith("importing torch 3.00 s 30.0")
    assert "cut off" not in " ".join(texts(read.all("p")))
    phases = [Phase("dynamo", begin + 6 * S, begin + 7 * S, FIRST)]
    of_another = ProcessInfo(pid=2, ppid=7, began_ns=begin)
    killed = screen(of_one_process(run, timeline=timeline, info=of_another, phases=phases))
    assert any("or was cut off" in text for text in texts(killed.all("p", class_="warning")))
    unknown = screen(of_one_process(run))
    assert any("The wall time was not recorded" in text for text in texts(unknown.all("p")))


REMEDIES = (
    Remedy("edit", "use `torch.where`", "dynamo breaks", may_change="the sign", tried="gone"),
    Remedy("setting", "set it", "dynamo run --config a=1"),
)


def test_a_finding_is_a_card_with_all_that_is_known_of_it() -> None:
    via = StackFrame(Place("/lib/x.py", 7), "g", "raise")
    evidence = replace(BREAK.evidence, tests=("t.py::one",))
    read = shown_card(replace(BREAK, remedies=REMEDIES, via=via, evidence=evidence))
    (article,) = read.all("article")
    assert (article.attributes["id"], texts(read.all("h4"))) == (
        "/finding/graph-break-1",
        ["graph break at [0/0]"],
    )
    assert texts(read.all("p", class_="line")) == ["model.py:4 print(x)"]
    assert texts(read.all("dt")) == ["lost so far", "fixing saves at most"]
    assert texts(read.all("dd")) == ["3.00 s measured", "500 ms estimated"]
    assert texts(read.all("li")) == [
        "use torch.where It may also change: the sign (tried: gone)shown by dynamo breaks rec",
        "or set itshown by dynamo run --config a=1",
    ]
    said = texts(read.all("p"))
    assert {"it prints, says torch", "2 graphs instead of 1", "in t.py::one"} <= set(said)
    assert "in the library at /lib/x.py:7: raise" in said
    assert texts(read.all("p", class_="dim evidence")) == ["seen in [0/0], graph 1, graph 2"]
    targets = {tag.attributes["href"] for tag in read.tags if "href" in tag.attributes}
    assert targets == {"#/compile/0-0", "#/graph/1", "#/source/model.py/4"}, "graph 2 has no place here"


def test_a_card_says_nothing_of_what_is_not_known() -> None:
    bare = replace(BREAK, place=None, source="", cause="", effect="", cost=Cost(), evidence=Evidence())
    read = shown_card(bare)
    assert texts(read.all("p")) == ["What it costs was not recorded."]
    assert texts(shown_card(replace(bare, cause="at [0/0]")).all("p")) == ["What it costs was not recorded."]
    many = Evidence(compile_ids=tuple(f"{number}/0" for number in range(22)), graphs=tuple(range(21)))
    (seen,) = texts(shown_card(replace(bare, evidence=many)).all("p", class_="dim evidence"))
    assert seen.startswith("seen in [0/0], [1/0]") and seen.endswith("graph 19 and 3 more")


@pytest.mark.parametrize(("count", "rest"), [(8, None), (9, "1 more action"), (12, "4 more actions")])
def test_the_first_eight_actions_are_open(count: int, rest: str | None) -> None:
    read = screen(of_one_process(), *(replace(BREAK, identity=str(number)) for number in range(count)))
    assert len(read.all("article", class_="card")) == len(read.all("article", class_="finding")) == count
    summaries = texts(read.all("summary"))
    assert summaries.count("1 finding") == count
    assert [each for each in summaries if each != "1 finding"] == ([rest] if rest else [])
    assert "No findings" not in texts(read.all("h2"))


def test_an_action_is_a_card_with_its_findings_folded_inside() -> None:
    setting = Change(environment=(Assignment("A", "1"),))
    remedies = Remedy("environment", "set `A=1`, then it is gone", "dynamo breaks", setting), *REMEDIES
    met = [replace(BREAK, identity=f"break-{n}", place=Place(FILE, n), remedies=remedies) for n in (4, 5, 6)]
    cold = replace(BREAK, kind="cold start", identity="cold-1", title="nothing came from the caches")
    read = screen(of_one_process(), *met, cold)
    assert {"Do first", "Also"} <= set(texts(read.all("h2")))
    (action,) = read.all("article", class_="card")
    assert texts(read.all("h3"))[0] == "1 set A=1"
    assert "3 graph breaks at model.py:4-6" in action.text
    assert "or use torch.where" in action.text
    assert texts(read.all("summary"))[:2] == ["3 findings", "nothing came from the caches"]
    shown = [each.attributes["id"] for each in read.all("article", class_="finding")]
    assert shown == ["/finding/break-4", "/finding/break-5", "/finding/break-6", "/finding/cold-1"]


def test_a_command_is_on_this_recording_or_runs_its_program() -> None:
    run = Run(exit_code=0, command=["python", "a b.py"])
    recording = of_one_process(run)
    assert to_html(command("graphs --stage all", recording)).endswith(">dynamo graphs --stage all rec</code>")
    typed = Page(to_html(command("run --config a=1", recording))).tags[0].text
    assert typed == "dynamo run --config a=1 'a b.py'"


def test_of_many_problems_fifty_are_on_the_first_screen() -> None:
    noted = Run(exit_code=0, notes=[f"note {number}" for number in range(52)])
    read = screen(of_one_process(noted, end=ProcessEnd()))
    assert sum(text.startswith("note ") for text in texts(read.all("li"))) == 50
    assert any(
        text.startswith("… and 2 more; dynamo explain --format json rec") for text in texts(read.all("p"))
    )


def test_names_of_files_are_as_short_as_tells_them_apart() -> None:
    assert short_names(["/a/x.py", "/b/x.py", "/b/y.py"]) == {
        "/a/x.py": "a/x.py",
        "/b/x.py": "b/x.py",
        "/b/y.py": "y.py",
    }
    (long,) = short_names([f"/{'x' * 500}.py"]).values()
    assert re.fullmatch(r"x{120}…[0-9a-f]{12}", long)


def parts(*sizes: tuple[str, int]) -> list[Part]:
    return [Part("r", b"x" * size, kind) for kind, size in sizes]


def test_what_does_not_fit_is_left_out_by_whole_kinds_in_order() -> None:
    given = parts(
        ("bytecode", 500), ("output code", 900), ("", 100), ("output code", 50), ("nodes of graphs", 10)
    )
    assert within_bounds(given, 10_000) == (given, [])
    kept, (left,) = within_bounds(given, sum(part.size for part in given) - 1)
    assert [part.kind for part in kept] == ["bytecode", "", "nodes of graphs"]
    assert (left.kind, left.count, left.size) == ("output code", 2, given[1].size + given[3].size)
    assert left.command.startswith("graphs --stage output-code")
    rest, left_out = within_bounds(given, 0)
    assert [part.kind for part in rest] == [""], "that is never left out"
    assert [each.kind for each in left_out] == ["output code", "bytecode", "nodes of graphs"]
    assert sentence([replace(left, size=2_300_000)] * 2) == "4.6 MB did not fit into the page; in a terminal:"


def test_a_page_that_would_be_too_large_says_what_it_left_out_and_where_that_is() -> None:
    given = replace(GRAPH, nodes=(Node("call_function", "y", "torch.relu", "()", "{}", (), ()),))
    small, whole = (
        Page(page(Case(of_one_process(graphs=[given])), largest=largest).decode())
        for largest in (1, 25_000_000)
    )
    assert "Left out" in texts(small.all("h2")) and "Left out" not in texts(whole.all("h2"))
    assert any(
        text.startswith("nodes of graphs (1 parts, ") and text.endswith("dynamo graphs rec")
        for text in texts(small.all("li"))
    )
    assert set(small.blocks()) < set(whole.blocks())


def test_a_page_names_its_program_and_its_sections() -> None:
    run = Run(exit_code=0, program="train")
    read = Page(page(Case(of_one_process(run, graphs=[GRAPH]))).decode())
    assert texts(read.all("title")) == ["dynamo: train"]
    assert texts(Page(page(Case(of_one_process())).decode()).all("title")) == ["dynamo: rec"]
    (tabs,) = read.all("nav")
    assert tabs.text.startswith("Overview")
    for key in ("search", "a section", "close"):
        assert any(key in text for text in texts(read.all("td")))
