"""Reports are pure: from the model to text and JSON, with nothing a terminal would obey."""

import json
from pathlib import Path

from dynamo_core.analysis.summary import summarize
from dynamo_core.analysis.words import frame_name, number, seconds
from dynamo_core.case import Case
from dynamo_core.model import (
    BreakExplanation,
    Compile,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    Node,
    Place,
    Process,
    ProcessEnd,
    ProcessInfo,
    Recording,
    Run,
    Runtime,
    StackFrame,
    TensorInfo,
)
from dynamo_core.shared.text import printable, printable_values
from dynamo_reporters.explain.report import render_end_of_run, report
from dynamo_reporters.graphs.report import graph_blocks
from dynamo_reporters.page.blocks import bar
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.report import Detail, document

ID = CompileId(0, 0)
PLACE = Place("/home/user/train.py", 7)


def node(op: str, name: str, target: str) -> Node:
    return Node(op, name, target, "()", "{}", (), (TensorInfo((2, "s0"), (3, 1), "float32", "cpu"),))  # type: ignore[arg-type]


def graph() -> Graph:
    return Graph(
        number=1,
        compile_id=ID,
        attempt=0,
        name="__compiled_fn_1",
        backend="inductor",
        ops=1,
        nodes=(node("placeholder", "x", "L_x_"), node("call_function", "y", "torch.abs")),
        frame_name="forward",
        frame_place=PLACE,
        is_compiled=True,
        calls=4,
        host_seconds=2e-6,
    )


def recording(**run: object) -> Recording:
    explanation = BreakExplanation(
        PLACE, "Data-dependent branching", "Detected it.", ("Use cond.",), "GB0170"
    )
    process = Process(
        Path("stream.log"),
        info=ProcessInfo(pid=1, torch="2.13.0"),
        runtime=Runtime(end=ProcessEnd()),
        torch_version="2.13.0",
        frames=[
            Frame("forward", PLACE, "compiled", None, True, False, ID),
            Frame("bad", PLACE, "failed", "no way\nmore", False, False, None),
        ],
        graphs=[graph()],
        breaks=[GraphBreak("generic_jump", (StackFrame(PLACE, "forward", "if x:"),), ID, explanation)] * 3,
        compiles=[Compile(ID, "forward", PLACE, 1.5, True, 9, 1, None, None, None, {"dynamo": 1.5}, 1, 2)],
    )
    described = {"command": ["python", "train.py"], "started_ns": 0, "ended_ns": 2_000_000_000, **run}
    return Recording(Path("rec"), Run.of({"exit_code": 0, "signal": None, **described}), [process], 1, [])


def test_summary_counts() -> None:
    summary = summarize(recording())
    assert (summary.frames, summary.frames_compiled, summary.frames_fell_back) == (2, 1, 1)
    assert (summary.graphs, summary.ops, summary.graph_calls) == (1, 1, 4)
    assert (summary.graph_breaks, summary.distinct_graph_breaks) == (3, 1)
    assert (summary.guards, summary.compile_time_s, summary.exit_code) == (9, 1.5, 0)


def test_what_was_not_recorded_is_none_and_said_so() -> None:
    foreign = Recording(Path("trace"), None, [Process(Path("trace"))], None, [])
    summary = summarize(foreign)
    assert summary.graph_breaks is None
    assert summary.frames is None
    assert summary.graph_calls is None
    assert "graph breaks: not recorded" in plain_text(report(show_all=True).page(Case(foreign)))


def test_a_failed_probe_takes_its_count_with_it() -> None:
    broken = recording()
    broken.processes[0].health.failed_probes["graph breaks"] = "AttributeError: gone"
    assert summarize(broken).graph_breaks is None
    assert "no graph breaks (AttributeError: gone)" in plain_text(report(show_all=True).page(Case(broken)))


def test_graph_table_is_one_line_with_less_and_has_targets_else() -> None:
    assert "torch.abs" in plain_text(graph_blocks(graph(), Detail.NORMAL))
    assert len(plain_text(graph_blocks(graph(), Detail.LESS)).strip().splitlines()) == 1


def test_end_of_run_names_breaks_fallbacks_ending_and_next_command() -> None:
    lines = "\n".join(render_end_of_run(Case(recording()), is_newest=True))
    assert "1. bad at /home/user/train.py:7 runs eager: no way\n" in lines
    assert "2. graph break at /home/user/train.py:7 Data-dependent branching (GB0170) (3 times)\n" in lines
    assert "exit code 0 after 2.00 s" in lines
    assert lines.endswith("next: dynamo explain")


def test_a_killed_run_says_so() -> None:
    lines = "\n".join(render_end_of_run(Case(recording(signal=9, exit_code=None)), is_newest=False))
    assert "killed by SIGKILL" in lines
    assert lines.endswith("next: dynamo explain rec")


def test_a_recording_that_lost_records_is_partial() -> None:
    whole = recording()
    assert not whole.is_partial
    whole.processes[0].health.lost_records = 1
    assert whole.is_partial


def test_document_is_json_and_versioned() -> None:
    told = json.loads(json.dumps(document(report(), Case(recording()))))
    assert (told["schema"], told["version"]) == ("dynamo-explain", 1)
    assert told["processes"][0]["graph_breaks"][0]["registry_id"] == "GB0170"


def test_control_characters_never_reach_the_terminal() -> None:
    assert printable("a\x1b[31mb\x07\r\u202e") == "a\\x1b[31mb\\x07\\x0d\\x202e"
    evil = {"a\x1b": ["x\x1b]0;title\x07", 3, None]}
    assert printable_values(evil) == {"a\\x1b": ["x\\x1b]0;title\\x07", 3, None]}


def test_words_and_units() -> None:
    assert [number(n, "graph") for n in (None, 1, 2)] == ["graphs: not recorded", "1 graph", "2 graphs"]
    assert [seconds(s) for s in (None, 2.5e-6, 0.012, 3.0, 1234.0)] == [
        "not recorded",
        "2.5 µs",
        "12 ms",
        "3.00 s",
        "1,234 s",
    ]
    assert frame_name("torch_dynamo_resume_in_forward_at_12") == "forward (resumed at line 12)"


def test_explain_says_what_to_fix_first_and_where() -> None:
    page = plain_text(report(show_all=True).page(Case(recording())))
    assert page.index("bad at /home/user/train.py:7 runs eager: no way") < page.index("graph break at")
    assert "hit 3 times while compiling, ran 4 times" in page
    assert "`torch.where(x, then, else)`" in page


def test_ranks_are_compared() -> None:
    ranks = recording()
    ranks.processes = [*recording().processes, *recording().processes]
    for rank, process in enumerate(ranks.processes):
        process.rank = rank
    page = plain_text(report(show_all=True).page(Case(ranks)))
    assert "The ranks agree in the number of: graphs, ops, breaks, recompiles, guards" in page
    assert "`dynamo ranks` compares their order, the graphs and the collectives in them" in page
    ranks.processes[1].graphs = []
    assert "The ranks differ in: graphs, ops." in plain_text(report(show_all=True).page(Case(ranks)))


def test_a_bar_is_as_long_as_its_share_and_never_lost() -> None:
    assert bar(1, 1, width=4) == "████"
    assert bar(1, 2, width=4) == "██"
    assert bar(1, 1000, width=4) == "▏"
    assert bar(0, 1) == ""
