"""torch's reasons for recompiles, in the spellings of several versions."""

import pytest

from dynamo_core.model import CompileId, Place
from dynamo_core.recording.guards import parse_guard_failure

OF_ONE = ". Guard failed on a parameter, consider using torch._dynamo.config.force_parameter_static_shapes"
OF_W = "requires_grad", "w"


@pytest.mark.parametrize(
    ("text", "kind", "source", "expected", "actual"),
    [
        ("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5", "size", "x", "4", "5"),
        ("0/0: tensor 'x[0]' stride mismatch at index 1. expected 4, actual 1", "stride", "x[0]", "4", "1"),
        ("0/0: tensor 'x' dtype mismatch. expected Float, actual Double", "dtype", "x", "Float", "Double"),
        ("0/0: tensor 'x' rank mismatch. expected 1, actual 2", "rank", "x", "1", "2"),
        (
            "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=1",
            "requires_grad",
            "x",
            "True",
            "False",
        ),
        (f"0/0: tensor 'w' requires_grad mismatch. expected requires_grad=0{OF_ONE}", *OF_W, "False", "True"),
        (
            f"0/0: tensor 'w' dtype mismatch. expected Float, actual Half{OF_ONE}",
            "dtype",
            "w",
            "Float",
            "Half",
        ),
        ("1/2: len(xs) == 3", "length", "xs", "3", None),
        ("1/2: mode == 'train'", "value", "mode", "'train'", None),
        ("1/2: self.head is None", "value", "self.head", "None", None),
        ("1/2: self.head is not None", "value", "self.head", "not None", "None"),
        ("1/2: ___check_type_id(n, 94), type=<class 'int'>", "type", "n", "int", None),
        ("1/2: ___check_obj_id(fn, 1397)", "identity", "fn", None, None),
        ("1/2: ___check_global_state()", "global state", None, None, None),
        ("1/2: Cache line invalidated because L['m'] got deallocated", "freed object", "m", None, None),
        (
            "1/2: hasattr(x, '_dynamo_dynamic_indices') == False",
            "attribute",
            "x",
            "without _dynamo_dynamic_indices",
            None,
        ),
        ("1/2: not ___dict_contains('k', d)", "dictionary", "d", "without 'k'", None),
        ("1/2: ___dict_contains('k', d)", "dictionary", "d", "with 'k'", None),
        ("1/2: set.__contains__(d, 'k')", "set", "d", "with 'k'", None),
        ("1/2: not set.__contains__(self.d['a'], 'k, l')", "set", "self.d['a']", "without 'k, l'", None),
        ("1/2: a.size()[0] == b.size()[0]", "relation of sizes", None, None, None),
        ("1/2: 2 <= a.size()[1] <= 6", "relation of sizes", "a", None, None),
        ("1/2: lr > 0.3", "comparison", "lr", None, None),
        ("1/2: 2 <= n <= 6", "comparison", "n", None, None),
        ("1/2: 6 < n", "comparison", "n", None, None),
        ("1/2: len(batch) != 1", "length", "batch", "1", None),
        ("1/2: not xs", "length", "xs", "0", None),
        ("1/2: tensor 'w' size mismatch at index 0. expected 3, actual 4. Guard …", "size", "w", "3", "4"),
        (
            "1/2: expected type of 'y' to be a tensor type, ' but found <class 'int'>",
            "type",
            "y",
            "a tensor",
            "int",
        ),
        ("1/2: something new in torch", "other", None, None, None),
    ],
)
def test_kinds(text: str, kind: str, source: str | None, expected: str | None, actual: str | None) -> None:
    failure = parse_guard_failure(text)
    assert (failure.kind, failure.source, failure.expected, failure.actual) == (
        kind,
        source,
        expected,
        actual,
    )
    assert failure.entry == CompileId(int(text[0]), int(text[2]))


def test_comment_hint_and_stack_are_told_from_the_check() -> None:
    failure = parse_guard_failure(
        "1/0: self.step == 0          # self.step += 1  # ork/x.py:13 in forward (HINT: make it dynamic.)\n"
        'User stack trace:\n  File "/work/x.py", line 13, in forward\n    self.step += 1'
    )
    assert failure.check == "self.step == 0"
    assert failure.place == Place("/work/x.py", 13)
    assert failure.user_code == "self.step += 1"
    assert failure.hint == "make it dynamic."


def test_torchs_own_line_behind_a_check_is_no_line_of_the_user() -> None:
    failure = parse_guard_failure(
        "3/0: a.size()[0] == 4  # if a.size(0) == 4:  # review/p.py:51 in dyn "
        "(_dynamo/variables/tensor.py:2606 in x)"
    )
    assert failure.check == "a.size()[0] == 4"
    assert failure.place == Place("review/p.py", 51)
    assert failure.user_code == "if a.size(0) == 4:"
    assert parse_guard_failure("3/0: n == 4  # <string>:3 in f").place is None


def test_a_comment_alone_gives_the_place() -> None:
    failure = parse_guard_failure("0/1: n == 2   # return x * n  # ork/x.py:5 in scale")
    assert (failure.check, failure.place, failure.user_code) == (
        "n == 2",
        Place("ork/x.py", 5),
        "return x * n",
    )
