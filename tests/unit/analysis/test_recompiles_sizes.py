"""What is said of the values that came where torch's reason for a recompile has none of them, or one."""

from pathlib import Path

import pytest

from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import (
    CompileId,
    GuardCheck,
    GuardSet,
    Place,
    Process,
    RecompileReasons,
    Specialization,
    StackFrame,
    Symbol,
)
from dynamo_core.recording.guards import parse_guard_failure
from dynamo_core.remedies.recompile_rules import recompile_advice
from support.made import compiled, with_fields

LINE = StackFrame(Place("/home/me/train.py", 4), "f", "y = x * 2")
TENSOR = (
    "check_tensor(L['x'], Tensor, DispatchKeySet(CPU), torch.float32, device=None, requires_grad=False, "
    "size=[{}, 3], stride=[3, 1])"
)


def entry(number: int, kind: str, code: str) -> GuardSet:
    check = GuardCheck(kind, "L['x']", code, LINE.text, LINE.place, "f")
    return GuardSet(CompileId(0, number), checks=(check,))


def cause(reason: str, *entries: GuardSet, **fields: object) -> RecompileCause:
    """The cause of the last recompile, which torch gave this reason for."""
    last = len(entries) - 1
    compiles = [compiled(0), *(compiled(number, reason="a reason") for number in range(1, last + 1))]
    told = RecompileReasons(CompileId(0, last), (parse_guard_failure(reason),))
    known = {"compiles": compiles, "recompile_reasons": [told], "torch_version": "2.13.0", **fields}
    process = with_fields(Process(Path("s.log"), recompiled_entries=list(entries)), known)
    (frame,) = frames_recompiled([process])
    return causes_of(frame)[-1]


def advice(of: RecompileCause) -> str:
    return " ".join(each.text for each in recompile_advice(of))


def test_sizes_that_torch_does_not_name_are_those_that_were_compiled_for() -> None:
    """As `no_values.py` has it: 8 rows, then 4 that became dynamic, then 1."""
    entries = [entry(n, "TENSOR_MATCH", TENSOR.format(size)) for n, size in enumerate((8, None, 1))]
    dynamic = Symbol(CompileId(0, 1), "s77", "4", "L['x'].size()[0]", LINE.place, (LINE,))
    found = cause("0/1: 2 <= x.size()[0]", *entries, symbols=[dynamic])
    assert (found.values, found.values_that_came) == ([], ["8", "4", "1"])
    assert "takes several values (8, 4, 1)" in advice(found)
    assert cause_sentence(found).endswith("apart from all other sizes; it was compiled for 8, 4, 1")


@pytest.mark.parametrize("older", [1, 0])
def test_an_entry_that_fails_on_a_relation_alone_is_nearer_than_a_newer_one(older: int) -> None:
    """torch checks relations last: the older entry is for the mode that came, the newer one is not.

    Its size was dynamic already, whatever is recorded of that: a fixed one has no range.
    """
    dynamic = [Symbol(CompileId(0, n), "s77", "4", "L['x'].size()[0]", LINE.place, (LINE,)) for n in (1, 2)]
    compiles = [compiled(0), *(compiled(number, reason="a reason") for number in (1, 2, 3))]
    failures = [
        parse_guard_failure("0/2: mode == 'exact'"),
        parse_guard_failure(f"0/{older}: 2 <= x.size()[0]"),
    ]
    told = RecompileReasons(CompileId(0, 3), tuple(failures))
    known = {"compiles": compiles, "recompile_reasons": [told], "symbols": dynamic}
    (frame,) = frames_recompiled([with_fields(Process(Path("s.log")), known)])
    assert frame.nearest(compiles[3]) == failures[1]


def test_an_entry_that_had_passed_what_others_failed_on_is_nearer() -> None:
    """The newest is for another size; an older one for this size, and another count, which comes later."""
    checks = [
        GuardSet(
            CompileId(0, number),
            checks=(
                GuardCheck("TENSOR_MATCH", "L['x']", TENSOR.format(7 - number), None, None, None),
                GuardCheck("EQUALS_MATCH", "L['n']", f"L['n'] == {number}", None, None, None),
            ),
        )
        for number in (0, 1)
    ]
    failures = [
        parse_guard_failure("0/1: tensor 'x' size mismatch at index 0. expected 6, actual 7"),
        parse_guard_failure("0/0: n == 0"),
    ]
    compiles = [compiled(0), compiled(1, reason="a reason"), compiled(2, reason="a reason")]
    told = RecompileReasons(CompileId(0, 2), tuple(failures))
    known = {"compiles": compiles, "recompile_reasons": [told]}
    process = with_fields(Process(Path("s.log"), recompiled_entries=checks), known)
    (frame,) = frames_recompiled([process])
    assert frame.nearest(compiles[2]) == failures[1]


@pytest.mark.parametrize(
    ("check", "line", "is_apart"),
    [
        ("1 <= n <= 24", "m[n : n + 8] = 0", True),
        ("1 <= n <= 24", "if n > 0:", False),
        ("n != 0", "", True),
        ("3 <= n", "m[n : n + 8] = 0", False),
    ],
)
def test_a_number_that_was_0_is_compiled_apart_and_decides_nothing(
    check: str, line: str, is_apart: bool
) -> None:
    user_line = f"{line}  # /home/me/train.py:4 in f" if line else ""
    torchs = "(_functorch/_aot_autograd/autograd_cache.py:1210 in evaluate_guards)"
    dynamic = [Symbol(CompileId(0, 0), "s7", "5", "L['n']", LINE.place, (LINE,))]
    values = RecompileReasons(
        CompileId(0, 1), (parse_guard_failure(f"0/0: {check}  # {torchs}{line and ' and '}{user_line}"),)
    )
    compiles = [compiled(0), compiled(1, reason="a reason")]
    known = {"compiles": compiles, "recompile_reasons": [values], "symbols": dynamic}
    process = with_fields(Process(Path("s.log")), {**known, "torch_version": "2.13.0"})
    process.symbols.append(Symbol(CompileId(0, 1), "s7", "0", "L['n']", LINE.place, (LINE,)))
    (frame,) = frames_recompiled([process])
    (found,) = causes_of(frame)
    assert advice(found).startswith("let it be") is is_apart
    assert "autograd_cache" not in advice(found)


def test_a_size_that_was_equal_to_one_that_is_needed_can_be_dynamic() -> None:
    rows, columns = (f"L['x'].size()[{number}]" for number in (0, 1))
    needed = [
        Specialization(CompileId(0, 0), (rows, columns), "8", (LINE,)),
        Specialization(CompileId(0, 1), (columns,), "8", (LINE,)),
    ]
    dynamic = [Symbol(CompileId(0, 1), "s77", "6", rows, LINE.place, (LINE,))]
    entries = [entry(n, "TENSOR_MATCH", TENSOR.format(size)) for n, size in enumerate((8, None))]
    reason = "0/0: tensor 'x' size mismatch at index 0. expected 8, actual 6"
    found = cause(reason, *entries, symbols=dynamic, specializations=needed)
    assert not found.is_needed_as_number
    assert cause(reason, *entries, symbols=dynamic, specializations=needed[:1]).is_needed_as_number is False
    assert cause(reason, *entries, symbols=[], specializations=needed).is_needed_as_number


def test_without_any_value_no_empty_brackets_are_shown() -> None:
    dynamic = Symbol(CompileId(0, 1), "s77", "not a hint", "L['y']", LINE.place, (LINE,))
    found = cause("0/1: 2 <= x.size()[0]", *(GuardSet(CompileId(0, n)) for n in range(3)), symbols=[dynamic])
    assert found.values_that_came == []
    assert "takes several values, and torch compiles 0 and 1 apart" in advice(found)
    assert "()" not in cause_sentence(found).replace("size()", "")


def test_a_type_that_came_is_read_from_the_guard_that_was_made_for_it() -> None:
    check = "___check_type_id(L['x'], {}), type=<class '{}'>"
    reason = "0/0: ___check_type_id(x, 7), type=<class 'list'>"
    lists = entry(0, "TYPE_MATCH", check.format(7, "list"))
    tuples = entry(1, "TYPE_MATCH", check.format(8, "tuple"))
    assert "`x` is of different types (list, tuple)" in advice(cause(reason, lists, tuples))
    unknown = GuardSet(CompileId(0, 1))
    assert "`x` is of different types (list and others)" in advice(cause(reason, lists, unknown))


RANGE = "2 <= L['x'].size()[0] <= 15  # return F.conv1d(  # nn/modules/conv.py:380 in _conv_forward"


def bounded(reason: str, first: int, code: str, place: Place) -> RecompileCause:
    """The cause of a recompile that made a size dynamic, whose new version has this check on it."""
    static = entry(0, "TENSOR_MATCH", TENSOR.format(first))
    check = GuardCheck("LAMBDA_GUARD", "", code, "return F.conv1d(", place, None)
    dynamic = Symbol(CompileId(0, 1), "s77", "8", "L['x'].size()[0]", LINE.place, (LINE,))
    return cause(reason, static, GuardSet(CompileId(0, 1), checks=(check,)), symbols=[dynamic])


def test_a_version_that_excludes_the_size_before_is_no_version_for_both() -> None:
    library = Place("/v/lib/python3.11/site-packages/torch/nn/modules/conv.py", 380)
    reason = "0/0: tensor 'x' size mismatch at index 0. expected {}, actual 8"
    found = bounded(reason.format(32), 32, RANGE, library)
    assert found.is_needed_as_number
    assert advice(found).startswith("`y = x * 2` calls what computes sizes of 2 to 15 in one way")
    within = bounded(reason.format(12), 12, RANGE, library)
    assert not within.is_needed_as_number
    assert "drop_last" not in advice(within)
    of_the_program = bounded(reason.format(32), 32, RANGE, LINE.place)
    assert advice(of_the_program).startswith("decide by the size of `x` at dimension 0 outside")


@pytest.mark.parametrize(
    ("states", "names", "shown"),
    [
        (('{"grad_mode":true}', '{"grad_mode":false}'), "grad_mode ", ("grad mode on", "grad mode off")),
        (
            ('{"autocast_state":{"enabled":[false]}}', '{"autocast_state":{"enabled":[true]}}'),
            "autocast(cpu)_enabled ",
            ("autocast off", "autocast on"),
        ),
        # What reads alike tells nothing, nor does a state that lacks the setting.
        (('{"num_threads":2}', '{"num_threads":2}'), "num_threads", (None, None)),
        (('{"num_threads":2}', '{"num_threads":4}'), "num_threads default_dtype", (None, None)),
    ],
)
def test_settings_of_torch_are_read_from_the_guards_of_both_versions(
    states: tuple[str, str], names: str, shown: tuple[str | None, str | None]
) -> None:
    entries = [
        entry(n, "GLOBAL_STATE", f"___check_global_state() against {each}") for n, each in enumerate(states)
    ]
    found = cause(f"0/0: GLOBAL_STATE changed: {names}", *entries)
    ((compile_, failure),) = found.met
    assert failure is not None
    assert (found.frame.expected(compile_, failure), found.frame.actual(compile_, failure)) == shown


@pytest.mark.parametrize(("came", "is_needed"), [("1", False), ("5", True)])
def test_a_version_that_needs_a_size_is_not_why_1_did_not_fit_it(came: str, is_needed: bool) -> None:
    """Torch compiles 0 and 1 apart, whatever a line needs."""
    rows = "L['x'].size()[0]"
    needed = [Specialization(CompileId(0, 0), (rows,), "4", (LINE,))]
    reason = f"0/0: tensor 'x' size mismatch at index 0. expected 4, actual {came}"
    found = cause(reason, *(GuardSet(CompileId(0, n)) for n in range(2)), symbols=[], specializations=needed)
    assert found.is_needed_as_number is is_needed
