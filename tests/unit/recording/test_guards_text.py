"""Reading torch's text of a guard tree."""

# ruff: noqa: E501 (lines as torch prints them)

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamo_core.model import CompileId, GuardCheck, Place, Process
from dynamo_core.recording.guards import parse_guard_tree
from support.trace_bytes import FRAME, artifact, process_of, record

TREE = """
TREE_GUARD_MANAGER:
+- RootGuardManager
| +- GLOBAL_STATE: ___check_global_state()
| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x', framelocals_idx=0), type=<class 'torch.Tensor'>, tag_safe=(False, False)
| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, device=None, requires_grad=False, size=[None], stride=[1])  # y = x + 1  # add one  # progs/a.py:5 in f
| | +- NO_TENSOR_ALIASING
| +- GuardManager: source=G, accessed_by=GlobalsGuardAccessor
| | +- GuardManager: source=G['torch'], accessed_by=DictGetItemGuardAccessor('torch'), type=<class 'module'>
| | | +- ID_MATCH: ___check_obj_id(G['torch'], 1397), type=<class 'module'>  # y = torch.abs(x)  # progs/a.py:6 in <lambda>
| | +- DictGuardManager: source=G['d'], accessed_by=DictGetItemGuardAccessor('d')
| | | +- KeyValueManager pair at index=0
| | | | +- KeyManager: GuardManager: source=list(G['d'].keys())[0], type=<class 'str'>, tag_safe=(False, False)
| | | | | +- EQUALS_MATCH: list(G['d'].keys())[0] == '0'
| | | | +- ValueManager: GuardManager: source=G['d']['0'], type=<class 'int'>, tag_safe=(False, False)
| | | | | +- EQUALS_MATCH: G['d']['0'] == 1
+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # y = x + 1  # progs/a.py:5 in f (user code shown is first use of this value)

Guard latency = 70.46 us
"""


def only_check(leaf: str, source: str = "L['x']") -> GuardCheck:
    tree = f"+- RootGuardManager\n| +- GuardManager: source={source}, accessed_by=A\n| | +- {leaf}\n"
    (check,), _ = parse_guard_tree(tree)
    return check


def test_each_check_belongs_to_the_manager_above_it() -> None:
    checks, latency = parse_guard_tree(TREE)
    assert [(check.type, check.source) for check in checks] == [
        ("GLOBAL_STATE", ""),
        ("TENSOR_MATCH", "L['x']"),
        ("NO_TENSOR_ALIASING", "L['x']"),
        ("ID_MATCH", "G['torch']"),
        ("EQUALS_MATCH", "list(G['d'].keys())[0]"),
        ("EQUALS_MATCH", "G['d']['0']"),
        ("LAMBDA_GUARD", ""),
    ]
    assert latency == 70.46


def test_the_user_s_line_may_have_a_comment_of_its_own() -> None:
    check = parse_guard_tree(TREE)[0][1]
    assert check.user_code == "y = x + 1  # add one"
    assert (check.place, check.function) == (Place("progs/a.py", 5), "f")
    assert check.code.endswith("stride=[1])")


def test_a_check_printed_at_another_source_has_no_text() -> None:
    assert parse_guard_tree(TREE)[0][2].code == ""


@pytest.mark.parametrize(
    ("leaf", "code", "user_code", "place", "function"),
    [
        ("ID_MATCH: ___check_obj_id(G['torch'], 13), type=<class 'module'>  # torch.abs(x)  # a.py:7 in f",
         "___check_obj_id(G['torch'], 13), type=<class 'module'>", "torch.abs(x)", Place("a.py", 7), "f"),
        ("DEFAULT_DEVICE: utils_device.CURRENT_DEVICE == None          # _dynamo/output_graph.py:484 in init",
         "utils_device.CURRENT_DEVICE == None", None, Place("_dynamo/output_graph.py", 484), "init"),
        ("EQUALS_MATCH: L['k'] == 'a  # b'                             # if k == 'a  # b':  # a.py:1 in f",
         "L['k'] == 'a  # b'", "if k == 'a  # b':", Place("a.py", 1), "f"),
        ("EQUALS_MATCH: L['k'] == 'a  # b'", "L['k'] == 'a  # b'", None, None, None),
        ('EQUALS_MATCH: L[\'k\'] == "it\'s"  # k == 1  # a b/c.py:2 in <genexpr>',
         'L[\'k\'] == "it\'s"', "k == 1", Place("a b/c.py", 2), "<genexpr>"),
        ("TYPE_MATCH: ___check_type_id(L['x'], 1), type=<class 'int'>  # x + 1  # a.py:3 in f (HINT: type int)",
         "___check_type_id(L['x'], 1), type=<class 'int'>  # type int", "x + 1", Place("a.py", 3), "f"),
        ("TYPE_MATCH: ___check_type_id(L['x'], 1)                      (HINT: type int)",
         "___check_type_id(L['x'], 1)  # type int", None, None, None),
        ("LAMBDA_GUARD: not math.isnan(L['x'])  # implicit guard for float input",
         "not math.isnan(L['x'])  # implicit guard for float input", None, None, None),
        ("LAMBDA_GUARD: 4 <= L['x'].size()[0]  # (_prims/__init__.py:1791 in _meta)",
         "4 <= L['x'].size()[0]", None, Place("_prims/__init__.py", 1791), "_meta"),
        ("LAMBDA_GUARD: 4 <= L['x'].size()[0]  # if n > 3:  # a.py:5 in f (_dynamo/variables/tensor.py:26 in e)",
         "4 <= L['x'].size()[0]  # _dynamo/variables/tensor.py:26 in e", "if n > 3:", Place("a.py", 5), "f"),
        ("ID_MATCH: ___check_obj_id(L['x'], 1)                         # <unknown>",
         "___check_obj_id(L['x'], 1)", None, None, None),
        ("EQUALS_MATCH: L['x'] == <it's odd>  # x  # a.py:1 in f",
         "L['x'] == <it's odd>", "x", Place("a.py", 1), "f"),
        ("NO_TENSOR_ALIASING", "", None, None, None),
    ],
)  # fmt: skip
def test_leaves(
    leaf: str, code: str, user_code: str | None, place: Place | None, function: str | None
) -> None:
    check = only_check(leaf)
    assert (check.code, check.user_code, check.place, check.function) == (code, user_code, place, function)


@pytest.mark.parametrize(
    "source",
    ["L['d'][', accessed_by=']", "L['it\\'s, type=']", 'L["a"].b', "dict(type(L['x']).__dict__)['f']"],
)
def test_a_source_may_look_like_what_follows_it(source: str) -> None:
    assert only_check("NONE_MATCH: x is None", source).source == source


def test_a_check_may_have_several_lines() -> None:
    check = only_check("EQUALS_MATCH: L['x'] == Mesh(\n  a=1)  # use(x)  # a.py:3 in f")
    assert check.code == "L['x'] == Mesh(\n  a=1)"
    assert check.place == Place("a.py", 3)


def test_no_tree_is_no_checks() -> None:
    assert parse_guard_tree("") == ((), None)


_PIECES = st.one_of(
    st.text(),
    st.sampled_from(
        [
            "\n", "| ", "+- ", "+- GuardManager: source=", "+- EQUALS_MATCH: ", "NO_TENSOR_ALIASING", "'", '"',
            "\\", "  # ", ", accessed_by=", ", type=", "a.py:1 in f", " (HINT: ", ")", "Guard latency = ", " us",
        ]
    ),
)  # fmt: skip


@given(st.lists(_PIECES).map("".join))
def test_every_leaf_is_a_check_whatever_the_text_is(text: str) -> None:
    leaves = re.findall(r"^[| ]*\+- ([A-Z][A-Z_0-9]+)(?::.*)?$", text, re.MULTILINE)
    checks, _ = parse_guard_tree(text)
    assert [check.type for check in checks] == leaves


def test_long_hostile_lines_take_no_time() -> None:
    for filler in ("'", "  # ", "a:1 in ", "\\'", ", type", " " * 4, "(HINT: "):
        parse_guard_tree(f"+- EQUALS_MATCH: {filler * 20_000}\n+- GuardManager: source={filler * 20_000}\n")


def test_of_the_entry_that_failed_what_bears_on_the_failure_is_read_though_nobody_asked() -> None:
    def read(*reasons: str) -> Process:
        return process_of(
            record({"dynamo_cpp_guards_str": {}, **FRAME}, TREE),
            *(artifact("recompile_reasons", json.dumps([reason])) for reason in reasons),
        )

    process = read("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5")
    (entry,) = process.recompiled_entries
    assert entry.compile_id == CompileId(0, 0)
    assert [check.type for check in entry.checks or ()] == [
        "TENSOR_MATCH",
        "NO_TENSOR_ALIASING",
        "LAMBDA_GUARD",
    ]
    assert process.guard_sets == []
    assert read().recompiled_entries == []
    assert read("7/0: tensor 'x' size mismatch at index 0. expected 4, actual 5").recompiled_entries == []
