"""Forward and backward graphs: what is saved, recomputed and shared, from nodes and from torch's text."""

from collections.abc import Container
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from dynamo_core.analysis.training import saved_by
from dynamo_core.case import Case
from dynamo_core.model import (
    AotPair,
    CompileId,
    Graph,
    Optimizer,
    Place,
    Process,
    ProcessInfo,
    Recording,
    SavedTensor,
    TensorInfo,
)
from dynamo_core.recording import training
from dynamo_core.recording.training import AotTexts, TextsOfPair, pair_record, parse_aot_graph
from dynamo_core.shared.aot_pair import AotGraph, AotNode, graphs_paired
from dynamo_core.shared.records import GraphsPaired
from dynamo_reporters.documents import json_value
from dynamo_reporters.explain.report import report as explain
from dynamo_reporters.graphs.report import report as graphs
from dynamo_reporters.ops import report as ops
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.parts.training import pairs_facts
from support.trace_bytes import NO_FRAME, artifact, process_of

# As torch 2.8 writes them; what 2.13 does otherwise is in FORWARD_2_13.
JOINT = """\
class joint_helper(torch.nn.Module):
    def forward(self, primals, tangents):
        primals_1: "Sym(s27)"; primals_2: "f32[s27, 8][8, 1]cpu"; tangents_1: "f32[s27, 8][8, 1]cpu";

        primals_1, primals_2, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
         # File: /x/net.py:3 in forward, code: return x.exp().sin()
        exp: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.exp.default(primals_2);  primals_2 = None
        sin: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.sin.default(exp)
        cos: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.cos.default(exp)
        mul: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos);  tangents_1 = cos = None
        return pytree.tree_unflatten([sin, None, mul], self._out_spec)
"""
FORWARD = """\
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s27)", primals_2: "f32[s27, 8][8, 1]cpu"):
         # File: /x/net.py:3 in forward, code: return x.exp().sin()
        exp: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.exp.default(primals_2);  primals_2 = None
        mul_3: "Sym(8*s27)" = primals_1 * 8
        view: "f32[8*s27][1]cpu" = torch.ops.aten.view.default(exp, [mul_3])
        sin: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.sin.default(exp)
        return (sin, exp, view, primals_1, mul_3)
"""
BACKWARD = """\
class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "Sym(s27)", mul_3: "Sym(8*s27)", exp: "f32[s27, 8][8, 1]cpu", \
view: "f32[8*s27][1]cpu", tangents_1: "f32[s27, 8][8, 1]cpu"):
         # File: /x/net.py:3 in forward, code: return x.exp().sin()
        cos: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.cos.default(exp);  exp = None
        mul: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos);  tangents_1 = cos = None
        return (None, mul)
"""
FORWARD_2_13 = """\
class GraphModule(torch.nn.Module):
    def forward(
        self,
        primals_1: "Sym(s27)",  # PlainAOTInput(idx=0)
        primals_2: "f32[s27, 8][8, 1]cpu",  # PlainAOTInput(idx=1)
    ):
        # File: /x/net.py:3 in forward, code: return x.exp().sin()
        exp: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.exp.default(primals_2);  primals_2 = None
        mul_3: "Sym(8*s27)" = primals_1 * 8
        view: "f32[8*s27][1]cpu" = torch.ops.aten.view.default(exp, [mul_3])
        sin: "f32[s27, 8][8, 1]cpu" = torch.ops.aten.sin.default(exp)
        return (
            sin,  # PlainAOTOutput(idx=0)
            exp,  # SavedForBackwardsAOTOutput(idx=0)
            view,  # SavedForBackwardsAOTOutput(idx=1)
            primals_1,  # SavedForBackwardsAOTOutput(idx=2)
            mul_3,  # SavedForBackwardsAOTOutput(idx=3)
        )


    class repeated_subgraph0(torch.nn.Module):
        def forward(self, arg0_1: "f32[8]"):
            tan: "f32[8]" = torch.ops.aten.tan.default(arg0_1);  arg0_1 = None
            return (tan,)
"""


def nodes(*described: str) -> tuple[AotNode, ...]:
    """`nodes("mm=aten.mm(a, b)")`."""
    found = []
    for text in described:
        name, _, called = text.partition("=")
        operator, _, inputs = called.rstrip(")").partition("(")
        found.append(AotNode(name, operator, tuple(inputs.split(", "))))
    return tuple(found)


def content(forward: AotGraph, backward: AotGraph) -> GraphsPaired:
    return graphs_paired(1, {}, forward, backward, lambda name: {"bytes": len(name)})


def test_what_is_saved_is_told_by_whose_memory_it_is() -> None:
    forward = AotGraph(
        ("primals_1", "primals_2"),
        nodes("t=aten.t(primals_2)", "mm=aten.mm(primals_1, t)", "view=aten.view(mm)", "exp=aten.exp(view)"),
        ("exp", "primals_1", "t", "view", "mm", "exp"),
    )
    backward = AotGraph(("primals_1", "t", "view", "mm", "exp", "tangents_1"), (), (None, "g"))
    found = content(forward, backward)
    assert [(each["name"], each["kind"], each["storage"]) for each in found.saved] == [
        ("primals_1", "input", "primals_1"),
        ("t", "input", "primals_2"),
        ("view", "activation", "mm"),
        ("mm", "activation", "mm"),
        ("exp", "output", "exp"),
    ]
    assert (found.inputs, found.outputs, found.tangents, found.gradients) == (2, 1, 1, 1)
    assert found.saved[2]["storage_bytes"] == len("mm")


def test_parts_of_a_split_share_the_memory_of_the_whole() -> None:
    forward = AotGraph(
        ("primals_1",),
        nodes("exp=aten.exp(primals_1)", "split=aten.split(exp)", "getitem=operator.getitem(split)")
        + nodes("topk=aten.topk(exp)", "getitem_1=operator.getitem(topk)"),
        ("exp", "getitem", "getitem_1"),
    )
    backward = AotGraph(("getitem", "getitem_1"), (), ())
    found = content(forward, backward)
    assert [(each["kind"], each["storage"]) for each in found.saved] == [
        ("output", "exp"),
        ("activation", "getitem_1"),
    ]


def test_recomputed_are_operators_of_the_forward_but_not_its_views_and_sizes() -> None:
    forward = AotGraph(
        ("primals_1",),
        nodes("gelu=aten.gelu(primals_1)", "view=aten.view(gelu)", "mul=operator.mul(primals_1)"),
        ("view", "primals_1"),
    )
    again = nodes("gelu=aten.gelu(primals_1)", "view=aten.view(gelu)", "mul=operator.mul(primals_1)")
    backward = AotGraph(("primals_1", "tangents_1"), again + nodes("gelu_1=aten.gelu(view)"), ("gelu_1",))
    assert content(forward, backward).recomputed == {"aten.gelu": 1}


@pytest.mark.parametrize("forward", [FORWARD, FORWARD_2_13])
def test_texts_say_what_the_nodes_say(forward: str) -> None:
    texts = AotTexts()
    assert texts.add("aot_joint_graph", lambda: JOINT) is None
    assert texts.add("aot_forward_graph", lambda: forward) is None
    complete = texts.add("aot_backward_graph", lambda: BACKWARD)
    assert complete is not None
    found = pair_record(complete, {"s27": "4"})
    assert found.joint == {"aten.exp": 1, "aten.sin": 1, "aten.cos": 1, "aten.mul": 1}
    assert found.forward == {"aten.exp": 1, "operator.mul": 1, "aten.view": 1, "aten.sin": 1}
    assert found.backward == {"aten.cos": 1, "aten.mul": 1}
    exp, view, s27, size = found.saved
    assert exp["shape"] == ["s27", 8] and exp["bytes"] == 4 * 8 * 4 and exp["dtype"] == "float32"
    assert (exp["file"], exp["line"]) == ("/x/net.py", 3)
    assert view["storage"] == "exp" and view["bytes"] == exp["bytes"]
    assert (s27["symbol"], size["symbol"]) == ("s27", "8*s27") and size["bytes"] is None
    assert (found.outputs, found.tangents, found.gradients) == (1, 1, 1)


def test_a_size_without_a_hint_leaves_the_bytes_unknown() -> None:
    found = pair_record(TextsOfPair(None, FORWARD, BACKWARD), {"s1": "4"})
    assert found.saved[0]["bytes"] is None
    assert found.joint is None


def test_equal_texts_are_read_once_for_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=pair_record)
    monkeypatch.setattr(training, "pair_record", read)
    texts = TextsOfPair(JOINT, FORWARD, BACKWARD)
    sizes = [training.pair_of_texts(texts, {"s27": size}).saved[0].bytes for size in ("3", "5", "3")]
    assert sizes == [4 * 8 * 3, 4 * 8 * 5, 4 * 8 * 3] and read.call_count == 2


def test_texts_of_a_pair_that_is_known_are_not_loaded() -> None:
    def load() -> str:
        raise AssertionError

    texts = AotTexts()
    texts.add("aot_joint_graph", load)
    texts.expect_texts_of_pair()
    assert texts.add("aot_forward_graph", load) is None
    assert texts.add("aot_backward_graph", load) is None
    assert texts.add("aot_backward_graph", load) is None  # without its forward it says nothing


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def forward(",
        "def forward(self):\n    return",
        "  return (" + "(" * 5000,
        ' x: "f32[' + "*" * 9999,
        'def forward(self, a: "f32[2**9999999999]"):\n  b: "f32[-]" = a[0]\n  return (a, a)',
        "= = =\n# File: :",
    ],
)
def test_damaged_texts_raise_nothing(text: str) -> None:
    assert parse_aot_graph(text).graph() is not None
    pair_record(TextsOfPair(None, text, text.replace("b:", "a:")), {"s0": "no number"})


def saved(
    name: str, kind: str, size: int | None, storage: str | None = None, *shape: int | str
) -> SavedTensor:
    tensor = TensorInfo(shape or (2,), None, "float32", "cpu")
    return SavedTensor(
        name,
        kind,  # type: ignore[arg-type]
        "aten.mm",
        tensor,
        None,
        size,
        storage or name,
        size,
        Place("/x/net.py", 3),
    )


def pair(*values: SavedTensor, graph: int | None = 1) -> AotPair:
    return AotPair(
        CompileId(0, 0),
        0,
        graph,
        {"aten.mm": 3},
        {"aten.mm": 1},
        {"aten.mm": 2},
        2,
        1,
        1,
        2,
        values,
        {"aten.mm": 1},
    )


def recording(
    *pairs: AotPair, steps: tuple[str, ...] | None = (), backward_index: int | None = None
) -> Recording:
    process = Process(Path("x.log"), info=ProcessInfo(pid=1))
    process.graphs = [
        Graph(1, CompileId(0, 0), 0, None, "inductor", 1, is_compiled=True, optimizer_steps=steps)
    ]
    process.graphs[0].backward_index = backward_index
    process.pairs = list(pairs)
    process.optimizers = [Optimizer(name="AdamW", module="torch.optim.adamw", file="/torch/optim/adam.py")]
    return Recording(Path("rec"), None, [process], None, [])


def test_memory_is_that_of_activations_and_each_storage_counts_once() -> None:
    views = [saved("view", "activation", 100, "mm"), saved("view_1", "activation", 100, "mm")]
    found = saved_by([pair(*views, saved("p", "input", 50)), pair(saved("view", "activation", 7, "mm"))])
    assert (len(found.tensors), found.bytes, found.memory) == (4, 257, 107)
    assert saved_by([pair(saved("x", "activation", None))]).bytes is None


def test_pages_name_what_is_saved_and_the_optimizer() -> None:
    values = (saved("mm", "activation", 3 << 20), saved("primals_1", "input", 1 << 20))
    whole = recording(pair(*values))
    page = plain_text(graphs().page(Case(whole)))
    assert "training: forward 1 op, backward 2 ops, joint graph 3 ops" in page
    assert "saves 2 tensors for the backward, 4.0 MB: 1 input, 1 activation of 3.0 MB" in page
    assert "the backward computes again: aten.mm" in page
    told = plain_text(explain(show_all=True).page(Case(whole)))
    assert "optimizer AdamW: its step is not captured, it runs eager" in told
    assert "3.0 MB  mm" in told and "primals_1" not in told.split("Training")[1]
    table = plain_text(graphs(training=True).page(Case(whole)))
    assert "1.0 MB  primals_1" in table and "2 saved, 1 tangent" in table
    assert "1         2           1  aten.mm" in plain_text(ops(aot=True).page(Case(whole)))


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (("/torch/optim/adam.py",), "optimizer AdamW: its step is captured, as graph 1"),
        (None, "optimizer AdamW: whether its step is in a graph was not recorded"),
    ],
)
def test_whether_a_step_is_captured(steps: tuple[str, ...] | None, said: str) -> None:
    assert said in plain_text(explain(show_all=True).page(Case(recording(steps=steps))))


def test_symbolic_sizes_are_said_to_be_those_met() -> None:
    page = plain_text(
        explain(show_all=True).page(Case(recording(pair(saved("mm", "activation", 64, None, "s27", 4)))))
    )
    assert "64 B *" in page and "* with the symbolic sizes as met when compiling" in page


def test_inference_says_nothing_and_a_backward_without_graphs_is_not_recorded() -> None:
    inference, lost = recording(), recording(backward_index=3)
    assert "training" not in plain_text(graphs().page(Case(inference)))
    assert json_value(graphs().body(Case(inference)))["graphs"][0]["training"] == []
    assert "No graph has a backward" in plain_text(graphs(training=True).page(Case(inference)))
    assert "its forward and backward graph were not recorded" in plain_text(graphs().page(Case(lost)))
    assert json_value(graphs().body(Case(lost)))["graphs"][0]["training"] is None
    assert "were not recorded" in plain_text(graphs(training=True).page(Case(lost)))
    assert "not recorded" in plain_text(explain(show_all=True).page(Case(lost))).split("Training")[1]


def test_a_joint_graph_that_was_not_recorded_is_said_to_be_so() -> None:
    known, unknown = pairs_facts([pair()]), pairs_facts([pair(), replace(pair(), joint=None)])
    assert known[0] == "training: forward 1 op, backward 2 ops, joint graph 3 ops"
    assert unknown[0] == "training in 2 parts: forward 2 ops, backward 4 ops, joint graph not recorded"


def test_a_pair_of_unknown_number_is_that_of_its_compile() -> None:
    assert len(json_value(graphs().body(Case(recording(pair(graph=None)))))["graphs"][0]["training"]) == 1
    assert json_value(graphs().body(Case(recording(pair(graph=2)))))["graphs"][0]["training"] == []


def test_explain_says_where_to_find_what_it_leaves_unread_in_a_plain_trace() -> None:
    trace = recording()
    trace.processes[0].info, trace.processes[0].optimizers = ProcessInfo(), []
    assert "Training" not in plain_text(explain(show_all=True).page(Case(trace)))
    trace.processes[0].health.record_counts["aot_forward_graph"] = 1
    assert "`dynamo graphs --training` reads them" in plain_text(explain(show_all=True).page(Case(trace)))
    assert json_value(explain().body(Case(trace)))["processes"][0]["graphs"][0]["training"] is None


def test_of_a_plain_trace_only_what_asks_for_all_texts_reads_them() -> None:
    def pairs(contents: Container[str], is_ours: bool) -> int:
        texts = (("aot_forward_graph", FORWARD), ("aot_backward_graph", BACKWARD))
        process = process_of(
            *(artifact(name, text, NO_FRAME) for name, text in texts),
            contents=contents,
            process=Process(Path("x.log"), info=ProcessInfo(pid=1) if is_ours else ProcessInfo()),
        )
        assert process.health.damaged_records == 0
        return len(process.pairs)

    assert [pairs(explain().contents, is_ours) for is_ours in (True, False)] == [1, 0]
    assert [pairs(graphs().contents, is_ours) for is_ours in (True, False)] == [1, 1]


def test_a_long_line_of_a_hostile_text_takes_no_time() -> None:
    line = "# File: /x" + ":1 in " * 200_000
    assert parse_aot_graph(f"def forward(self, a):\n{line}\n    return (a,)\n").placeholders == ["a"]
