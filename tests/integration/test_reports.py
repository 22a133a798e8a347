"""Every report on recordings that this torch and this Python made just now, and on plain torch traces.

What each report says of stored recordings: tests/front_door.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordings import Recordings
from support.answering import Result
from support.schemas import validate
from support.torch_version import TORCH

Runner = Callable[..., Result]
REPORTS = ("explain", "graphs", "bytecode", "guards", "breaks", "recompiles", "ops", "profile")
KINDS = [("ours", "toy"), ("ours", "recompiling"), ("plain", "recompiling")]


def document(read: Runner, report: str, *arguments: str | Path) -> dict[str, Any]:
    result = read(report, *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    return told


@pytest.fixture
def run(forked: Runner) -> Runner:
    """Nothing here is about how a process starts."""
    return forked


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(("maker", "program"), KINDS, ids=["-".join(kind) for kind in KINDS])
def test_each_report_in_each_form(
    report: str, maker: str, program: str, read: Runner, recordings: Recordings
) -> None:
    path = getattr(recordings, maker)(program)
    told = document(read, report, path)
    assert told["schema"] == f"dynamo-{report}"
    validate(told)
    for form in ("text", "markdown"):
        result = read(report, path, "--format", form)
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        assert result.stdout.strip()
        assert "\x1b" not in result.stdout
        assert "None" not in result.stdout.splitlines()[0]


def records_of(trace: Path) -> list[tuple[str, dict[str, Any]]]:
    """An independent reading of a trace: each record's kind, or artifact name, and its metadata."""
    found = []
    for file in trace.iterdir():
        for line in file.read_text().splitlines():
            header = re.match(r"V\d{4} [^\]]*\] (\{.*)$", line)
            if header:
                metadata = json.loads(header[1])
                kind = next(iter(metadata))
                found.append((metadata["artifact"]["name"] if kind == "artifact" else kind, metadata))
    return found


def test_the_bytecode_of_this_python_is_explained(read: Runner, recordings: Recordings) -> None:
    toy = recordings.ours("toy")
    diff = read("bytecode", "--diff", toy).stdout
    assert "graph_out_0 = graph_1(a, b)  # " in diff
    assert "continues at line 9: b = b * -1" in diff
    assert "continues at line 10: return x * b" in diff
    assert "could not be read" not in diff
    source = read("bytecode", "--source", toy, "--frame", "toy_example").stdout
    assert "graph 1 computes the condition, the interpreter branches" in source
    frame, *resumed = document(read, "bytecode", toy)["frames"]
    assert [(part["is_resume_function"], part["is_python_whole"]) for part in resumed] == [(True, True)] * 2
    assert [graph["lines"] for graph in frame["graphs"]] == [[7, 8]]
    assert [function["line"] for function in frame["resume_functions"]] == [9, 10]
    for side in ("original", "modified"):
        indices = [change[side] for change in frame["changes"] if change[side] is not None]
        assert indices == list(range(len(frame[side])))


@pytest.mark.parametrize("program", ["recompiling", "twenty_breaks"])
def test_counts_of_a_plain_trace_are_what_its_records_say(
    program: str, read: Runner, recordings: Recordings
) -> None:
    trace = recordings.plain(program)
    records = records_of(trace)
    metrics = [metadata["compilation_metrics"] for kind, metadata in records if kind == "compilation_metrics"]
    told = document(read, "explain", trace)
    summary = told["summary"]
    kinds = [kind for kind, _ in records]
    assert summary["graphs"] == kinds.count("dynamo_output_graph")
    assert summary["ops"] == sum(each["graph_op_count"] or 0 for each in metrics)
    assert summary["guards"] == sum(each["guard_count"] or 0 for each in metrics)
    assert summary["recompiles"] == sum(each["recompile_reason"] is not None for each in metrics)
    breaks = kinds.count("dynamo_graph_break_reason")
    # Traces of 2.8 and 2.9 have no version, by which it is known that one without breaks would have them.
    assert summary["graph_breaks"] == (breaks if breaks or TORCH >= (2, 11) else None)
    assert summary["failed_compiles"] == sum(each["fail_type"] is not None for each in metrics)
    assert summary["compile_time_s"] == pytest.approx(sum(each["duration_us"] for each in metrics) / 1e6)
    assert sum(phase["seconds"] for phase in told["compile_phases"]) == pytest.approx(
        summary["compile_time_s"]
    )
    process = told["processes"][0]
    assert process["records"] == {kind: kinds.count(kind) for kind in set(kinds)}
    hits = sum(lookup["outcome"] == "hit" for lookup in process["cache_lookups"])
    assert hits == kinds.count("fx_graph_cache_hit") + kinds.count("aotautograd_cache_hit")
    assert (summary["frames"], summary["graph_calls"]) == (None, None)


def test_ours_and_the_plain_trace_of_one_program_agree(read: Runner, recordings: Recordings) -> None:
    ours = document(read, "explain", recordings.ours("recompiling"))["summary"]
    plain = document(read, "explain", recordings.plain("recompiling"))["summary"]
    for name in ("graphs", "ops", "recompiles", "guards"):
        assert ours[name] == plain[name], name
    breaks = ours["graph_breaks"]
    # Traces of 2.8 and 2.9 have no version, by which it is known that one without breaks would have them.
    assert plain["graph_breaks"] == (breaks if breaks or TORCH >= (2, 11) else None)


def test_a_program_can_be_the_target_of_a_report(run: Runner) -> None:
    program = (
        "import torch; torch.compile(lambda x: x.sin() + 1, backend='eager')(torch.ones(2)); print('mine')"
    )
    result = run("ops", "--format", "json", "-c", program)
    assert result.exit_code == 0, result.stderr
    assert [op["name"] for op in json.loads(result.stdout)["total"]] == ["Tensor.sin", "operator.add"]
    assert "mine" in result.stderr
