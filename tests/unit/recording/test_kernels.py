"""Which nodes of a graph a kernel holds, as Inductor's records say it."""

import json
from pathlib import Path

from dynamo_core.model import CompileId, Graph, Node, Place, Process, Stage
from dynamo_core.recording.kernels import CODE_FOR_WINDOW, PROVENANCE, KernelSources
from dynamo_core.shared.names import PROFILE_WINDOW
from support.trace_bytes import process_of, record

ID = CompileId(0, 0)
VERSION = '{"pytorch_version": "9"}'


def a_process(*stages: Stage) -> Process:
    nodes = tuple(
        Node("call_function", name, "torch.relu", "", "", place=Place("/p/model.py", line))
        for name, line in (("y", 3), ("x", 4), ("relu", 3))
    )
    graph = Graph(1, ID, 0, None, "inductor", 3, nodes=nodes, is_compiled=True)
    return Process(Path("stream"), graphs=[graph], stages=list(stages))


def provenance(kernels: dict[str, list[str]], before: dict[str, list[str]]) -> Stage:
    return Stage(PROVENANCE, ID, json.dumps({"cppCodeToPost": kernels, "postToPre": before}))


def test_a_call_of_a_kernel_has_the_nodes_that_it_was_made_of() -> None:
    said = provenance(
        {"mm:1": ["mm"], "fused:2": ["sum_1", "relu_1", "div"]},
        {"mm": ["matmul"], "sum_1": ["y"], "relu_1": ["relu", "y"], "div": ["x"]},
    )
    found = {kernel: sources for _, kernel, sources in KernelSources(a_process(said)).kernels()}
    assert found["mm:1"] == (("matmul",), ())
    assert found["fused:2"] == (("y", "relu", "x"), (Place("/p/model.py", 3), Place("/p/model.py", 4)))


def test_the_second_graph_of_a_compile_keeps_its_kernels_apart() -> None:
    both = [provenance({"mm:1": ["mm"]}, {"mm": [name]}) for name in ("y", "x")]
    found = {kernel: nodes for _, kernel, (nodes, _) in KernelSources(a_process(*both)).kernels()}
    assert found == {"mm:1": ("y",), "mm:1 (2)": ("x",)}


def test_what_is_no_such_record_says_nothing() -> None:
    for text in (
        "",
        "[]",
        "{",
        '{"cppCodeToPost": 3, "postToPre": {}}',
        '{"cppCodeToPost": {"k": 1}}',
        "null",
    ):
        assert list(KernelSources(a_process(Stage(PROVENANCE, ID, text))).kernels()) == []


def test_the_comment_above_a_kernel_names_its_nodes_where_no_call_was_recorded() -> None:
    code = (
        "# Topologically Sorted Source Nodes: [y, x], Original ATen: []\nfused_0 = async_compile.triton('')\n"
    )
    found = list(KernelSources(a_process(Stage("inductor_output_code", ID, code))).kernels())
    assert [(kernel, nodes) for _, kernel, (nodes, _) in found] == [("fused_0", ("y", "x"))]


def test_the_code_of_a_compile_is_read_for_a_window_and_not_without_one() -> None:
    ids = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    code = record({"inductor_output_code": {"filename": "/tmp/c.py"}, **ids}, "async_compile.wait()")
    another_compile = record({"dynamo_start": {"stack": [{"line": 1, "name": "f", "filename": 0}]}, **ids})
    artifact = {"artifact": {"name": PROFILE_WINDOW, "encoding": "json"}}
    opened = record(artifact, json.dumps({"version": 1, "kind": "opened"}))
    broken = code.replace(b"wait", b"weit")
    read = Stage("inductor_output_code", ID, "async_compile.wait()", "/tmp/c.py")
    assert built(code, opened).stages == [read]
    assert built(another_compile, code, another_compile, opened).stages[0].compile_id == ID
    assert built(code).stages == []
    assert (built(broken, opened).stages, built(broken, opened).health.damaged_records) == ([], 1)
    cut = built(
        code[: code.index(b"wait")] + record({"artifact": {"name": "torch_version"}}, VERSION), opened
    )
    assert (cut.stages, cut.health.damaged_records, cut.torch_version) == ([], 1, "9")


def built(*records: bytes) -> Process:
    return process_of(*records, contents={PROFILE_WINDOW, CODE_FOR_WINDOW})
