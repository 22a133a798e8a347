"""What rewritten bytecode says as Python, in the spellings of Python 3.10, 3.11, 3.13 and 3.14."""

import pytest

from dynamo_core.analysis.bytecode.rewritten import (
    instruction_text,
    plain_argument,
    read_rewritten,
    without_marks,
)
from dynamo_core.model import Instruction
from support.bytecode_by_hand import GRAPH, code


def read(text: str) -> list[str]:
    return [
        "    " * statement.depth + statement.text for statement in read_rewritten(code(text), {}).statements
    ]


@pytest.mark.parametrize(
    "argument", ["NULL + torch", "torch + NULL", "NULL|self + torch", "torch + NULL|self", "torch"]
)
def test_the_null_beside_a_callable_is_no_part_of_its_name(argument: str) -> None:
    assert plain_argument(Instruction(0, "LOAD_GLOBAL", argument, 1, None)) == "torch"


def test_a_jump_is_shown_by_offset_where_dis_writes_a_label() -> None:
    assert (
        instruction_text(Instruction(0, "POP_JUMP_IF_FALSE", "to L1", 1, 38)) == "POP_JUMP_IF_FALSE (to 38)"
    )


PYTHON_310 = """
    1 LOAD_GLOBAL f
    1 LOAD_FAST a
    1 LOAD_FAST b
    1 ROT_TWO
    1 CALL_FUNCTION 2
    1 STORE_FAST out
    1 LOAD_GLOBAL g
    1 LOAD_FAST out
    1 LOAD_METHOD sum
    1 CALL_METHOD 0
    1 LOAD_CONST ('key',)
    1 CALL_FUNCTION_KW 1
    1 RETURN_VALUE
"""
PYTHON_311 = """
    1 LOAD_GLOBAL NULL + f
    1 LOAD_FAST a
    1 LOAD_FAST b
    1 SWAP 2
    1 PRECALL 2
    1 CALL 2
    1 STORE_FAST out
    1 LOAD_GLOBAL NULL + g
    1 LOAD_FAST out
    1 LOAD_METHOD sum
    1 PRECALL 0
    1 CALL 0
    1 KW_NAMES ('key',)
    1 PRECALL 1
    1 CALL 1
    1 RETURN_VALUE
"""
PYTHON_313 = """
    1 LOAD_GLOBAL f + NULL
    1 LOAD_FAST_LOAD_FAST a, b
    1 SWAP 2
    1 CALL 2
    1 STORE_FAST out
    1 LOAD_GLOBAL g + NULL
    1 LOAD_FAST out
    1 LOAD_ATTR sum + NULL|self
    1 CALL 0
    1 LOAD_CONST ('key',)
    1 CALL_KW 1
    1 RETURN_VALUE
"""
PYTHON_314 = PYTHON_313.replace("LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW").replace(
    "LOAD_FAST out", "LOAD_FAST_BORROW out"
)


@pytest.mark.parametrize("text", [PYTHON_310, PYTHON_311, PYTHON_313, PYTHON_314])
def test_calls_read_the_same_in_every_python(text: str) -> None:
    assert read(text) == ["out = f(b, a)", "result_1 = out.sum()", "return g(key=result_1)"]


@pytest.mark.parametrize(
    "call",
    [
        "1 PUSH_NULL\n1 LOAD_FAST f\n1 LOAD_FAST a\n1 CALL_FUNCTION_EX 0",  # up to Python 3.12
        "1 LOAD_FAST f\n1 PUSH_NULL\n1 LOAD_FAST a\n1 CALL_FUNCTION_EX 0",
        "1 LOAD_FAST f\n1 PUSH_NULL\n1 LOAD_FAST a\n1 PUSH_NULL\n1 CALL_FUNCTION_EX",  # from 3.14 on
        "1 LOAD_FAST f\n1 LOAD_FAST a\n1 CALL_FUNCTION_EX 0",  # of 3.10
    ],
)
def test_a_call_of_unpacked_arguments_takes_the_null_beside_its_callable(call: str) -> None:
    within = f"1 LOAD_GLOBAL g + NULL\n1 LOAD_FAST x\n{call}\n1 CALL 2\n1 RETURN_VALUE"
    assert read(within)[-1] in ("return g(x, f(*a))", "return g(x, result_1)")
    named = call.replace("1 PUSH_NULL\n1 CALL", "1 LOAD_FAST k\n1 CALL").replace("EX 0", "EX 1")
    named = named if "LOAD_FAST k" in named else named.replace("1 CALL_", "1 LOAD_FAST k\n1 CALL_")
    assert "f(*a, **k)" in read(f"{named}\n1 RETURN_VALUE")[-1]


def test_lists_that_dynamo_packs_for_a_resume_function_are_evaluated() -> None:
    packed = """
        1 LOAD_GLOBAL __resume_at_24_2
        1 LOAD_FAST a
        1 LOAD_FAST b
        1 BUILD_LIST 2
        1 COPY 1
        1 LOAD_CONST -1
        1 BINARY_SUBSCR
        1 SWAP 2
        1 LOAD_CONST -1
        1 DELETE_SUBSCR
        1 BUILD_LIST 1
        1 BUILD_LIST 0
        1 SWAP 2
        1 LIST_EXTEND 1
        1 PUSH_NULL
        1 SWAP 3
        1 SWAP 2
        1 CALL_FUNCTION_EX 0
        1 RETURN_VALUE
    """
    told = read_rewritten(code(packed), {})
    assert [(statement.text, statement.calls) for statement in told.statements] == [
        ("return __resume_at_24_2(b)", "__resume_at_24_2")
    ]


@pytest.mark.parametrize("constant", ["slice(None, None, None)", "slice(0, 2, None)"])
def test_a_slice_may_be_a_constant(constant: str) -> None:
    packed = "1 LOAD_FAST a\n1 LOAD_FAST b\n1 BUILD_LIST 2"
    assert read(f"{packed}\n1 LOAD_CONST {constant}\n1 BINARY_OP []\n1 RETURN_VALUE") == ["return [a, b]"]


def test_reading_ends_where_something_is_not_understood() -> None:
    told = read_rewritten(
        code("1 LOAD_FAST x\n1 STORE_FAST y\n1 LOAD_FAST y\n1 GET_ITER\n1 RETURN_VALUE"), {}
    )
    assert [statement.text for statement in told.statements] == ["y = x"]
    assert told.stopped_at == 3


def test_a_value_is_not_told_by_a_name_that_has_changed_since() -> None:
    told = read_rewritten(code("1 LOAD_FAST x\n1 LOAD_CONST 1\n1 STORE_FAST x\n1 RETURN_VALUE"), {})
    assert (told.statements, told.stopped_at) == ([], 2)


def test_keywords_whose_names_were_not_recorded_are_not_guessed() -> None:
    assert (
        read_rewritten(code("1 LOAD_GLOBAL NULL + f\n1 LOAD_CONST 1\n1 KW_NAMES 2\n1 CALL 1"), {}).stopped_at
        == 2
    )


def test_marks_for_the_profiler_are_left_out_in_all_their_shapes() -> None:
    text = f"""
        1 LOAD_CONST None
        1 STORE_FAST tmp_1
        1 LOAD_GLOBAL __import_torch_dot_autograd_dot_profiler
        1 LOAD_ATTR _is_profiler_enabled
        1 TO_BOOL
        1 POP_JUMP_IF_FALSE ->13
        1 LOAD_GLOBAL __import_torch_dot__dynamo_dot_utils
        1 LOAD_ATTR record_pregraph_bytecode_enter
        1 PUSH_NULL
        1 CALL 0
        1 STORE_FAST tmp_1
        1 LOAD_CONST None
        1 JUMP_FORWARD ->14
        1 LOAD_CONST None
        1 POP_TOP
        1 LOAD_GLOBAL {GRAPH} + NULL
        1 CALL 0
        1 RETURN_VALUE
    """
    told = read_rewritten(code(text), {GRAPH: "graph_1"})
    assert [statement.text for statement in without_marks(told)] == ["return graph_1()"]
