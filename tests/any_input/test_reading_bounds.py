"""A recording may be made to be costly to read: what is too much is damage, and the rest is read."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_core.analysis.break_costs import BreakCost, costs_of
from dynamo_core.analysis.break_effects import distinct_breaks
from dynamo_core.analysis.recompile_causes import causes_of
from dynamo_core.analysis.recompiles import frames_recompiled, moment_of
from dynamo_core.model import (
    Bytecode,
    CallTimes,
    CompileId,
    Frame,
    Graph,
    GraphBreak,
    GuardCheck,
    GuardSet,
    Place,
    Process,
    RecompileReasons,
    Recording,
    ResumeFunction,
    StackFrame,
    Symbol,
)
from dynamo_core.model.graphs import CallSample
from dynamo_core.recording.breaks import parse_break_text, parse_user_stack
from dynamo_core.recording.guards import parse_guard_failure, parse_guard_tree
from dynamo_core.recording.training import parse_aot_graph
from dynamo_core.remedies.recompile_rules import recompile_advice
from dynamo_core.shared import names
from dynamo_core.shared.text import printable_json
from dynamo_reporters.page.blocks import Block, Bullets, Code, Paragraph, bounded, table
from support.every_record import HEADS, PAYLOADS, build, parse
from support.made import compiled
from support.trace_bytes import artifact, record

START = artifact(names.PROCESS_START, PAYLOADS[names.PROCESS_START])
HEAD = "V1120 19:08:30.938000 2350 torch/_dynamo/x.py:10] "


def seconds(function: Callable[[], object]) -> float:
    """The least of three, in the processor's time."""
    taken = []
    for _ in range(3):
        begun = time.process_time()
        function()
        taken.append(time.process_time() - begun)
    return min(taken)


@pytest.mark.parametrize(
    "parser", [parse_break_text, parse_user_stack, parse_guard_tree, parse_guard_failure, parse_aot_graph]
)
@pytest.mark.parametrize(
    "piece",
    [
        *(" ", "\n", "(HINT: ", "  # ", "'", "L['", "  Explanation: a\n", "  Hint: a\n", "| +- A: b\n"),
        *("Graph break in user code at a:1\n", '  File "a", line 1, in ', "tensor 'a' size mismatch ", "a: "),
        *("def forward(self, ", "return (", "+- GuardManager: source=a, type=", "\nUser stack trace:\n"),
    ],
)
def test_no_text_makes_a_parser_slow(parser: Callable[[str], object], piece: str) -> None:
    short, long = (piece * (size // len(piece)) for size in (5_000, 40_000))
    assert seconds(lambda: parser(long)) < max(0.02, 24 * seconds(lambda: parser(short)))


def test_json_of_many_values_and_what_is_no_number_is_refused() -> None:
    assert printable_json("[1, 2.5, {}]", most_values=10) == [1, 2.5, {}]
    for text in ("[" + "0," * 20 + "0]", "[NaN]", "[-Infinity]", "[1e999]"):
        with pytest.raises(ValueError):
            printable_json(text, most_values=10)


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b"a\n", b"\n\t", b"V1120 \n"])
def test_lines_that_are_no_records_cost_little_and_are_one_stretch(line: bytes) -> None:
    data = START + b"#\n" + line * 200_000 + b"\n" + START
    begun = time.process_time()
    records, parser = parse([data[i : i + 65_536] for i in range(0, len(data), 65_536)])
    assert time.process_time() - begun < 2
    assert (len(records), parser.damaged) == (2, 1)


@pytest.mark.parametrize("cut", range(60, len(START) - 5, 25))
def test_a_record_behind_one_that_was_cut_is_read(cut: int) -> None:
    """Wherever the first was cut, in its first line or in its payload."""
    other = record({"torch_version": {}}, json.dumps({"pytorch_version": "2.9.9"}))
    process = build(START[:cut] + other + START, frozenset())
    assert process.torch_version == "2.13.0"
    assert process.health.record_counts["torch_version"] == 1
    assert process.health.damaged_records + parse([START[:cut] + other + START])[1].damaged >= 1


def test_a_record_that_quotes_another_is_one() -> None:
    quoting = record({"str": [HEAD + '{"str": ["a", 1]}', 7]}) + artifact("a", HEAD + '{"str": ["a", 1]}')
    records, parser = parse([quoting + START])
    assert (len(records), parser.damaged) == (3, 0)
    assert records[0].metadata["str"][1] == 7


def test_the_first_damage_is_told() -> None:
    process = build(START + artifact(names.FRAME, [1]) + artifact(names.FRAME, "{"), frozenset())
    recording = Recording(Path("rec"), None, [process], None, [])
    assert process.health.damaged_records == 2
    assert any(
        "2 damaged records were skipped (the first: dynamo_frame: " in each for each in recording.problems
    )


def test_ids_that_are_no_numbers_are_damage() -> None:
    for wrong in (True, "0", -1, 0.5, [0]):
        process = build(
            record({"compilation_metrics": HEADS["compilation_metrics"], "frame_id": wrong}), frozenset()
        )
        assert (process.compiles, process.health.damaged_records) == ([], 1)


def _breaks(count: int, codes: int | None = None) -> Recording:
    """As many frames as that, each with a break, and each but the first resuming the one before.

    They are of so many `codes`, or of one each.
    """
    lines = [START]
    for frame in range(count):
        ids = {"frame_id": frame, "frame_compile_id": 0, "attempt": 0}
        number = frame % (codes or count)
        code = PAYLOADS[names.BYTECODE] | {"fingerprint": str(number)}
        rest = {"name": "r", "code_name": f"f{number}", "fingerprint": str(number + 1)}
        stack = [{"file": "/x.py", "line": number, "name": "f", "text": "print(x)"}]
        for name, payload in (
            (names.BYTECODE, code),
            (names.RESUME_FUNCTION, rest),
            (names.GRAPH_BREAK, {"reason": "print", "user_stack": stack}),
        ):
            text = (
                json.dumps(payload)
                if name != names.BYTECODE
                else f"{json.dumps(payload)[:-1]},\n" + '"x": []}'
            )
            lines.append(record({"artifact": {"name": name, "encoding": "json"}, **ids}, text))
    return Recording(Path("rec"), None, [build(b"".join(lines), frozenset())], None, [])


def test_many_breaks_take_linear_time() -> None:
    few, many = _breaks(300), _breaks(2_400)
    assert len(distinct_breaks(many)) == 2_400
    assert seconds(lambda: distinct_breaks(many)) < max(0.05, 24 * seconds(lambda: distinct_breaks(few)))


def test_breaks_of_code_that_was_compiled_often_take_linear_time() -> None:
    few, many = _breaks(300, codes=2), _breaks(2_400, codes=2)
    (_, last) = distinct_breaks(many)
    assert last.met == 1_200
    assert seconds(lambda: distinct_breaks(many)) < max(0.05, 24 * seconds(lambda: distinct_breaks(few)))


def _timed_breaks(count: int, codes: int) -> Recording:
    """Functions that break, each with a graph before it and the rest behind, and then in the rest again.

    They are versions of so many `codes`; nothing is in between the second break and the graph behind it.
    """
    process = Process(Path("s.log"), torch_version="2.13.0")
    for number in range(count):
        of_code = number % codes
        for part in range(3):
            compile_id = CompileId(3 * number + part, 0)
            code, place = f"{of_code}.{part}", Place("/x.py", 10 * of_code + part)
            process.bytecodes.append(Bytecode(compile_id, "f", "f", place, code, {}, (), ()))
            if part < 2:
                name = f"r{code}"
                behind = f"{of_code}.{part + 1}"
                process.resume_functions.append(ResumeFunction(name, name, behind, compile_id))
                line = StackFrame(place, "f", "print(x)")
                process.breaks.append(GraphBreak("print", (line,), compile_id))
            if part != 1:
                graph = Graph(len(process.graphs) + 1, compile_id, 0, None, "eager", 1, is_compiled=True)
                graph.calls_index, graph.calls = graph.number, 1
                sample = CallSample(1, number, 1e-6, 1e-3, graph.number - 1)
                graph.times = CallTimes(1, 1e-6, {}, (), (sample,) if part else (), None)
                process.graphs.append(graph)
    return Recording(Path("rec"), None, [process], None, [])


@pytest.mark.parametrize("few_codes", [True, False])
def test_what_many_breaks_cost_takes_linear_time(few_codes: bool) -> None:
    def costs_in(recording: Recording) -> list[BreakCost]:
        return costs_of(distinct_breaks(recording))

    few, many = (_timed_breaks(count, codes=2 if few_codes else count) for count in (150, 1_200))
    found = costs_in(many)
    assert sum(each.distinct.met for each in found) == 2_400
    second = next(each for each in found if each.distinct.first.stack[0].place.line == 1)
    assert second.seconds_each == pytest.approx(1e-3)
    assert seconds(lambda: costs_in(many)) < max(0.05, 24 * seconds(lambda: costs_in(few)))


def _recompiles(count: int) -> Recording:
    """As many frames as that, each compiled again, as a size differed."""
    place, process = Place("/x.py", 3), Process(Path("s.log"), torch_version="2.13.0")
    for number in range(count):
        again = CompileId(number, 1)
        process.compiles.append(replace(compiled(1, reason="size"), compile_id=again))
        failure = parse_guard_failure(
            f"{number}/0: tensor 'x' size mismatch at index 0. expected 2, actual 3"
        )
        process.recompile_reasons.append(RecompileReasons(again, (failure,)))
        checks = (GuardCheck("LAMBDA_GUARD", f"L['x{number}']", "2 <= L['x'].size()[0]", "", place, "f"),)
        process.recompiled_entries.append(GuardSet(CompileId(number, 0), checks=checks))
        called = StackFrame(place, f"caller{number}", "f(x)")
        process.frames.append(
            Frame(
                "f", place, "compiled", None, True, False, again, ended_ns=9, seconds=0.0, called_from=called
            )
        )
        process.graphs.append(Graph(number + 1, again, 0, None, "eager", 1))
        process.symbols.append(Symbol(again, "s0", "3", "L['x'].size()[0]", place, ()))
    return Recording(Path("rec"), None, [process], None, [])


def _what_is_said_of_them(recording: Recording) -> list[object]:
    said: list[object] = []
    for frame in frames_recompiled(recording.processes):
        (cause,) = causes_of(frame)
        (compile_,) = frame.compiles
        said += [recompile_advice(cause), frame.shown_name, frame.calls(compile_)]
        said += [moment_of(compile_.compile_id, frame.records, recording), cause.full_source]
        said += [cause.eager_caller, cause.is_whole_graph, cause.frame.records.trains, cause.is_of_dict]
    return said


def test_many_recompiles_take_linear_time() -> None:
    few, many = _recompiles(200), _recompiles(1_600)
    assert len(_what_is_said_of_them(many)) == 9 * 1_600
    short = seconds(lambda: _what_is_said_of_them(few))
    assert seconds(lambda: _what_is_said_of_them(many)) < max(0.05, 16 * short)


@pytest.mark.parametrize(
    ("block", "rest"),
    [
        (table("a", [["x"]] * 10_005), "… and 5 more"),
        (Bullets(["x"] * 10_005), "… and 5 more"),
        (Code("x" * 4_000_005), "… and 5 more characters"),
    ],
)
def test_what_is_too_much_for_a_page_is_cut_and_said(block: Block, rest: str) -> None:
    cut, told = bounded([block])
    assert cut != block
    assert isinstance(told, Paragraph) and told.text.startswith(rest)
