"""What changed in graphs and frames of both runs: kernels, saved tensors, guards; what another torch did."""

from collections.abc import Sequence
from dataclasses import replace

from dynamo_core.compare import Difference, compare, details_to_read
from dynamo_core.compare.difference import GraphChange, OpChange
from dynamo_core.compare.findings import MatchedFindings
from dynamo_core.compare.verdict import torch_version_note
from dynamo_core.model import (
    Bytecode,
    Compile,
    GeneratedKernels,
    Graph,
    GraphBreak,
    Guard,
    GuardSet,
    Place,
    Recording,
    StackFrame,
)
from dynamo_core.recording.guards import guards_of_function
from dynamo_core.recording.kernels import kernels_in
from dynamo_reporters.diff import diff_blocks
from dynamo_reporters.diff_graphs import changes_in
from dynamo_reporters.page.console import plain_text
from support.made import FIRST, of_one_process, pair_of, saved

FILE = "/home/me/model.py"
LINES = {3: "def f(x):", 4: "    y = x.relu()", 5: "    return y if FAST else -y"}


def recording(*, torch: str = "2.13.0", lines: dict[int, str] | None = None, **fields: object) -> Recording:
    """`f`, compiled once."""
    graph = Graph(1, FIRST, 0, None, "inductor", 2, is_compiled=True, key="k", frame_name="f")
    graph.frame_place = Place(FILE, 3)
    code = Bytecode(FIRST, "f", "f", Place(FILE, 3), "p", lines or LINES, (), ())
    return of_one_process(**{"graphs": [graph], "bytecodes": [code], "torch_version": torch, **fields})


def with_kernels(*calls: dict[str, int], torch: str = "2.13.0") -> Recording:
    return recording(torch=torch, kernels=[GeneratedKernels(FIRST, each) for each in calls])


def details(found: Difference) -> list[str]:
    (change,) = found.graphs
    return list(changes_in(change))


def test_kernels_are_found_with_their_calls() -> None:
    code = b"""\
\tcpp_fused_add_0 = async_compile.cpp_pybinding(['float*'], r'''
\t''')
\ttriton_poi_fused_mul_1 = async_compile.triton('triton_poi_fused_mul_1', '''
\tdef triton_poi_fused_mul_1(in_ptr0):
\t''')
\tasync_compile.wait(globals())
\tdef call(args):
\t        cpp_fused_add_0(buf0)
\t        cpp_fused_add_0(buf1)
\t        triton_poi_fused_mul_1.run(buf1, stream=stream0)
\t        extern_kernels.mm(buf0, buf1)
"""
    assert kernels_in(code) == {"cpp_fused_add_0": 2, "triton_poi_fused_mul_1": 1}
    assert kernels_in(b"nothing = was_generated()") == {}


def test_a_lost_fusion_is_a_change_of_the_graph() -> None:
    found = compare(
        with_kernels({"fused_add_relu_0": 1}), with_kernels({"fused_add_0": 1, "fused_relu_1": 1})
    )
    assert details(found) == [
        "kernels that Inductor generated: 1 → 2; fused_add_relu → fused_add, fused_relu"
    ]
    assert found.verdict == "different"


def test_kernels_by_another_number_or_not_recorded_are_no_change() -> None:
    one = with_kernels({"fused_add_0": 1}, {"fused_mul_0": 1})
    assert compare(one, with_kernels({"fused_mul_3": 1}, {"fused_add_1": 1})).verdict == "nothing differs"
    assert compare(one, recording()).graphs == ()


def saving(*names: str) -> Recording:
    kinds = ("input" if name.startswith("primals") else "activation" for name in names)
    kept = (saved(name, 256, kind, Place(FILE, 4)) for name, kind in zip(names, kinds, strict=True))
    return recording(pairs=[pair_of(*kept)])


def test_what_is_saved_is_told_by_the_node_that_made_it() -> None:
    (change,) = compare(saving("primals_1", "relu"), saving("primals_3", "relu_1", "exp")).graphs
    assert change.saved is not None
    assert (change.saved.before, change.saved.after) == (512, 768)
    assert change.saved.tensors == (OpChange("exp", 1, Place(FILE, 4), "y = x.relu()"),)
    assert compare(saving("relu"), saving("relu_7")).verdict == "nothing differs"
    (more,) = compare(saving("relu"), saving("relu", "primals_2")).graphs
    assert more.saved is not None and [each.op for each in more.saved.tensors] == ["input"]


def guard(type_: str, source: str, *code: str, line: int = 5) -> Guard:
    return Guard(type_, source, "local", code, Place(FILE, line))


GLOBAL = guard("CONSTANT_MATCH", "G['FAST']", "G['FAST'] == True")
SIZE = guard("TENSOR_MATCH", "L['x']", line=4)


def guarded(guards: Sequence[Guard], torch: str = "2.13.0", **fields: object) -> Recording:
    compile_ = Compile(
        FIRST, "f", Place(FILE, 3), 1.0, True, len(guards), 2, None, None, None, {}, None, None
    )
    return recording(
        torch=torch, lines=None, compiles=[compile_], guard_sets=[GuardSet(FIRST, tuple(guards))], **fields
    )


def test_a_guard_that_came_is_named_with_its_line() -> None:
    found = compare(guarded([SIZE]), guarded([SIZE, GLOBAL]))
    (change,) = found.guards
    assert (change.function, change.type, change.source, change.count) == (
        "f",
        "CONSTANT_MATCH",
        "G['FAST']",
        1,
    )
    page = plain_text(diff_blocks(found, guarded([SIZE]), guarded([SIZE, GLOBAL])))
    assert (
        "added: CONSTANT_MATCH G['FAST']: is True at /home/me/model.py:5 `return y if FAST else -y`" in page
    )


def test_equal_guards_are_one_change_with_their_number() -> None:
    one, three = guarded([SIZE, GLOBAL]), guarded([SIZE, GLOBAL, GLOBAL, GLOBAL])
    assert [change.count for change in compare(one, three).guards] == [2]
    assert [change.count for change in compare(three, one).guards] == [-2]


def test_renamed_locals_and_addresses_are_no_other_guards() -> None:
    renamed = replace(SIZE, source="L['image']")
    first, second = (
        guard("ID_MATCH", f"G['_{n}_c0']", f"___check_obj_id(G['_{n}_c0'], {n}), type=<class 'module'>")
        for n in (139859200604768, 140356114019360)
    )
    assert compare(guarded([SIZE, first]), guarded([renamed, second, GLOBAL])).guards == (
        compare(guarded([SIZE]), guarded([SIZE, GLOBAL])).guards
    )


def test_guards_are_read_only_of_functions_compiled_as_often_that_have_others() -> None:
    before, after = guarded([SIZE]), guarded([SIZE, GLOBAL])
    wanted = frozenset({guards_of_function("f")})
    assert details_to_read(before, after) == (wanted, wanted)
    assert details_to_read(before, before) == (frozenset(), frozenset())
    assert details_to_read(guarded([]), before) == (wanted, wanted), "none of them beside one"
    twice = after.processes[0].compiles * 2
    recompiled = replace(after, processes=[replace(after.processes[0], compiles=twice)])
    assert details_to_read(before, recompiled) == (frozenset(), frozenset())


BREAK = GraphBreak("print", (StackFrame(Place(FILE, 4), "f", "y = x.relu()"),), FIRST)


def test_what_another_torch_does_to_the_same_lines_is_told_apart() -> None:
    old, new = guarded([SIZE]), guarded([SIZE, GLOBAL], torch="2.15.0", breaks=[BREAK])
    found = compare(old, new)
    assert found.of_torch == (found.came[0].identity,)
    assert all(change.is_of_torch for change in found.guards)
    assert found.sentence.endswith("; torch is another one, and the lines of the functions are the same")
    page = plain_text(diff_blocks(found, old, new))
    assert page.index("From another torch") < page.index("graph break at")


def test_what_was_changed_is_of_the_program_under_another_torch_too() -> None:
    edited = {**LINES, 4: "    y = x.relu(); print(y)"}
    found = compare(recording(), recording(torch="2.15.0", lines=edited, breaks=[BREAK]))
    assert (found.verdict, found.of_torch) == ("worse", ())
    assert found.sentence.endswith("; torch is another one as well")
    same_torch = compare(recording(), recording(breaks=[BREAK]))
    assert (same_torch.of_torch, "torch is another" in same_torch.sentence) == ((), False)


def test_it_is_all_another_torchs_only_where_all_that_differs_is_explained_by_it() -> None:
    cut = GraphChange("split", "f", 1, (), (), because="graph-break-1")
    of_torch = replace(cut, because=None, is_of_torch=True)
    nothing = MatchedFindings((), (), ())
    same, other = (
        "torch is another one, and the lines of the functions are the same",
        "torch is another one as well",
    )
    assert torch_version_note(nothing, [cut, of_torch], [], {"graph-break-1"}) == same
    assert torch_version_note(nothing, [cut], [], {"graph-break-2"}) == other
    assert torch_version_note(nothing, [of_torch, replace(of_torch, is_of_torch=False)], [], set()) == other
    assert torch_version_note(nothing, [], [], set()) == same


def test_kernels_of_another_torch_are_its_own_doing() -> None:
    (change,) = compare(
        with_kernels({"fused_add_0": 1}), with_kernels({"fused_add_0": 2}, torch="2.15.0")
    ).graphs
    assert change.is_of_torch
