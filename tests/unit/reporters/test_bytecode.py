"""What is told of bytecode: both sides, the source with who runs each line, and what goes on after breaks."""

from dataclasses import replace
from pathlib import Path

from dynamo_core.analysis.bytecode.resume_chain import Links, break_text, lines_text
from dynamo_core.analysis.bytecode.rewritten import prologue
from dynamo_core.case import Case
from dynamo_core.model import (
    Bytecode,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Node,
    Place,
    Process,
    ProcessInfo,
    Recording,
    ResumeFunction,
    Run,
    StackFrame,
)
from dynamo_reporters.bytecode.diff import align, changes, shortened
from dynamo_reporters.bytecode.document import annotated
from dynamo_reporters.bytecode.report import bytecode_blocks, report
from dynamo_reporters.page.blocks import Heading
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.report import Detail, document
from support.bytecode_by_hand import GRAPH, code

FILE = "/home/user/toy.py"
SOURCE = {
    1: "def toy(a, b):",
    2: "    x = a.abs()",
    3: "    if b.sum() < 0:",
    4: "        b = b * -1",
    5: "    return x * b",
}
RESUMED = "torch_dynamo_resume_in_toy_at_3"
ORIGINAL = """
    1 RESUME 0
    2 LOAD_FAST a
    2 LOAD_METHOD abs
    2 PRECALL 0
    2 CALL 0
    2 STORE_FAST x
    3 LOAD_FAST b
    3 LOAD_METHOD sum
    3 CALL 0
    3 LOAD_CONST 0
    3 COMPARE_OP <
    3 POP_JUMP_FORWARD_IF_FALSE ->16
    4 LOAD_FAST b
    4 LOAD_CONST -1
    4 BINARY_OP *
    4 STORE_FAST b
    5 LOAD_FAST x
    5 LOAD_FAST b
    5 BINARY_OP *
    5 RETURN_VALUE
"""
# As torch 2.13 makes it, but for the lists that a resume function's arguments are packed into.
MODIFIED = f"""
    1 RESUME 0
    1 LOAD_GLOBAL NULL + {GRAPH}
    1 LOAD_GLOBAL NULL + __import_torch_dot__dynamo_dot_utils
    1 LOAD_ATTR record_pregraph_bytecode_enter
    1 PRECALL 0
    1 CALL 0
    1 STORE_FAST tmp_2
    1 LOAD_FAST a
    1 LOAD_FAST b
    1 LOAD_GLOBAL NULL + __import_torch_dot__dynamo_dot_utils
    1 LOAD_ATTR record_pregraph_bytecode_exit
    1 LOAD_FAST tmp_2
    1 PRECALL 1
    1 CALL 1
    1 POP_TOP
    1 PRECALL 2
    1 CALL 2
    1 STORE_FAST graph_out_0
    1 LOAD_FAST graph_out_0
    1 LOAD_CONST 0
    1 BINARY_SUBSCR
    3 POP_JUMP_FORWARD_IF_FALSE ->28
    3 LOAD_GLOBAL NULL + __resume_at_24_2
    3 LOAD_FAST b
    3 LOAD_FAST graph_out_0
    3 PRECALL 2
    3 CALL 2
    3 RETURN_VALUE
    3 LOAD_GLOBAL NULL + __resume_at_32_3
    3 LOAD_FAST b
    3 LOAD_FAST graph_out_0
    3 PRECALL 2
    3 CALL 2
    3 RETURN_VALUE
"""
RESUME_ORIGINAL = """
    3 RESUME 0
    3 JUMP_FORWARD ->4
    2 LOAD_FAST a
    2 STORE_FAST x
    4 LOAD_FAST b
    4 LOAD_CONST -1
    4 BINARY_OP *
    5 RETURN_VALUE
"""
RESUME_MODIFIED = """
    3 RESUME 0
    3 LOAD_GLOBAL NULL + __compiled_fn_5
    3 LOAD_FAST b
    3 PRECALL 1
    3 CALL 1
    3 RETURN_VALUE
"""


def bytecode(original: str = ORIGINAL, modified: str = MODIFIED, **fields: object) -> Bytecode:
    values = {
        "compile_id": CompileId(0, 0),
        "name": "toy",
        "qualified_name": "toy",
        "place": Place(FILE, 1),
        "fingerprint": "f0",
        "source": SOURCE,
        "original": code(original),
        "modified": code(modified),
    }
    return Bytecode(**(values | fields))  # type: ignore[arg-type]


def resumed(frame: int, fingerprint: str, modified: str = RESUME_MODIFIED) -> Bytecode:
    return bytecode(
        RESUME_ORIGINAL,
        modified,
        compile_id=CompileId(frame, 0),
        name=RESUMED,
        qualified_name=RESUMED,
        place=Place(FILE, 3),
        fingerprint=fingerprint,
    )


def graph(number: int, frame: int, lines: list[int], name: str) -> Graph:
    nodes = [
        Node("call_function", f"n{line}", "torch.abs", "()", "{}", place=Place(FILE, line)) for line in lines
    ]
    nodes.append(Node("call_function", "inlined", "torch.sin", "()", "{}", place=Place("/lib/other.py", 70)))
    return Graph(number, CompileId(frame, 0), 0, name, "eager", len(nodes), tuple(nodes), is_compiled=True)


def process() -> Process:
    stack = (StackFrame(Place(FILE, 3), "toy", "if b.sum() < 0:"),)
    return Process(
        Path("stream.log"),
        info=ProcessInfo(pid=1),
        bytecodes=[bytecode(), resumed(1, "f1")],
        graphs=[graph(1, 0, [2, 3], GRAPH), graph(2, 1, [4, 5], "__compiled_fn_5")],
        breaks=[GraphBreak("Data-dependent branching", stack, CompileId(0, 0))],
        resume_functions=[
            ResumeFunction("__resume_at_24_2", RESUMED, "f1", CompileId(0, 0)),
            ResumeFunction("__resume_at_32_3", RESUMED, "f2", CompileId(0, 0)),
        ],
    )


def recording(*processes: Process) -> Recording:
    return Recording(Path("here"), Run(), list(processes), 1, [])


def test_a_call_of_a_graph_has_up_to_seven_arguments_written_out() -> None:
    seven, eight = (f"graph_1({', '.join('abcdefgh'[:count])})" for count in (7, 8))
    assert shortened(seven) == seven
    assert shortened(eight) == "graph_1(a, b, c, d, e, f, … 2 more)"


def test_what_dynamo_returns_and_marks_is_not_taken_for_the_programs_own() -> None:
    """Though it has the opcode, the argument and the line of an instruction of the program's."""
    original = "1 RESUME 0\n2 LOAD_FAST x\n2 RETURN_VALUE"
    modified = (
        f"1 RESUME 0\n2 LOAD_GLOBAL NULL + {GRAPH}\n2 CALL 0\n2 STORE_FAST y\n2 LOAD_FAST x\n2 RETURN_VALUE"
    )
    rows = align(bytecode(original, modified), is_whole=True)
    assert [(row.kind, row.original, row.modified) for row in rows if row.kind == "kept"] == [("kept", 0, 0)]


def test_calls_of_graphs_are_shortened_and_no_others() -> None:
    assert (
        shortened(f"out = graph_1({', '.join('abcdefghij')})") == "out = graph_1(a, b, c, d, e, f, … 4 more)"
    )
    assert shortened(f"f({', '.join('abcdefghij')})") == f"f({', '.join('abcdefghij')})"


def test_every_instruction_is_in_one_row_and_only_the_branch_is_kept() -> None:
    frame = bytecode()
    rows = align(frame, is_whole=True)
    assert [row.original for row in rows if row.original is not None] == list(range(len(frame.original)))
    assert [row.modified for row in rows if row.modified is not None] == list(range(len(frame.modified)))
    kept = [frame.original[row.original or 0].opcode for row in rows if row.kind == "kept"]
    assert kept == ["RESUME", "POP_JUMP_FORWARD_IF_FALSE"]


def test_an_inserted_run_that_does_one_thing_is_one_row_with_its_reason() -> None:
    rows = changes(bytecode(), {GRAPH: "graph_1 is graph 1 (5 ops)"}, {GRAPH: "graph_1"}, show_all=False)
    inserted = [row.text for row in rows if row.kind == "inserted"]
    assert inserted == [
        "graph_out_0 = graph_1(a, b)  # 14 instructions, some for the profiler",
        "# 3 instructions to prepare: if graph_out_0[0]:",
        "return __resume_at_24_2(b, graph_out_0)  # 5 instructions",
        "return __resume_at_32_3(b, graph_out_0)  # 5 instructions",
    ]
    notes = [row.text.strip() for row in rows if row.kind == "note"]
    assert "2      x = a.abs()" in notes
    assert "↑ graph_1 is graph 1 (5 ops)" in notes


def test_what_cannot_be_read_is_counted_and_its_calls_explained() -> None:
    unread = bytecode(modified=f"1 GET_ITER\n1 LOAD_GLOBAL NULL + {GRAPH}\n1 CALL 0\n1 RETURN_VALUE")
    rows = changes(unread, {GRAPH: "graph_1 is graph 1"}, {}, show_all=False)
    assert [(row.kind, row.text) for row in rows[-2:]] == [
        ("inserted", "…  # 4 instructions that could not be read as Python; see --all"),
        ("note", "      ↑ graph_1 is graph 1"),
    ]


def test_with_all_every_instruction_has_its_row() -> None:
    rows = changes(bytecode(), {}, {GRAPH: "graph_1"}, show_all=True)
    assert len([row for row in rows if row.kind == "inserted"]) == len(code(MODIFIED)) - 2
    assert len([row for row in rows if row.kind == "removed"]) == len(code(ORIGINAL)) - 2
    assert "RESUME" in next(row.text for row in rows if row.kind == "kept")
    of_resumed = changes(resumed(1, "f1"), {}, {}, show_all=True)
    assert len([row for row in of_resumed if row.kind == "removed"]) == len(code(RESUME_ORIGINAL))
    assert not any("led to the break" in row.text for row in (*rows, *of_resumed))


def test_what_a_resume_function_jumps_over_is_one_note() -> None:
    assert prologue(code(RESUME_ORIGINAL)) == range(4)
    notes = [row.text for row in changes(resumed(1, "f1"), {}, {}, show_all=False) if row.kind == "note"]
    assert notes[0].strip() == "4 instructions that led to the break, over what had run before: gone"


def test_a_loop_back_into_what_has_run_keeps_it() -> None:
    looped = "3 JUMP_FORWARD ->3\n2 LOAD_FAST a\n2 POP_TOP\n3 NOP\n3 JUMP_BACKWARD ->1"
    assert prologue(code(looped)) == range(1)


def test_a_chain_follows_fingerprints_and_tells_what_was_never_compiled() -> None:
    links = Links(process())
    [chain] = links.chains()
    first, second = chain.continuations
    assert (first.line, [step.bytecode.compile_id for step in first.compiled]) == (4, [CompileId(1, 0)])
    assert (second.line, second.compiled) == (5, ())
    assert "never compiled" in links.fate(second.function)


def test_a_resume_function_that_is_not_selected_is_not_called_uncompiled() -> None:
    part = process()
    part.bytecodes = part.bytecodes[:1]
    part.health.record_counts["dynamo_bytecode"] = 2
    assert Links(part).fate(part.resume_functions[0]) == "not compiled, or not among the frames shown here"


def test_a_resume_function_that_failed_says_why() -> None:
    part = process()
    part.resume_functions = [ResumeFunction("__resume_at_24_2", RESUMED, "f9", CompileId(0, 0))]
    part.frames = [Frame(RESUMED, Place(FILE, 3), "failed", "no way\nmore", False, False, None)]
    assert Links(part).fate(part.resume_functions[0]) == "Dynamo failed it, so it runs eager: no way"


def test_a_resume_function_that_resumes_itself_is_told_once() -> None:
    part = process()
    part.resume_functions.append(ResumeFunction("__resume_at_8_5", RESUMED, "f1", CompileId(1, 0)))
    [chain] = Links(part).chains()
    assert len(list(chain.all_steps())) == 2
    assert chain.continuations[0].compiled[0].continuations[0].compiled[0].is_repeated


def versions(count: int) -> Process:
    """A function and the resume function that it goes on in, each compiled so often."""
    ids = [(CompileId(0, version), CompileId(1, version)) for version in range(count)]
    return replace(
        process(),
        bytecodes=[
            each
            for begins, goes_on in ids
            for each in (bytecode(compile_id=begins), replace(resumed(1, "f1"), compile_id=goes_on))
        ],
        resume_functions=[ResumeFunction("__resume_at_24_2", RESUMED, "f1", begins) for begins, _ in ids],
    )


def test_few_compiles_of_a_resume_function_are_shown_at_each_version_that_goes_on_in_it() -> None:
    chains = Links(versions(16)).chains()
    assert [[len(each.compiled) for each in chain.continuations] for chain in chains] == [[16]] * 16


def test_many_compiles_of_a_resume_function_are_shown_once() -> None:
    """Each of them at each version would be a page that grows with the square of the versions."""
    chains = Links(versions(20)).chains()
    shown = [(len(each.compiled), each.shown_before) for chain in chains for each in chain.continuations]
    assert shown == [(20, 0)] + [(0, 20)] * 19
    assert sum(1 for chain in chains for _ in chain.all_steps()) == 20 + 20  # each compile is there


def test_what_is_not_shown_again_says_so() -> None:
    many = recording(versions(20))
    for view in ("listing", "source"):
        text = plain_text(report(view).page(Case(many)))
        assert text.count("its 20 compiles are shown above") == (19 if view == "listing" else 38)
        assert "never compiled" not in text
    frames = document(report(), Case(many))["frames"]
    continuations = [frame["chain"]["continuations"][0] for frame in frames if frame["chain"]]
    assert [each["compiles_shown_before"] for each in continuations] == [0] + [20] * 19


def test_a_graph_without_a_name_is_found_by_its_compile() -> None:
    part = process()
    part.graphs[0].name = None  # torch 2.8
    assert Links(part).graph_names[GRAPH] == "graph_1"


def test_the_source_says_who_runs_each_line() -> None:
    [chain] = Links(process()).chains()
    lines = {line.line: line for line in annotated(chain)}
    assert [lines[number].runner for number in SOURCE] == [
        "",
        "graph 1",
        "graph 1 + eager",
        "graph 2",
        "graph 2",
    ]
    assert lines[3].remarks == [
        "graph 1 computes the condition, the interpreter branches",
        "break [0/0] at line 3: Data-dependent branching",
    ]
    assert lines[4].remarks == ["__resume_at_24_2 takes over as [1/0]"]
    assert lines[5].remarks == ["__resume_at_32_3 takes over"]


def test_the_pages_hold_what_they_promise() -> None:
    whole = recording(process())
    source = plain_text(report("source").page(Case(whole)))
    assert "graph 1 + eager │    3      if b.sum() < 0:" in source
    assert "from /lib/other.py line 70" in source
    assert "if graph_out_0[0]:" in source
    diff = plain_text(report("diff").page(Case(whole)))
    assert "├ __resume_at_24_2 from line 4 [1/0] → graph 2 (3 ops, lines 4-5)" in diff
    assert "+ graph_out_0 = graph_1(a, b)" in diff
    assert "```diff" in to_markdown(report("diff").page(Case(whole)))
    assert "ORIGINAL BYTECODE" in plain_text(report().page(Case(whole)))


def test_a_frame_without_a_file_keeps_its_own_lines() -> None:
    part = process()
    part.bytecodes = [bytecode(source={}), resumed(1, "f1")]
    page = plain_text(report("source").page(Case(recording(part))))
    assert "graph 1 (3 ops, lines 2-3)" in page
    assert "the source lines of this frame were not recorded" in page


def test_a_plain_trace_says_that_it_has_no_bytecode() -> None:
    plain = recording(Process(Path("stream.log")))
    assert "this is a plain torch trace; `dynamo run` records it" in plain_text(
        report("diff").page(Case(plain))
    )
    assert document(report(), Case(plain))["is_recorded"] is False


def test_the_document_says_whether_all_of_it_could_be_read_as_python() -> None:
    part = process()
    part.bytecodes = [
        bytecode(),
        bytecode(modified="1 LOAD_FAST x\n1 STORE_FAST y\n1 GET_ITER\n1 RETURN_VALUE"),
    ]
    whole, cut = document(report(), Case(recording(part)))["frames"]
    assert (whole["is_python_whole"], cut["is_python_whole"]) == (True, False)
    assert "if graph_out_0[0]:" in whole["python"] and "y = x" in cut["python"]


def test_the_log_topic_has_three_details() -> None:
    [heading] = bytecode_blocks(bytecode(), Detail.LESS)
    assert isinstance(heading, Heading)
    assert heading.text.endswith(": 20 instructions became 34")
    assert "# " not in plain_text(bytecode_blocks(bytecode(), Detail.NORMAL))
    assert "    x = a.abs()" in plain_text(bytecode_blocks(bytecode(), Detail.MORE))


def test_lines_are_named_in_spans() -> None:
    assert lines_text([3]) == "line 3"
    assert lines_text([9, 7, 8, 12]) == "lines 7-9, 12"


def test_a_break_in_a_called_function_is_at_the_frames_own_line_and_names_where_it_is() -> None:
    own = StackFrame(Place(FILE, 3), "toy", "helper(x)")
    inner = StackFrame(Place("/home/user/helper.py", 9), "helper", "print(x)")
    assert break_text(GraphBreak("print", (own,), None)) == "line 3: print"
    called = GraphBreak("print", (own, inner), None)
    assert break_text(called) == "line 3, in helper (/home/user/helper.py:9): print"
    assert break_text(GraphBreak("print", (), None)) == "an unknown line: print"
