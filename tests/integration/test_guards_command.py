"""`dynamo guards` on recordings of ours and on plain traces, against torch's own counts and text."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from launching import ForkingPython
from support.answering import Result
from support.schemas import validate
from support.torch_version import TORCH

Runner = Callable[..., Result]
# torch/_dynamo/guards.py (install_guard), 2.8
NO_LINES_OF_CHECKS = pytest.mark.skipif(
    TORCH < (2, 9), reason="torch 2.8 writes no line behind a check, unless its own log of guards is on"
)

PROGRAM = """
import torch

SCALE = 3

@torch.compile(backend="eager")
def f(x, n):
    return x * n + SCALE

for n in (2, 3):
    f(torch.ones(4), n)
f(torch.ones(4, dtype=torch.float64), 3)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "scaled.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def recorded(program: Path, python: ForkingPython) -> Path:
    recording = program.with_name("recording")
    command = ("-m", "dynamo_cli", "run", "-q", "-o", recording, program)
    result = python.run(*command, cwd=program.parent)
    assert result.exit_code == 0, result.stderr
    return recording


def document(read: Runner, *arguments: str | Path) -> dict[str, Any]:
    result = read("guards", "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    validate(told)
    return told


def records(recording: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """What torch wrote: each record's head and payload."""
    (stream,) = recording.glob("dedicated_log_torch_trace_*.log")
    for text in re.split(r"^(?=V\d{4} )", stream.read_text(), flags=re.MULTILINE):
        head, _, payload = text.partition("\n")
        if "] {" in head:
            yield json.loads("{" + head.partition("] {")[2]), payload


def test_counts_and_latency_are_torch_s(read: Runner, recorded: Path) -> None:
    entries = document(read, recorded)["entries"]
    counts, latencies, leaves = [], [], []
    for head, payload in records(recorded):
        if "compilation_metrics" in head:
            counts.append(head["compilation_metrics"]["guard_count"])
        if "dynamo_cpp_guards_str" in head:
            latencies += [float(number) for number in re.findall(r"Guard latency = ([\d.]+) us", payload)]
            leaves.append(len(re.findall(r"^\t[| ]*\+- [A-Z_]+(?:: .*)?$", payload, re.MULTILINE)))
    assert len(entries) > 1
    assert [entry["guard_count"] for entry in entries] == counts
    assert [len(entry["guards"]) for entry in entries] == counts
    assert [entry["check_count"] for entry in entries] == leaves
    assert [entry["latency_us"] for entry in entries] == latencies


@NO_LINES_OF_CHECKS
def test_a_check_has_its_line_with_the_whole_path(read: Runner, recorded: Path, program: Path) -> None:
    first = document(read, recorded)["entries"][0]
    (found,) = [check for check in first["checks"] if check["type"] == "TENSOR_MATCH"]
    assert found["source"] == "L['x']"
    assert (found["user_code"], found["function"]) == ("return x * n + SCALE", "f")
    assert found["place"] == {"file": str(program.resolve()), "line": 8}
    assert found["tensor"]["sizes"] == [4]
    assert (found["tensor"]["dtype"], found["tensor"]["device"]) == ("float32", "cpu")


def test_what_tells_entries_apart(read: Runner, recorded: Path) -> None:
    told = document(read, recorded)
    demands = {
        difference["source"]: [demand for entry in difference["entries"] for demand in entry["demands"]]
        for difference in told["differences"]
    }
    assert {"float32", "float64"} <= set(demands["L['x']"])
    assert "equals 2" in demands["L['n']"]
    assert "G['SCALE']" not in demands
    page = read("guards", recorded).stdout
    assert "How they differ" in page
    assert "G['SCALE']" in page
    assert "equals 3" in page


def test_a_plain_trace_has_the_same_checks_and_no_guards(
    read: Runner, recorded: Path, tmp_path: Path
) -> None:
    ours = document(read, recorded)["entries"]
    (stream,) = recorded.glob("dedicated_log_torch_trace_*.log")
    plain = tmp_path / "plain.log"  # what torch wrote of it, without the records of our own
    text = re.split(r"^(?=V\d{4} )", stream.read_text(), flags=re.MULTILINE)
    plain.write_text("".join(record for record in text if " dynamo_core/capture:" not in record))
    foreign = document(read, plain)["entries"]
    assert {entry["guards"] for entry in foreign} == {None}
    for what in ("compile_id", "guard_count", "checks"):
        assert [entry[what] for entry in foreign] == [entry[what] for entry in ours]


def test_all_lists_what_is_otherwise_counted(read: Runner, recorded: Path) -> None:
    short = read("guards", recorded, "--compile-id", "0/0").stdout
    assert "Not listed without --all" in short
    assert "no default device is set" not in short
    whole = read("guards", recorded, "--compile-id", "0/0", "--all").stdout
    assert "Not listed" not in whole
    assert "no default device is set" in whole
    if TORCH >= (2, 9):  # the text of 2.8 does not say which global state is guarded
        assert "grad mode on" in whole
    assert "[0/1]" not in whole


@NO_LINES_OF_CHECKS
def test_live_output_has_the_lines(forked: Runner, program: Path) -> None:
    result = forked("run", program, env={"DYNAMO_LOGS": "++guards"})
    assert "guards [0/0]" in result.stderr
    assert "return x * n + SCALE" in result.stderr
