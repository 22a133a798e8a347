"""An example of each record of ours that only some runs write, and one of each that a compile adds to."""

from dynamo_core.shared.change_tried import ChangeTried
from dynamo_core.shared.cuda_graph_event import CudaGraphEvent
from dynamo_core.shared.early_records import (
    CacheBundleUsed,
    CompileBegun,
    CompileResultUnused,
    FrameDeferred,
    GradientExchange,
    GraphReturned,
)
from dynamo_core.shared.export_records import ExportCompared, ExportTried, ModulesCalled, ModuleToExport
from dynamo_core.shared.our_record import OurRecord
from dynamo_core.shared.records import (
    CacheBypassedBy,
    CacheKeyParts,
    CachesInUse,
    CallsAtLimit,
    CallVerified,
    ChangedSetting,
    FrameNotCompiled,
    FreezeNoted,
    GraphTaken,
    HooksNotCalled,
    LinesTraced,
    NotebookCell,
    OverrideApplied,
    ProgramCallVerified,
    SemanticsNoted,
    StepMarksKept,
    WindowNoted,
)

_FILE = "/x/train.py"
_AT = 1795256865000000000  # ns since the epoch
_FRAME = {"file": _FILE, "line": 7, "name": "f", "text": "y = f(x)"}
_VALUE = {
    "name": "y",
    "error": 0.5,
    "allowed": 0.1,
    "against": "float64",
    "detail": "at [0]",
    "size": 2.0,
}
_TRACED = {"breaks": [[[_FILE, 7]]], "recompiled": 1, "left_eager": 0, "ops": 3, "why": None}
EXAMPLES: tuple[OurRecord, ...] = (
    CacheBundleUsed(action="loaded", bytes=9, artifacts={"inductor": 1}, seconds=0.5),
    CompileBegun(began_ns=_AT, test="test_f"),
    CompileResultUnused(function="f", is_module=False, why="never called", line=_FRAME),
    HooksNotCalled(line=_FRAME, what="forward hook", classes=["Linear"], graphs=[1], hooks=2, left_out=6),
    LinesTraced(functions=[{"file": _FILE, "around": {"7": "y = f(x)"}}]),
    FrameDeferred(times=2, name="f", file=_FILE, line=7),
    ChangeTried(
        file=_FILE, line=7, changes=["dynamic=True"], before=_TRACED, after=_TRACED | {"why": "x"}, ns=5
    ),
    CacheBypassedBy(operator="aten.cholesky", line=_FRAME),
    CacheKeyParts(key="abc", parts=["[a1] inputs: x"], seconds=0.1),
    CachesInUse(
        folder="/tmp/c",
        triton_folder=None,
        held_graphs=True,
        is_writable=True,
        free_bytes=10**9,
        filesystem="tmpfs",
        in_container=False,
        switches={"torch._inductor.config.fx_graph_cache": "True"},
    ),
    CallsAtLimit(times=3),
    CudaGraphEvent(
        what="recorded", part=1, function=0, again="another order", reason="mutated inputs", line=_FRAME, ns=7
    ),
    GradientExchange(
        module="Net", step=10, forward_ns=5, backward_ns=7, exchange_ns=9, average_exchange_ns=8
    ),
    CallVerified(
        graph=1,
        call=1,
        outcome="disagrees",
        why=None,
        compared=4,
        against_float64=2,
        gradients=None,
        worst=_VALUE,
        first_wrong=_VALUE,
        node={"name": "mm", "target": "aten.mm", "file": _FILE, "line": 7, "comparison": _VALUE},
        node_unknown=None,
        ns=7,
    ),
    ChangedSetting(change="torch._dynamo.config.verbose=True", was="False", now="True"),
    ExportCompared(sizes={"x": [2, 3]}, outcome="agrees", compared=4, worst=_VALUE),
    ExportTried(
        kind="export",
        is_dynamic=True,
        outcome="failed",
        seconds=0.5,
        error="no",
        error_kind="ValueError",
        user_stack=[_FRAME],
        around={"7": "y = f(x)"},
        obstacles=[{"kind": "DATA_DEPENDENT_ERROR", "text": "u0 > 1", "user_stack": [_FRAME]}],
    ),
    FrameNotCompiled(
        times=2, name="f", file=_FILE, line=7, reasons=["x == 3"], came=["4"], called_from=_FRAME
    ),
    FreezeNoted(frozen=True, calls=3, seconds=0.5, at_ns=_AT),
    GraphReturned(graph=1, differs="the backend returned a Tensor, the graph returns a tuple of 1"),
    GraphTaken(graph=1, by="b", using="c", declined=[{"backend": "a", "reason": "not installed"}]),
    ModulesCalled(modules=2, left_out=1, cannot_copy="a lock"),
    ModuleToExport(
        name="net",
        file=_FILE,
        line=7,
        called_at=_FRAME,
        training=False,
        parameters=8,
        calls=2,
        other_forms=0,
        inputs=[{"name": "x", "dtype": "torch.float32", "sizes": [[2, 3], [4, 3]]}],
        constants=[{"name": "n", "values": ["1"]}],
        dynamic_shapes="({0: Dim.AUTO},)",
        arguments="(x,)",
        dataclasses=["Out"],
    ),
    NotebookCell(file="/tmp/ipykernel_1/1.py", number=3),
    OverrideApplied(
        times=1, overrides=["backend=eager"], of="f", file=_FILE, line=7, replaced=[["backend", "a", "b"]]
    ),
    ProgramCallVerified(
        name="f",
        file=_FILE,
        line=7,
        function_file=_FILE,
        function_line=3,
        call=1,
        outcome="disagrees",
        ns=9,
        kind="value",
        path="result",
        error=0.5,
        allowed=0.1,
        differences=1,
        stage="inductor",
        wrong_file=_FILE,
        wrong_line=7,
        operation="mul",
    ),
    SemanticsNoted(
        graph=1, kind="unused outputs", answered="eager", file=_FILE, line=7, outputs=["y"], inputs=["x"]
    ),
    StepMarksKept(calls_index=2, ns_each=40.0),
    WindowNoted(kind="opened", own_ns=5, what="times", anchor=1),
)
