"""Give every reader of files damaged ones: what comes out is an answer or one line, and never a traceback.

    python tests/fuzz.py                           # 1,000 inputs for each reader
    python tests/fuzz.py --inputs 100000 lock suite

An input is a valid file with bytes, words or values of it replaced, moved, repeated or cut off. A reader may
answer or raise DynamoError. The seed of an input for which it does something else is printed with the error:
`--seed N --inputs 1 READER` makes that input again. The exit code is 1 then.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

import click

from dynamo_cli.main import dynamo
from dynamo_cli.program import ProgramCommand, options_with_value
from dynamo_cli.skill_command import with_block
from dynamo_core.bench.suite.file import read_suite
from dynamo_core.bench.suite.results import read_results
from dynamo_core.caches.store import look_through, store_of
from dynamo_core.capture.frames.program_files import cells_of_program
from dynamo_core.case import Case
from dynamo_core.compare.lock import bounds_of_project
from dynamo_core.compare.lock_file import facts_of, lock_text, read_lock
from dynamo_core.findings import CONTENTS
from dynamo_core.fix.known_trials import _read_trials
from dynamo_core.fix.proven import read_proven
from dynamo_core.launch.program import split_command_line
from dynamo_core.recording.bundle_file import unpacked
from dynamo_core.recording.calls import parse_calls, parse_stacks
from dynamo_core.recording.ranks import flight_recorder_dumps
from dynamo_core.recording.read import read
from dynamo_core.repro.trials import _read_state
from dynamo_core.shared import winners
from dynamo_core.shared.errors import DynamoError
from dynamo_core.shared.overrides import parse_override
from support.answering import answer
from support.stored import NAMES, stored

_WORDS = (
    *(b"", b"0", b"-1", b"1e308", b"NaN", b"null", b"true", b'"', b"'", b"[", b"]", b"{", b"}", b",", b":"),
    *(b"=", b"\n", b"\r\n", b"\t", b"\x00", b"\x1b[2J", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"../../"),
    *(b"[" * 5000, b'{"a":' * 3000, b"9" * 5000, b"[[x]]", b"# ", "\u202e".encode(), b"%s", b"{0}"),
)


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with one to five changes."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 5)):
        begin = chance.randrange(len(data) + 1)
        end = min(len(data), begin + chance.choice((0, 1, 1, 2, 5, 20, 100, 1000)))
        match chance.randrange(6):
            case 0:
                data[begin:end] = b""
            case 1:
                data[begin:end] = chance.choice(_WORDS)
            case 2:
                data[begin:end] = chance.randbytes(end - begin)
            case 3:
                data[begin:begin] = data[begin:end]
            case 4:
                elsewhere = chance.randrange(len(data) + 1)
                data[elsewhere:elsewhere] = data[begin:end]
            case _ if chance.random() < 0.1:
                del data[begin:]
    return bytes(data)


@dataclass(frozen=True)
class Reader:
    """Reads the file of this name in the current folder, whose valid content is one of these."""

    file: str
    valid: list[bytes]
    read: Callable[[], object]
    raises: type[Exception] = DynamoError


def _command(*arguments: str) -> Callable[[], None]:
    """A command of the tool: it may end with one line and an exit code of its own, not with Python's."""

    def run() -> None:
        result = answer(*arguments, cwd=Path.cwd())
        assert result.exit_code != 1, result.stderr
        assert "Traceback" not in result.stderr + result.stdout, result.stderr

    return run


def _lock() -> Reader:
    facts = {name: facts_of(read(stored(name))) for name in ("toy", "twenty_breaks", "recompiling")}
    return Reader("dynamo.lock", [lock_text(facts).encode()], lambda: read_lock(Path("dynamo.lock")))


def _recording() -> Reader:
    streams = [
        file
        for name in NAMES
        for file in stored(name).glob("dedicated_log_torch_trace_*.log")
        if file.stat().st_size < 400_000
    ]

    def findings() -> None:
        case = Case(read(Path("dedicated_log_torch_trace_0.log"), CONTENTS))
        assert case.findings is not None

    return Reader("dedicated_log_torch_trace_0.log", [file.read_bytes() for file in streams], findings)


_SUITE = b"""\
backends = ["eager", "aot_eager"]
repeat = 2
time-limit = 120
[check]
min-speedup = 1.0
[programs.one]
run = "one.py --steps 3"
needs = ["torch"]
cpus = 2
[programs.two]
run = ["-m", "two"]
backends = ["eager"]
"""
_PROJECT = b"""\
[project]
name = "x"
[tool.dynamo]
backend = "eager"
config = ["a.b=1"]
verify = "error"
budget = 1000
[tool.dynamo.check]
max-graph-breaks = 1
allow = ["graph-break-0123456789ab"]
[tool.dynamo.check.programs."train.py*"]
max-graphs = 3
"""


def _results() -> bytes:
    row = {"backend": "eager", "outcome": "passed", "problem": None, "speedup": 1.0, "rounds": [[0.1, 0.2]]}
    program = {"program": "one", "skipped": None, "rows": [row], "key": "k", "machine": None}
    return json.dumps({"schema": "dynamo-suite", "version": 1, "programs": [program]}).encode()


def _dump() -> bytes:
    entry = {
        "collective_seq_id": 1,
        "process_group": ["0", "default"],
        "profiling_name": "nccl:all_reduce",
        "input_sizes": [[3, 4]],
        "input_dtypes": ["Float"],
        "frames": [{"filename": "x.py", "line": 3, "name": "f"}],
        "state": "completed",
    }
    return json.dumps({"version": "2.5", "entries": [entry]}).encode()


def _bundle(folder: Path) -> bytes:
    file = folder / "bundle.zip"
    result = answer("bundle", stored("toy"), "-o", file)
    assert result.exit_code == 0, result.stderr
    return file.read_bytes()


def _read_bundle() -> None:
    with unpacked(Path("bundle.zip")) as folder:
        read(folder)


def _read_dumps() -> None:
    flight_recorder_dumps(Path())


def _look_through_cache() -> None:
    store_of(look_through(Path("torchinductor")), 30.0, time.time())


def _winners() -> bytes:
    measured = winners.Measurement("eager", winners.AGREES, None, 0.5, (winners.Round(0.1, None),))
    conditions = winners.Conditions("cpu, 1 thread", "2.13.0", "0f", ("2-3",))
    tuned = winners.Tuned("k", conditions, "eager", (measured,), "today", 3, "f (f.py:1)", ("f32[2]",))
    return winners._text([tuned]).encode()


def _input(valid: bytes | list[bytes], read: Callable[[bytes], object], *raises: type[Exception]) -> Reader:
    """A reader of the bytes, or of the text, of one file."""
    valid = valid if isinstance(valid, list) else [valid]
    return Reader("input", valid, lambda: read(Path("input").read_bytes()), *raises)


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _calls() -> list[bytes]:
    return [file.read_bytes() for name in NAMES for file in stored(name).glob("dynamo_calls_*.bin")]


_NOTEBOOK: dict[str, object] = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Text\n", "more"]},
        {"cell_type": "code", "metadata": {}, "source": ["import torch\n", "x = 1"], "outputs": []},
        {"cell_type": "code", "metadata": {}, "source": "x", "outputs": [], "execution_count": None},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def _read_notebook() -> None:
    """Its cells, of text, as the engine reads them in the program that IPython runs."""
    import nbformat  # noqa: F401  IPython has imported it by then

    with mock.patch.object(sys, "argv", ["input.ipynb"]):
        assert all(isinstance(cell, str) for cell in cells_of_program())


_CALLS = [
    ("run", {"program": ["small.py", "--steps", "3"], "timeout_s": 5}),
    ("fix", {"program": ["-m", "pytest", "-q", "tests/small.py::test_one"], "apply": None}),
    ("fix", {"apply": 1}),
    ("repro", {"program": ["-m", "small"], "of": "graph:1"}),
    ("explain", {"recording": ".dynamo/toy", "everything": True, "cursor": 40}),
    ("look", {"report": "graphs", "frame": "Model.forward", "cursor": 0}),
    ("diff", {"before": ".dynamo/toy", "after": "small.py"}),
]

_OPTIONS = {"-y", "-o", "--of", "--apply", "--budget", "--all", "--frame", "--json", "--verify=error"}


def _requests() -> list[bytes]:
    calls = [("tools/call", {"name": name, "arguments": arguments}) for name, arguments in _CALLS]
    requests = [*calls, ("resources/read", {"uri": "recording://toy"})]
    return [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}).encode()
        for method, parameters in requests
    ]


def _answer_request() -> Callable[[bytes], None]:
    """Answers a request up to the command that it would run, which must be one of this folder."""
    import anyio  # the packages of the extra `mcp`, without which the other readers do
    from mcp.server.mcpserver.exceptions import (
        ResourceError,
        ToolError,
        UnexpectedResourceError,
        UnexpectedToolError,
    )
    from mcp.shared.exceptions import MCPError
    from mcp.types import CallToolRequestParams, ReadResourceRequestParams, jsonrpc_message_adapter
    from pydantic import TypeAdapter, ValidationError

    from dynamo_cli import mcp_server

    for file in ("small.py", "tests/small.py", ".dynamo/toy/x.log"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    served = mcp_server.server(Path.cwd(), allow_edits=True)
    thread = ThreadPoolExecutor(1)  # in this one another loop may be open, as that of a browser

    async def refuse_outside(_: object, arguments: Sequence[str], *__: object) -> tuple[int, str, str]:
        command = dynamo.get_command(click.Context(dynamo), arguments[0])
        assert isinstance(command, ProgramCommand) or arguments[0] == "diff", arguments
        own, given = arguments[1:], None
        if isinstance(command, ProgramCommand):
            own, given = split_command_line(list(own), options_with_value(command))
        assert {each for each in own if each.startswith("-")} <= _OPTIONS, arguments
        for target in given.arguments[:1] if given else own:
            assert target == "-m" or Path(target).resolve().is_relative_to(Path.cwd()), arguments
        assert not any("\0" in os.fsdecode(os.fsencode(each)) for each in arguments), arguments
        return 0, "said\n" * 2000, ""

    def answer_one(data: bytes) -> None:
        try:
            request = jsonrpc_message_adapter.validate_json(data, by_name=False)
            parameters = getattr(request, "params", None) or {}
            asked = TypeAdapter(ReadResourceRequestParams | CallToolRequestParams).validate_python(parameters)
        except ValidationError:  # which the SDK answers
            return
        try:
            with mock.patch.object(mcp_server.Commands, "_finished", refuse_outside):
                if isinstance(asked, ReadResourceRequestParams):
                    uri = asked.uri
                    thread.submit(lambda: anyio.run(served.read_resource, uri)).result()
                else:
                    name, arguments = asked.name, asked.arguments or {}
                    thread.submit(lambda: anyio.run(served.call_tool, name, arguments)).result()
        except (UnexpectedToolError, UnexpectedResourceError) as error:
            raise error.__cause__ or error from None
        except (ToolError, ResourceError, MCPError):
            pass

    return answer_one


_STACKS = b'Thread 0x00007f (most recent call first):\n  File "/x/y.py", line 3 in f\n'
_STATE = ["0" * 64, {"ending": "exception", "type": "E", "message": "m", "seconds": 1.0}]
_TRIALS: dict[str, object] = {"mark": None, "trials": {"k": {"cured": []}}}
_PROVEN: dict[str, object] = {"mark": None, "program": None, "fixes": [], "patches": []}
_OVERRIDE = b"0/0-3:backend=aot_eager,mode=default,options.max_autotune=true"

# Every reader by name, made in a folder that is its own.
READERS: dict[str, Callable[[Path], Reader]] = {
    "lock": lambda folder: _lock(),
    "recording": lambda folder: _recording(),
    "suite": lambda folder: Reader("suite.toml", [_SUITE], lambda: read_suite(Path("suite.toml"))),
    "results": lambda folder: Reader(
        "results.json", [_results()], lambda: read_results(Path("results.json"))
    ),
    "bounds": lambda folder: Reader("pyproject.toml", [_PROJECT], lambda: bounds_of_project(Path.cwd())),
    "project": lambda folder: Reader("pyproject.toml", [_PROJECT], _command("ls", ".")),
    "winners": lambda folder: Reader(
        "winners.json", [_winners()], lambda: winners.read(Path("winners.json"))
    ),
    "skill": lambda folder: Reader(
        "AGENTS.md", [str(with_block("# Notes\n", "say")).encode()], _command("skill", "--install", "agents")
    ),
    "bundle": lambda folder: Reader("bundle.zip", [_bundle(folder)], _read_bundle),
    "dumps": lambda folder: Reader("nccl_trace_rank_0", [_dump()], _read_dumps),
    "calls": lambda folder: _input(_calls(), parse_calls),
    "stacks": lambda folder: _input(_STACKS, lambda data: parse_stacks(_text(data))),
    "repro": lambda folder: Reader(
        "trials.jsonl", [json.dumps(_STATE).encode()], lambda: _read_state(Path("trials.jsonl"))
    ),
    "trials": lambda folder: Reader(
        ".dynamo/fix-trials/trials.json", [json.dumps(_TRIALS).encode()], _read_trials
    ),
    "proven": lambda folder: Reader(
        ".dynamo/last-fix/fixes.json", [json.dumps(_PROVEN).encode()], read_proven
    ),
    "notebook": lambda folder: Reader("input.ipynb", [json.dumps(_NOTEBOOK).encode()], _read_notebook),
    "request": lambda folder: _input(_requests(), _answer_request()),
    "override": lambda folder: _input(_OVERRIDE, lambda data: parse_override(_text(data)), ValueError),
    "cache": lambda folder: Reader(
        "torchinductor/fxgraph/ab/fabc/entry", [b"\x80\x05."], _look_through_cache
    ),
}


def try_input(reader: Reader, seed: int) -> str | None:
    """Let a reader read one damaged file; the traceback where it raised what it may not."""
    chance = random.Random(seed)
    path = Path(reader.file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(damaged(chance.choice(reader.valid), chance))
    try:
        with suppress(DynamoError, reader.raises):
            reader.read()
    except Exception:
        return traceback.format_exc()
    return None


def main() -> int:
    """Try all readers that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("readers", nargs="*")
    parser.add_argument("--inputs", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for name in options.readers or READERS:
            own, made = Path(folder, name), Path(folder, "made", name)
            own.mkdir()
            made.mkdir(parents=True)
            os.chdir(own)
            reader = READERS[name](made)
            began = time.perf_counter()
            failed: dict[str, tuple[int, str]] = {}
            for seed in range(options.seed, options.seed + options.inputs):
                error = try_input(reader, seed)
                if error is not None:
                    failed.setdefault(error.splitlines()[-1], (seed, error))
            for seed, error in failed.values():
                print(f"{name}, seed {seed}:\n{error}")
            failures += len(failed)
            print(
                f"{name}: {options.inputs} inputs in {time.perf_counter() - began:.0f} s, {len(failed)} bad"
            )
            os.chdir(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
