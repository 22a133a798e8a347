"""`dynamo breaks` as a page: the line of each break, what was skipped, what a plain trace tells of breaks."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.case import Case
from dynamo_core.findings import find
from dynamo_core.model import (
    BreakExplanation,
    Bytecode,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Place,
    Process,
    ProcessEnd,
    Recording,
    ResumeFunction,
    StackFrame,
)
from dynamo_reporters.breaks import break_blocks, report
from dynamo_reporters.page.blocks import Bullets, Code, Heading, Paragraph
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import Detail, document
from support.made import FIRST, compiled, of_one_process

AT = Place("/home/me/train.py", 7)
CALLER = StackFrame(Place("/home/me/main.py", 3), "main", "train(x)")
WHY = BreakExplanation(
    AT, "Data-dependent branching", "It cannot\n know.\n\nMore.", ("Use\n cond.",), "GB0170"
)
BREAK = GraphBreak("generic_jump", (CALLER, StackFrame(AT, "train", "  if x.sum() > 0:")), FIRST, WHY)


def shown(recording: Recording) -> list[str]:
    return [
        " ".join(line.split())
        for line in plain_text(report().page(Case(recording))).splitlines()
        if line.strip()
    ]


def code(graph_break: GraphBreak) -> Code:
    """The source that the page has of a break."""
    (found,) = (
        block
        for block in report().page(Case(of_one_process(breaks=[graph_break])))
        if isinstance(block, Code)
    )
    return found


def frame(name: str, outcome: str, reason: str | None = None, **more: Any) -> Frame:
    return Frame(name, AT, outcome, reason, False, False, None, **more)  # type: ignore[arg-type]


def test_the_line_that_broke_stands_among_its_neighbours_where_they_are_known() -> None:
    around = {7: "if x.sum() > 0:", 6: "x = x + 1", 8: "    x = -x"}
    found = code(replace(BREAK, around=around))
    assert (found.text, found.first_line, found.marked) == (
        "x = x + 1\nif x.sum() > 0:\n    x = -x",
        6,
        frozenset({7}),
    )
    alone = code(BREAK)
    assert (alone.text, alone.first_line, alone.marked) == ("if x.sum() > 0:", 7, frozenset())


def test_a_break_says_by_which_calls_it_was_reached() -> None:
    assert "Inlined: main (/home/me/main.py:3) → train (/home/me/train.py:7)" in shown(
        of_one_process(breaks=[BREAK])
    )
    direct = shown(of_one_process(breaks=[replace(BREAK, stack=BREAK.stack[1:])]))
    assert not any(line.startswith("Inlined") for line in direct)


def test_breaks_are_counted_and_those_of_one_line_are_one() -> None:
    again = replace(BREAK, compile_id=CompileId(0, 1))
    other = replace(BREAK, stack=(StackFrame(Place("/home/me/other.py", 9), "f", "print(x)"),))
    assert shown(of_one_process(breaks=[BREAK, again, other]))[0] == "3 graph breaks, 2 distinct"
    assert shown(of_one_process(breaks=[BREAK, other]))[0] == "2 graph breaks"
    fell = [frame("g", "failed", "generator"), frame("h", "raised", "error")]
    assert shown(of_one_process(breaks=[BREAK], frames=fell, end=ProcessEnd()))[0].startswith(
        "1 graph break, 1 frame fell back to eager"
    )


def test_skipped_frames_are_counted_by_reason_the_commonest_first() -> None:
    frames = [frame("a", "skipped"), frame("f", "compiled")]
    frames += [frame(f"g{number}", "skipped", "no tensors") for number in range(8)]
    frames += [frame("g0", "skipped", "no tensors")]
    lines = shown(of_one_process(frames=frames))
    at = lines.index("10 frames skipped")
    assert lines[at + 1 :] == [
        "frames reason functions",
        "9 no tensors g0, g1, g2, g3, g4, g5 and 2 more",
        "1 no reason recorded a",
    ]
    assert not any("skipped" in line for line in shown(of_one_process(frames=[frame("f", "compiled")])))


def test_the_document_has_frames_by_what_became_of_them() -> None:
    frames = [frame("a", "skipped", "no tensors"), frame("b", "failed", "no"), frame("c", "raised", "error")]
    told = document(report(), Case(of_one_process(frames=frames, end=ProcessEnd())))
    assert [[each["name"] for each in told[kind]] for kind in ("skipped", "fell_back", "raised")] == [
        ["a"],
        ["b"],
        ["c"],
    ]
    plain = document(report(), Case(Recording(Path("t"), None, [Process(Path("t"))], None, [])))
    assert [plain[kind] for kind in ("skipped", "fell_back", "raised")] == [None, None, None]


def test_the_counts_are_the_title_of_the_page() -> None:
    first, *_ = report().page(Case(of_one_process(breaks=[BREAK])))
    assert first == Heading("1 graph break", 1)
    first, *_ = report().page(Case(Recording(Path("t"), None, [Process(Path("t"))], None, [])))
    assert first == Heading("Graph breaks were not recorded.", 1)


NEXT = "torch_dynamo_resume_in_train_at_7"


def parted(*crossed: tuple[int | None, int | None], **known: Any) -> list[str]:
    """What is said of a break that lies between these graphs in the versions of a function.

    None is no graph there; what goes on behind is frame 1, whose graphs are numbered from 11.
    """
    graphs, frames, codes, breaks, made = [], [], [], [], []
    for at, (before, after) in enumerate(crossed):
        ids = CompileId(0, at), CompileId(1 + at, 0)
        breaks.append(replace(BREAK, stack=BREAK.stack[1:], compile_id=ids[0]))
        for compile_id, name, number in ((ids[0], "train", before), (ids[1], NEXT, after)):
            frames.append(Frame(name, AT, "compiled", None, number is not None, name == "train", compile_id))
            codes.append(Bytecode(compile_id, name, name, AT, f"{name} {at}", {7: "x"}, (), ()))
            if number is not None:
                graphs.append(
                    Graph(number, compile_id, 0, None, "eager", number, frame_name=name, is_compiled=True)
                )
        made.append(ResumeFunction(f"__resume_{at}", NEXT, f"{NEXT} {at}", ids[0]))
    fields = {"graphs": graphs, "frames": frames, "bytecodes": codes, "breaks": breaks}
    recording = of_one_process(resume_functions=made, **fields, **known)
    return [line for line in shown(recording) if re.match("between|.* (before|after) it", line.lower())]


def test_it_is_said_between_which_graphs_a_break_lies() -> None:
    assert parted((1, 2)) == ["Between graph 1 (1 op) and graph 2 (2 ops)."]
    assert parted((1, None)) == ["Graph 1 (1 op) before it, no graph after it."]
    assert parted((None, 2)) == ["No graph before it, graph 2 (2 ops) after it."]
    unknown = parted((None, 2), failed_probes={"bytecode": "no such function"})
    assert unknown == ["What was not recorded before it, graph 2 (2 ops) after it."]


def test_of_many_pairs_of_graphs_the_first_five_are_named() -> None:
    (five,) = parted(*((n, 10 + n) for n in range(1, 6)))
    assert five.count("between") == 4 and "more" not in five
    (seven,) = parted(*((n, 10 + n) for n in range(1, 8)))
    assert seven.endswith("between graph 5 (5 ops) and graph 15 (15 ops); and 2 more.")


def test_a_break_that_no_graph_lies_around_has_no_time_to_be_unknown() -> None:
    assert not any("The time outside of graphs" in line for line in shown(of_one_process(breaks=[BREAK])))


def test_a_plain_trace_tells_breaks_by_what_goes_on_after_them() -> None:
    failed = replace(compiled(1), fail_type="Unsupported", fail_reason="no way\nmore")
    resumed = replace(compiled(2), name="torch_dynamo_resume_in_f_at_12")
    plain = Recording(Path("t"), None, [Process(Path("t"), compiles=[failed, resumed, resumed])], None, [])
    lines = shown(plain)
    assert lines[0] == "Graph breaks were not recorded."
    assert lines.count("- f (resumed at line 12) (/home/me/train.py:3)") == 1
    assert lines[-1] == "[0/1] f (/home/me/train.py:3) Unsupported: no way"
    without = Recording(Path("t"), None, [Process(Path("t"), compiles=[compiled(0)])], None, [])
    assert not any("go on after" in line or "failed" in line for line in shown(without))
    assert "Compiles that failed" not in shown(of_one_process(compiles=[failed])), "its frame tells more"


@pytest.mark.parametrize(
    ("detail", "texts"),
    [
        (Detail.LESS, []),
        (Detail.NORMAL, ["if x.sum() > 0:", "It cannot know.", "hint: Use cond."]),
        (
            Detail.MORE,
            [
                "/home/me/main.py:3 in main",
                "train(x)",
                "/home/me/train.py:7 in train",
                "if x.sum() > 0:",
                "It cannot know.",
                "hint: Use cond.",
                "torch's reason: generic_jump",
            ],
        ),
    ],
)
def test_a_live_break_has_as_much_as_was_asked_for(detail: Detail, texts: list[str]) -> None:
    heading, *rest = break_blocks(BREAK, detail)
    assert isinstance(heading, Heading) and heading.text.startswith("graph break [0/0] /home/me/train.py:7")
    found = [
        text.strip()
        for block in rest
        for text in (block.items if isinstance(block, Bullets) else [block.text])  # type: ignore[union-attr]
        if isinstance(block, Bullets | Paragraph)
    ]
    assert [text for text in found if not text.startswith("http")] == texts
    assert len(break_blocks(replace(BREAK, explanation=None, stack=()), Detail.NORMAL)) == 1


def test_a_hint_that_is_the_advice_is_said_once() -> None:
    unknown = replace(BREAK, reason="other", explanation=replace(WHY, kind="Other"), stack=BREAK.stack[:1])
    assert [line for line in shown(of_one_process(breaks=[unknown])) if "Use cond." in line] == [
        "What to do: Use cond."
    ]


def test_a_frame_that_raised_at_torchs_limit_is_listed_with_those_that_could_not_be_compiled() -> None:
    reason = "FailOnRecompileLimitHit: recompile_limit reached"
    page = shown(of_one_process(frames=[frame("f", "raised", reason), frame("g", "failed", reason)]))
    assert "Other frames that could not be compiled" in page
    rows = [line.split("train.py:7) ")[1] for line in page if "train.py:7) " in line]
    assert rows == [
        "raised an error torch's recompile limit: `dynamo recompiles`",
        "runs eager torch's recompile limit: `dynamo recompiles`",
    ]


def test_a_long_error_of_a_backend_is_of_the_frame_and_shown_in_part() -> None:
    """Its stack is torch's: the line that called the frame is not to blame."""
    of_torch = StackFrame(
        Place("/v/lib/python3.11/site-packages/torch/_inductor/graph.py", 9), "run", "run()"
    )
    stopped = GraphBreak("InductorError", (of_torch,), FIRST, callers=(CALLER,))
    text = "\n".join(["InductorError: no", "x" * 400, *(f"line {n}" for n in range(98))])
    lines = shown(of_one_process(frames=[frame("f", "raised", text, stopped=stopped, called_from=CALLER)]))
    assert "f at /home/me/train.py:7 raised an error in the compiler: InductorError: no" in lines[1]
    assert "x" * 300 + "…" in lines
    assert "… and 70 more lines; `--format json` has all" in lines
    (found,) = list(find(of_one_process(frames=[frame("f", "raised", text, stopped=stopped)])))
    assert not any("torch.compiler.disable" in each.text for each in found.remedies)
