"""A trace with a record of every kind that is read, and what the reader makes of bytes."""

import json
from pathlib import Path
from typing import Any

from dynamo_core.model import Process
from dynamo_core.recording.build import ProcessBuilder
from dynamo_core.recording.trace_format import Record, RecordParser
from dynamo_core.recording.training import AOT_PAIRS_FROM_TEXT
from dynamo_core.shared import names
from support.our_records import EXAMPLES
from support.trace_bytes import FRAME, artifact, record

_PLACE = {"file": "/x/train.py", "line": 7}


def event_record(in_compile: bool, event: Any) -> bytes:
    """A timed span's begin or end, as torch writes it inside a compile or in a thread of its own."""
    return record({"chromium_event": {}, **(FRAME if in_compile else {})}, json.dumps(event, indent=1))


# What records hold, by name: (the JSON of the head, the payload).
_NODE = {
    "op": "call_function",
    "name": "add",
    "target": "operator.add",
    "args": "(x, 1)",
    "kwargs": "{}",
    "inputs": ["x"],
}
_TENSOR = {"shape": [2, "s0"], "stride": [1, 2], "dtype": "torch.float32", "device": "cpu"}
_STORAGE = {"storage": "mm", "storage_bytes": 8, "shape": [2, "s0"], "dtype": "float32", "device": "cpu"}
_AOT_TEXT = """\
    def forward(self, primals_1: "f32[s0][1]cpu"):
        # File: /x/train.py:7 in f, code: y = f(x)
        exp: "f32[s0][1]cpu" = torch.ops.aten.exp.default(primals_1);  primals_1 = None
        return (exp, exp)
"""
_STACK = [{"line": 7, "name": "f", "filename": 0, "loc": "y = f(x)"}]
_INSTRUCTION = [0, "LOAD_FAST", "x", 7, None]
_METRICS = {
    "compile_id": "0/0",
    "co_name": "f",
    "co_filename": "/x/train.py",
    "co_firstlineno": 7,
    "duration_us": 1500,
    "guard_count": 3,
    "graph_op_count": 2,
    "is_forward": True,
    "fail_type": None,
    "fail_reason": None,
    "recompile_reason": "0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3",
    "inductor_fx_remote_cache_hit_count": 1,
    "inductor_fx_remote_cache_miss_count": 0,
    "dynamo_cumulative_compile_time_us": 1200,
    "backward_cumulative_compile_time_us": None,
}
PAYLOADS: dict[str, Any] = {
    names.PROCESS_START: {
        "argv": ["x.py"],
        "torch": "2.13.0",
        "pid": 2350,
        "calls_file": "dynamo_calls_1_0.bin",
        "began_ns": 1795256859000000000,
    },
    names.PROCESS_STATE: {"ended": "exit", "capture": {"first_call": _PLACE}},
    names.PROCESS_END: {
        "reason": "exit",
        "ended_ns": 1795256879000000000,
        "torch_totals": {"unique_graphs": 1, "frames_total": 1},
    },
    names.CAPTURE_DECISION: {
        "decision": "capture",
        "because": None,
        "policy": "auto",
        "backend": "inductor",
        "fallback_random": True,
    },
    names.PROBE_FAILED: {"probe": "guards", "error": "TypeError: no"},
    names.FRAME: {
        "name": "f",
        **_PLACE,
        "outcome": "compiled",
        "reason": None,
        "ok": True,
        "whole_graph": True,
        "ended_ns": 1795256869116212000,
        "ns": 1000000,
    },
    names.TIMELINE: {
        "armed_ns": 1795256860000000000,
        "torch_began_ns": 1795256861000000000,
        "torch_ended_ns": 1795256862000000000,
        "ready_ns": 1795256863000000000,
    },
    names.IMPORTED: {
        "module": "torch._dynamo",
        "began_ns": 1795256863000000000,
        "ended_ns": 1795256864000000000,
    },
    names.BACKWARD_COMPILED: {"calls_index": 1},
    names.FX_GRAPH: {
        "graph": 1,
        "name": "g",
        "backend": "inductor",
        "ops": 2,
        "nodes": [_NODE | _TENSOR, _NODE | {"values": [_TENSOR], **_PLACE}],
    },
    names.GRAPH_COMPILED: {
        "graph": 1,
        "name": "g",
        "specialization": False,
        "backend_ns": 5,
        "calls_index": 0,
        "method": "M.forward",
    },
    names.BYTECODE: {
        "name": "f",
        "qualified_name": "M.f",
        "file": "/x/train.py",
        "first_line": 7,
        "fingerprint": "ab",
        "source": {"7": "def f(x):"},
        "original": [_INSTRUCTION],
        "modified": [_INSTRUCTION],
    },
    names.RESUME_FUNCTION: {"name": "r", "code_name": "torch_dynamo_resume_in_f_at_7", "fingerprint": "cd"},
    names.GUARDS: {"guards": [{"type": "TENSOR_MATCH", "source": "L['x']", "scope": "local", "code": ["a"]}]},
    names.TRACING_TIME: {
        "functions": [{"name": "f", **_PLACE, "calls": 2, "inclusive_ns": 9, "exclusive_ns": 5}],
        "others": {"functions": 3, "calls": 4, "exclusive_ns": 7},
    },
    names.GRAPH_BREAK: {"reason": "print", "user_stack": [{**_PLACE, "name": "f", "text": "print(x)"}]},
    names.OPTIMIZER: {"name": "AdamW", "module": "torch.optim.adamw", "file": "/x/adam.py"},
    **{record.NAME: record.payload() for record in EXAMPLES},
    "aot_joint_graph": "class joint_helper(torch.nn.Module):\n" + _AOT_TEXT,
    "aot_forward_graph": "class GraphModule(torch.nn.Module):\n" + _AOT_TEXT,
    "aot_backward_graph": "class GraphModule(torch.nn.Module):\n" + _AOT_TEXT,
    names.AOT_PAIR: {
        "graph": 1,
        "inputs": 1,
        "outputs": 1,
        "tangents": 1,
        "gradients": 1,
        "joint": {"aten.mm": 3},
        "forward": {"aten.mm": 1},
        "backward": {"aten.mm": 2},
        "recomputed": {"aten.mm": 1},
        "saved": [
            {"name": "mm", "kind": "activation", "operator": "aten.mm", "bytes": 8, **_STORAGE, **_PLACE}
        ],
    },
    "dynamo_graph_break_reason": "Graph break in user code at /x/train.py:7\nGraph Break Reason: print\n",
    "dynamo_cpp_guards_str": "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GuardManager: source=L['x']",
    "recompile_reasons": ["0/0: x"],
    "torch_version": {"pytorch_version": "2.13.0"},
    "fx_graph_cache_hit": {"key": "abc", "cache_state": "hit"},
    "inductor_output_code": "import torch\nasync_compile.wait(globals())\n",
    "dynamo_output_graph": "class GraphModule(torch.nn.Module):\n    pass\n",
}
HEADS: dict[str, Any] = {
    "str": ["/x/train.py", 0],
    "dynamo_start": {"stack": _STACK},
    "describe_tensor": {"id": 0, "ndim": 1, "dtype": "torch.float32", "device": "cpu", "size": [2]},
    "dynamo_output_graph": {"sizes": {"l_x_": [2]}},
    "compilation_metrics": _METRICS,
    "bwd_compilation_metrics": _METRICS,
    "create_symbol": {
        "symbol": "s0",
        "val": "5",
        "vr": "[2, int_oo]",
        "source": "L['x']",
        "user_stack": _STACK,
    },
}
_EVENT_ARGUMENTS = {"compile_id": "0/0", "fn_name": "g", "is_backward": False, "cache_state": "miss"}
EVENTS: list[tuple[bool, dict[str, Any]]] = [  # whether its record names the compile
    (True, {"name": "dynamo", "ph": "B", "ts": 1795256869115212.0, "args": {"compile_id": "0/0"}, "tid": 0}),
    (True, {"name": "inductor_compile", "ph": "B", "ts": 1795256869115213.5, "args": _EVENT_ARGUMENTS}),
    (False, {"name": "compile_file", "ph": "B", "ts": 1795256869115214.0, "args": {"compile_id": "None"}}),
    (True, {"name": "fx_graph_cache_miss", "ph": "i", "ts": 1795256869115214.0, "args": {"key": "f"}}),
    (True, {"name": "inductor_compile", "ph": "E", "ts": 1795256869115313.5, "args": _EVENT_ARGUMENTS}),
    (False, {"name": "compile_file", "ph": "E", "ts": 1795256869115414.0, "args": {"compile_id": "None"}}),
    (True, {"name": "dynamo", "ph": "E", "ts": 1795256869116212.0, "args": {"compile_id": "0/0"}, "tid": 0}),
]
TRACE: list[bytes] = [
    *(artifact(name, payload) for name, payload in PAYLOADS.items()),
    *(record({kind: content, **FRAME}) for kind, content in HEADS.items()),
    record({"dynamo_output_graph": {"sizes": {}}, **FRAME}, PAYLOADS["dynamo_output_graph"]),
    *(event_record(in_compile, event) for in_compile, event in EVENTS),
]
WANTED = frozenset(PAYLOADS) | frozenset(HEADS) | {"chromium_event", AOT_PAIRS_FROM_TEXT}


def parse(pieces: list[bytes]) -> tuple[list[Record], RecordParser]:
    """The records of a stream that comes in these pieces, and the parser at its end."""
    parser = RecordParser()
    records = [found for piece in pieces for found in parser.feed(piece)]
    last = parser.finish()
    return records + ([last] if last is not None else []), parser


def build(data: bytes, contents: frozenset[str]) -> Process:
    """The model of these bytes; whatever the builder raises is a finding."""
    process = Process(Path("dedicated_log_torch_trace_rank_0.log"))
    builder = ProcessBuilder(process, contents)
    for found in parse([data])[0]:
        builder.add(found)
    builder.finish()
    return process
