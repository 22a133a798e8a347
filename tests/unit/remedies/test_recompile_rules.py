"""Remedies for recompiles: each row names what bears it out, and is given only where it is true."""

from dataclasses import replace
from typing import Any

import pytest

from dynamo_core.analysis.guard_failures import what_differed
from dynamo_core.analysis.recompile_causes import RecompileCause, causes_of
from dynamo_core.analysis.recompile_sentences import cause_sentence
from dynamo_core.analysis.recompiles import frames_recompiled
from dynamo_core.model import (
    CompileId,
    Frame,
    Graph,
    Interventions,
    Optimizer,
    Place,
    Specialization,
    StackFrame,
)
from dynamo_core.remedies.recompile_rules import TABLE, recompile_advice
from dynamo_core.remedies.rules import Assignment, Change
from dynamo_core.shared.failed_guard import without_stack_names
from support.made import decided
from support.made_causes import FILE, causes, entry, opened, process, size
from support.places import BROKEN_PROGRAMS

DYNAMIC_SOURCES = "TORCH_COMPILE_DYNAMIC_SOURCES"


def test_every_row_names_programs_that_are_there_and_each_program_has_one_row() -> None:
    remedies = [each for rule in TABLE for each in rule.remedies]
    cured = [name for each in remedies for name in each.cures]
    named = {*cured, *(name for each in remedies for name in each.not_for)}
    there = {
        file.stem
        for file in BROKEN_PROGRAMS.glob("recompile_*.py")
        if not file.stem.endswith((".cured", "_reset", "_in_loop"))
    }
    assert named - there == set()
    assert sorted(cured) == sorted(there)


def edit_of_first(cause: RecompileCause) -> str | None:
    change = recompile_advice(cause)[0].change
    return None if change is None else change.edit


def first_change(cause: RecompileCause) -> tuple[Assignment, ...]:
    change = recompile_advice(cause)[0].change
    assert change is not None
    return (*change.environment, *change.settings, *change.arguments)


def test_a_size_that_varies_is_named_as_torch_spells_it() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()])
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['x']:0"),)


def test_what_varied_along_with_it_is_named_too() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened(), opened("L['x'].size()[1]"), opened("L['k']")])
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['x']:0,L['x']:1,L['k']"),)


def test_a_number_that_has_the_name_of_a_tensor_is_not_named_beside_its_dimension() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened(), opened("L['x']"), opened("L['k']")])
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['x']:0,L['k']"),)


def test_all_that_varied_is_to_be_marked_and_each_once() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened(), opened("L['y'].size()[1]"), opened("L['k']")])
    (marked,) = (each.text for each in recompile_advice(cause) if "mark_dynamic" in each.text)
    both = "`torch._dynamo.mark_dynamic(x, 0)` and `torch._dynamo.mark_dynamic(y, 1)`"
    assert marked == f"call {both} on what is passed, before the call."


def test_what_torchs_wrapper_of_a_module_calls_args_is_an_argument_of_the_users_call() -> None:
    wrapper = Place("/venv/site-packages/torch/_dynamo/external_utils.py", 68)
    call = StackFrame(Place(FILE, 22), "train", "loss = model(batch).sum()")
    one = process(
        ["0/0: tensor 'args[0]' size mismatch at index 1. expected 4, actual 5"],
        symbols=[opened("L['args'][0].size()[1]"), opened("L['input'].size()[0]")],
        frames=[Frame("inner", wrapper, "compiled", None, True, False, CompileId(0, 1), called_from=call)],
    )
    one.compiles[:] = [replace(each, place=wrapper) for each in one.compiles]
    (cause,) = causes_of(*frames_recompiled([one]))
    (marked,) = (each.text for each in recompile_advice(cause) if "mark_dynamic" in each.text)
    assert marked == (
        "call `torch._dynamo.mark_dynamic(…, 1)` on the first argument and "
        "`torch._dynamo.mark_dynamic(…, 0)` on `input` of the call at /home/me/train.py:22, before the call."
    )


def test_a_number_that_had_changed_by_then_is_said_beside_it() -> None:
    (cause,) = causes(["0/0: epoch == 0"], symbols=[opened("L['epoch']"), opened("L['self'].temperature")])
    said = cause_sentence(cause)
    assert said.endswith("`self.temperature` had changed by then too, which alone would have been enough")
    (alone,) = causes(["0/0: epoch == 0"], symbols=[opened("L['epoch']"), opened("L['x'].size()[1]")])
    assert "too" not in cause_sentence(alone), "sizes are said with the remedy"


def test_a_frame_that_is_compiled_below_one_that_runs_eager_goes_with_that() -> None:
    call = StackFrame(Place("me/train.py", 22), "forward", "x = x + layer(x)")
    compiled_alone = Frame(
        "f", Place("me/train.py", 9), "compiled", None, True, False, CompileId(0, 1), called_from=call
    )
    fallbacks = [
        Frame("forward", Place("me/train.py", line), "failed", "a break", False, False, None, method=method)
        for line, method in ((9, "Encoder.forward"), (19, "Net.forward"), (30, "Other.forward"))
    ]
    reason = "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
    (cause,) = causes([reason], frames=[compiled_alone, *fallbacks])
    assert "only because `Net.forward`, which calls it, runs eager" in recompile_advice(cause)[0].text
    (alone,) = causes([reason], frames=[compiled_alone])
    assert recompile_advice(alone)[0].text.startswith("`x` requires a gradient in some calls only")


def test_what_requires_a_gradient_is_never_to_be_cut_off_from_it() -> None:
    reason = "0/0: tensor 'x' requires_grad mismatch. expected requires_grad=0"
    (unknown,) = causes([reason])
    (advice,) = recompile_advice(unknown)
    assert "`requires_grad_()`" in advice.text and "detach" not in advice.text
    (trained,) = causes([reason], optimizers=[Optimizer(name="SGD", module="torch.optim.sgd", file="sgd.py")])
    assert recompile_advice(trained) == []
    assert cause_sentence(trained).endswith("there is nothing to cure")


@pytest.mark.parametrize(
    ("modes", "is_of_call"), [((True, False), True), ((False, False), False), ((), False)]
)
def test_a_call_in_another_mode_is_no_tensor_that_was_made_in_one(
    modes: tuple[bool, ...], is_of_call: bool
) -> None:
    call = StackFrame(Place(FILE, 20), "main", "f(x)")
    frames = [
        Frame(
            "f",
            Place(FILE, 3),
            "compiled",
            None,
            True,
            False,
            CompileId(0, number),
            called_from=call,
            in_inference_mode=mode,
        )
        for number, mode in enumerate(modes)
    ]
    keys = "DispatchKeySet(CPU, ADInplaceOrView)", "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU)"
    reason = f"0/0: tensor 'x' dispatch key set mismatch. expected {keys[0]}, actual {keys[1]}"
    (cause,) = causes([reason], frames=frames)
    assert cause.is_of_inference_mode is is_of_call
    assert ("the same mode" in recompile_advice(cause)[0].text) is is_of_call
    assert (cause.place == call.place) is is_of_call


@pytest.mark.parametrize(
    ("numbers", "version", "advice"),
    [
        ((1, 2), "2.13.0", f"pass `isolate_recompiles=True` to the call of `compile` at {FILE}:21: "),
        ((1, 2), "2.12.0", "let torch keep as many"),
        ((1, 1), "2.13.0", "is another function in some calls"),
        ((1, None), "2.13.0", "is another function in some calls"),
    ],
)
def test_functions_of_one_code_are_known_by_their_calls_of_torch_compile(
    numbers: tuple[int | None, ...], version: str, advice: str
) -> None:
    frames = [
        Frame(
            "wrapper",
            Place(FILE, 3),
            "compiled",
            None,
            True,
            False,
            CompileId(0, compile_),
            compile_call=number,
            calls_of_line=10,
            compiled_by=StackFrame(Place(FILE, 21), "main", "f.compile()"),
        )
        for compile_, number in enumerate(numbers)
    ]
    reason = ["0/0: ___check_obj_id(f.__code__, 7), type=<class 'code'>"]
    (below,) = causes(reason, frames=frames, torch_version=version)
    is_shared = numbers == (1, 2)
    assert below.functions_with_this_code == (10 if is_shared else None)
    assert (recompile_advice(below) == []) is is_shared
    assert cause_sentence(below).endswith("there is nothing to cure") is is_shared
    one = process(reason, frames=frames, torch_version=version)
    one.compiles[-1] = replace(one.compiles[-1], fail_reason="recompile_limit reached")
    (frame,) = frames_recompiled([one])
    (at_limit,) = causes_of(frame)
    assert advice in recompile_advice(at_limit)[0].text


@pytest.mark.parametrize(("numbers", "is_shared"), [((2, 4), True), ((2, 2), False)])
def test_arguments_of_torchs_own_wrapper_are_of_what_was_compiled_apart(
    numbers: tuple[int, int], is_shared: bool
) -> None:
    wrapper = Place("/venv/torch/_dynamo/external_utils.py", 68)
    frames = [
        Frame("inner", wrapper, "compiled", None, True, False, CompileId(0, compile_), compile_call=number)
        for compile_, number in enumerate(numbers)
    ]
    known = process(["0/0: len(args) == 1"], frames=frames)
    known.compiles[:] = [replace(each, name="inner", place=wrapper) for each in known.compiles]
    (frame,) = frames_recompiled([known])
    (cause,) = causes_of(frame)
    assert (recompile_advice(cause) == []) is is_shared
    assert cause_sentence(cause).endswith("there is nothing to cure") is is_shared


def test_a_size_that_is_marked_static_is_to_lose_the_mark() -> None:
    mark = "((getattr(L['x'], '_dynamo_static_indices', set()).issubset({%s})) if hasattr(…) else True)"
    (marked,) = causes([size(4, 5)], recompiled_entries=[entry(0, mark % "0, 2")])
    assert "take the mark off" in recompile_advice(marked)[0].text
    (of_another,) = causes([size(4, 5)], symbols=[opened()], recompiled_entries=[entry(0, mark % "1")])
    assert first_change(of_another) == (Assignment(DYNAMIC_SOURCES, "L['x']:0"),)


@pytest.mark.parametrize(
    "check",
    [
        "_dynamo_dynamic_indices should be absent but is present on runtime tensor",
        "_has_dynamo_dim_marking is present on runtime tensor but was absent at compile time",
    ],
)
def test_a_mark_that_comes_later_is_to_come_before(check: str) -> None:
    (cause,) = causes([f"0/0: {check}"])
    assert "mark it before the first call" in recompile_advice(cause)[0].text


def test_a_float_that_varies_along_with_it_can_only_be_dynamic_by_the_argument() -> None:
    rate = replace(opened("L['self'].rate"), name="zf3")
    (cause,) = causes([size(4, 5)], symbols=[opened(), rate])
    assert first_change(cause) == (Assignment("dynamic", "True"),)


def test_a_list_that_grows_in_the_line_of_the_guard_is_to_grow_outside() -> None:
    check = "0/0: len(G['SEEN']) == 0  # {line}  # me/train.py:4 in f"
    (grows,) = causes([check.format(line="SEEN.append(x)")])
    assert "move it out of the compiled code" in recompile_advice(grows)[0].text
    (is_passed,) = causes([check.format(line="return sum(SEEN)")])
    assert "one tensor of a fixed size" in recompile_advice(is_passed)[0].text


def test_an_older_entry_says_nothing_where_a_newer_one_leaves_the_size_open() -> None:
    later = ["0/1: not ___dict_contains('new', tags)", size(4, 9)]
    size_, keys = causes([size(4, 5)], later, symbols=[opened()])
    assert (size_.kind, keys.kind, keys.source) == ("size", "dictionary", "tags")
    as_float = replace(opened("L['k']"), name="zf3")
    back_to_int = ["0/1: ___check_type_id(k, 7), type=<class 'float'>", "0/0: k == 2"]
    (of_k,) = causes(["0/0: k == 2"], back_to_int, symbols=[as_float])
    assert (of_k.kind, of_k.source) == ("value", "k")
    (both,) = causes([size(4, 5)], later)  # torch did not make it dynamic: it is as near as any
    assert both.kind == "size"


def test_more_versions_are_no_cure_for_what_is_ever_new() -> None:
    few = [f"0/{n}: len(xs) == {n}  # sum(xs)  # me/train.py:4 in f" for n in range(8)]
    for count, offered in ((3, True), (8, False)):
        one = process(*[[each] for each in few[:count]])
        one.compiles[-1] = replace(one.compiles[-1], fail_reason="recompile_limit reached")
        (frame,) = frames_recompiled([one])
        (cause,) = causes_of(frame)
        texts = [each.text for each in recompile_advice(cause)]
        assert any("recompile_limit" in text for text in texts) is offered


def test_what_was_made_at_a_break_and_freed_has_that_break_for_its_cure() -> None:
    (cause,) = causes(["0/0: Cache line invalidated because L['___stack0'] got deallocated"])
    assert "cure that break" in recompile_advice(cause)[0].text
    assert cause_sentence(cause).startswith("a value made at the graph break was freed, and what")


def test_torchs_names_for_what_a_break_gave_are_in_no_words() -> None:
    given = "tensor '___stack1' size mismatch at index 0. expected 4, actual 5"
    for reason in (f"0/0: {given}", "0/0: ___stack0 == 0.25", "0/0: ___stack1.size()[0] == y.size()[0]"):
        (cause,) = causes([reason], symbols=[opened("L['___stack1'].size()[0]")])
        first, *others = [each.text for each in recompile_advice(cause)]
        said = [first, *others, cause_sentence(cause), what_differed(cause.failures[0])]
        assert "cure that break" in first or cause.kind == "relation of sizes"
        assert not [text for text in said if "___" in text]
    shown = without_stack_names("`___stack0` or `___stack1.shape`")
    assert shown == "`value_at_break_0` or `value_at_break_1.shape`"


def test_before_2_13_torch_knows_no_dimensions_there() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()], torch_version="2.12.1")
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['x']"),)


def test_where_the_version_was_not_recorded_there_is_what_every_torch_accepts() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()], torch_version=None)
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['x']"),)


@pytest.mark.parametrize("source", ["d['a b']", "d['a,b']", 'd["it\'s"]', "f(x)"])
def test_what_cannot_stand_in_a_list_is_not_put_there(source: str) -> None:
    (cause,) = causes([f"0/0: tensor '{source}' size mismatch at index 0. expected 4, actual 5"])
    assert first_change(cause) == (Assignment("dynamic", "True"),)


def test_a_size_that_the_program_needs_as_a_number_is_not_to_be_marked() -> None:
    line = StackFrame(Place(FILE, 7), "f", "if x.size(0) == 5:")
    needed = Specialization(CompileId(0, 1), ("L['x'].size()[0]",), "5", (line,))
    (cause,) = causes([size(4, 5)], symbols=[opened()], specializations=[needed])
    (advice,) = recompile_advice(cause)
    assert cause.place == Place(FILE, 7)
    assert "`if x.size(0) == 5:`" in advice.text
    assert advice.change == Change(edit="decided outside", operand="x")


def test_a_branch_on_a_size_is_the_programs_own_and_a_size_of_1_is_torchs() -> None:
    branch = "0/1: 2 <= x.size()[0] <= 6  # if x.size(0) > 6:  # me/train.py:7 in f"
    (decided,) = causes([size(4, 5)], [branch, size(4, 9)], symbols=[opened()])
    assert decided.is_needed_as_number and decided.place == Place(FILE, 7)
    for torchs_own in (0, 1):
        (apart,) = causes([size(4, 5)], [branch, size(4, torchs_own)], symbols=[opened()])
        assert not apart.is_needed_as_number and apart.deciding is None
    (one,) = causes(
        [size(4, 5)], ["0/1: 2 <= x.size()[0]  # y = x * 2  # me/train.py:4 in f"], symbols=[opened()]
    )
    assert not one.is_needed_as_number and one.was_0_or_1


def test_sizes_0_and_1_are_unbacked_only_where_nothing_depends_on_the_size() -> None:
    reasons = [size(4, 5)], [size(4, 1)]
    free = {"symbols": [opened()], "recompiled_entries": [entry(1, "2 <= L['x'].size()[0]")]}
    (cause,) = causes(*reasons, **free)
    assert first_change(cause) == (Assignment("TORCH_COMPILE_UNBACKED_SOURCES", "L['x']:0"),)
    tied = entry(1, "2 <= L['x'].size()[0]", "L['x'].size()[0] == L['y'].size()[0]")
    others: tuple[dict[str, Any], ...] = (
        {"recompiled_entries": [tied]},
        {"symbols": []},
        {"torch_version": "2.12.0"},
        {"graphs": [Graph(1, CompileId(0, 0), 0, None, "inductor", 3)]},
    )
    for other in others:
        (cause,) = causes(*reasons, **{**free, **other})
        assert "UNBACKED" not in "".join(map(str, first_change(cause)))
        assert any("all but 0 and 1 of them" in each.text for each in recompile_advice(cause))
    (without,) = causes([size(4, 5)], [size(4, 6)], symbols=[opened()])
    assert any("all of them" in each.text for each in recompile_advice(without))


OF_NO_LINE = (
    "  # y = x * 2  # me/train.py:4 in f (user code shown is first use of this value--the guard itself is "
    "not due user code but due to 0/1 specialization in the framework; to avoid specialization try "
    "torch._dynamo.decorators.mark_unbacked(tensor, dim)) and "
)


@pytest.mark.parametrize(
    ("due_to", "came", "line"),
    [
        ("(_inductor/codegen/cpp.py:2273 in need_use_acc_helper)", 1, None),
        ("(_inductor/codegen/cpp.py:2273 in need_use_acc_helper)", 900, None),
        (
            "if x.size(0) > 512:  # me/train.py:9 in f (_dynamo/variables/tensor.py:2606 in evaluate_expr)",
            1,
            None,
        ),
        (
            "if x.size(0) > 512:  # me/train.py:9 in f (_dynamo/variables/tensor.py:2606 in evaluate_expr)",
            900,
            9,
        ),
    ],
)
def test_a_bound_is_the_programs_where_a_line_of_it_stands_behind(
    due_to: str, came: int, line: int | None
) -> None:
    failed = f"0/1: 2 <= x.size()[0] <= 512{OF_NO_LINE}{due_to}"
    (cause,) = causes([size(4, 5)], [failed, size(4, came)], symbols=[opened()])
    assert cause.values == ["4", "5", str(came)]
    assert cause.is_needed_as_number is (line is not None)
    assert cause.place == (Place(FILE, line) if line else Place(FILE, 4)), cause.where


def test_sizes_that_were_equal_by_chance_are_told_apart_only_by_name() -> None:
    check = "L['y'].size()[0] == L['x'].size()[0]  # duck sizing added this equality because …"
    reasons = ["0/0: y.size()[0] == x.size()[0]"]
    (cause,) = causes(reasons, dynamic=True, recompiled_entries=[entry(0, check, source="")])
    assert first_change(cause) == (Assignment(DYNAMIC_SOURCES, "L['y']:0,L['x']:0"),)
    own = check.replace("duck sizing added this", "x.size(0) == y.size(0)  # me/train.py:4 in f")
    (cause,) = causes(reasons, dynamic=True, recompiled_entries=[entry(0, own, source="")])
    assert recompile_advice(cause)[0].change is None


def test_torchs_hint_on_a_parameter_is_no_size() -> None:
    hint = (
        "Guard failed on a parameter, consider using …force_parameter_static_shapes = False to allow dynamism"
    )
    (cause,) = causes([f"{size(32, 4)}. {hint} on parameters."])
    assert cause.values == ["32", "4"]
    first, second = recompile_advice(cause)
    assert "mark_dynamic" not in first.text + second.text
    assert second.change is not None and "force_parameter_static_shapes" in second.change.settings[0].name
    unnamed = f"0/0: tensor 'x[0]' size mismatch at index 0. expected 32, actual 4. {hint} on parameters."
    (cause,) = causes([unnamed])
    assert all("consider using" not in each.text for each in recompile_advice(cause))


def test_a_program_that_we_compile_is_told_of_our_option() -> None:
    (cause,) = causes([size(4, 5)], symbols=[opened()], interventions=Interventions(captures=[decided()]))
    change = recompile_advice(cause)[0].change
    assert change is not None and change.options == ("--dynamic",)


def test_the_entry_that_came_nearest_tells_the_cause() -> None:
    (first, _) = causes(["0/0: len(kw) == 1"], ["0/1: len(kw) == 2", size(5, 7)])
    assert first.kind == "length"
    assert [cause.kind for cause in causes(["0/1: len(kw) == 2", size(5, 7)])] == ["size"]


def test_a_switch_of_the_process_is_where_the_call_is() -> None:
    call = StackFrame(Place(FILE, 20), "main", "f(x)")
    frame = Frame("f", Place(FILE, 3), "compiled", None, True, False, CompileId(0, 1), called_from=call)
    reasons = ["0/0: GLOBAL_STATE changed: grad_mode "]
    (cause,) = causes(reasons, frames=[frame])
    assert cause.place == Place(FILE, 20)
    assert "torch.no_grad()" in recompile_advice(cause)[0].text


def test_a_program_that_trains_and_evaluates_needs_both_versions() -> None:
    trains = {"optimizers": [Optimizer(name="SGD", module="torch.optim.sgd", file="sgd.py")]}
    (cause,) = causes(["0/0: GLOBAL_STATE changed: grad_mode "], **trains)
    assert recompile_advice(cause) == []
    (other,) = causes(["0/0: GLOBAL_STATE changed: default_dtype "], **trains)
    assert recompile_advice(other) != []


def test_causes_have_the_same_key_when_lines_ids_and_values_differ() -> None:
    one, other = causes([size(4, 5)]), causes([size(7, 9, entry=3)])
    assert [cause.key for cause in one] == [cause.key for cause in other]
    moved = replace(one[0], met=tuple((replace(c, place=Place("/x.py", 99)), f) for c, f in one[0].met))
    assert moved.key == one[0].key


def test_without_a_row_of_ours_torchs_hint_is_shown() -> None:
    (cause,) = causes(["0/0: odd()  # y = 2  # me/train.py:4 in f (HINT: turn it round)"])
    assert [advice.text for advice in recompile_advice(cause)] == ["turn it round"]
    (cause,) = causes(["0/0: odd()"])
    assert "`odd()`" in recompile_advice(cause)[0].text


def test_a_number_that_is_compared_is_needed_as_a_number() -> None:
    opened_float = opened("L['lr']")
    tried = ["0/1: lr > 0.3  # if lr > 0.3:  # me/train.py:5 in f"]
    (cause,) = causes(["0/0: lr == 0.5"], tried, symbols=[opened_float])
    assert cause.is_needed_as_number
    assert "`if lr > 0.3:`" in recompile_advice(cause)[0].text


@pytest.mark.parametrize(
    ("line", "is_needed"), [("for _ in range(self.n):", True), ("return x * self.n", False)]
)
def test_a_number_on_a_module_is_judged_by_its_line(line: str, is_needed: bool) -> None:
    (cause,) = causes(
        [f"0/0: self.n == 1  # {line}  # me/train.py:5 in f"],
        recompiled_entries=[entry(1, "L['self'].n == 2", source="L['self'].n")],
    )
    assert cause.is_needed_as_number is is_needed
    assert (edit_of_first(cause) == "decided outside") is is_needed


def test_one_remedy_names_all_that_varies_in_a_frame() -> None:
    free = entry(1, "2 <= L['x'].size()[0]")
    size_of_x, number = causes(
        [size(4, 5)],
        [size(4, 1)],
        ["0/2: k == 2"],
        symbols=[opened(), opened("L['k']", 3)],
        recompiled_entries=[free],
    )
    expected = (
        Assignment("TORCH_COMPILE_UNBACKED_SOURCES", "L['x']:0"),
        Assignment(DYNAMIC_SOURCES, "L['k']"),
    )
    assert first_change(size_of_x) == expected
    assert first_change(number) == expected


def test_a_size_that_is_unbacked_is_not_listed_as_dynamic_too() -> None:
    size_of_x, _ = causes(
        [size(4, 5)],
        [size(4, 1)],
        ["0/2: k == 2"],
        symbols=[opened(), opened("L['k']", 3), opened(compile_=3)],  # the size again, beside the number
        recompiled_entries=[entry(1, "2 <= L['x'].size()[0]")],
    )
    assert first_change(size_of_x) == (
        Assignment("TORCH_COMPILE_UNBACKED_SOURCES", "L['x']:0"),
        Assignment(DYNAMIC_SOURCES, "L['k']"),
    )
