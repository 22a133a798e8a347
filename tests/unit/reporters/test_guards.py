"""The guards report: words, one story a source, and what tells cache entries apart."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dynamo_core.analysis.guard_text import check_words, guard_words, markings_words, remark, tensor_check
from dynamo_core.analysis.source_lines import whole_places
from dynamo_core.case import Case
from dynamo_core.model import Compile, CompileId, Guard, GuardCheck, GuardSet, Place, Process, Recording
from dynamo_reporters.guards.groups import by_source, differences, entries_of, without_guards
from dynamo_reporters.guards.report import guards_blocks, report
from dynamo_reporters.page.console import plain_text
from dynamo_reporters.page.markdown import to_markdown
from dynamo_reporters.report import Detail, document

FILE = "/home/me/prog/model.py"
CUT = "prog/model.py"


def tensor(source: str, size: str = "[4]", dtype: str = "float32") -> GuardCheck:
    code = (
        f"check_tensor({source}, Tensor, DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU), "
        f"torch.{dtype}, device=None, requires_grad=False, size={size}, stride=[1])"
    )
    return GuardCheck("TENSOR_MATCH", source, code, "y = x + n", Place(CUT, 7), "f")


def check(kind: str, source: str, code: str) -> GuardCheck:
    return GuardCheck(kind, source, code, "y = x + n", Place(CUT, 7), "f")


def equals(source: str, value: object) -> GuardCheck:
    return check("EQUALS_MATCH", source, f"{source} == {value!r}")


STATE = (
    GuardCheck(
        "GLOBAL_STATE",
        "",
        '___check_global_state() against {"grad_mode":true,"default_dtype":6,'
        '"autocast_state":{"cached_enabled":true,"dtype":[15],"enabled":[false]}}',
        None,
        None,
        None,
    ),
    GuardCheck("DEFAULT_DEVICE", "", "utils_device.CURRENT_DEVICE == None", None, None, None),
)


def guard(kind: str, source: str, scope: str = "local", code: Iterable[str] = ()) -> Guard:
    return Guard(kind, source, scope, tuple(code), Place(FILE, 7))


def entry(number: int, *checks: GuardCheck, guards: tuple[Guard, ...] | None = None) -> GuardSet:
    return GuardSet(CompileId(0, number), guards, (*STATE, *checks), 68.0)


def compile_of(guard_set: GuardSet, guards: int | None = 9, fail_type: str | None = None) -> Compile:
    return Compile(
        compile_id=guard_set.compile_id,
        name="f",
        place=Place(FILE, 5),
        seconds=1.0,
        is_forward=True,
        guards=guards,
        ops=1,
        recompile_reason=None,
        fail_type=fail_type,
        fail_reason=None,
        phases={},
        cache_hits=None,
        cache_misses=None,
    )


def recording(*guard_sets: GuardSet, compiles: Iterable[Compile] | None = None) -> Recording:
    process = Process(Path("dedicated_log_torch_trace_1.log"))
    process.guard_sets = list(guard_sets)
    process.compiles = list(map(compile_of, guard_sets)) if compiles is None else list(compiles)
    return Recording(Path("trace"), None, [process], None, [])


def page(what: Recording, show_all: bool = False) -> str:
    return plain_text(report(show_all).page(Case(what)))


def body(what: Recording) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(json.dumps(document(report(), Case(what))))
    return value


@pytest.mark.parametrize(
    ("kind", "source", "code", "words"),
    [
        ("TYPE_MATCH", "L['n']", "___check_type_id(L['n'], 12), type=<class 'int'>", "exactly of type int"),
        ("TYPE_MATCH", "L['n']", "___check_type_id(L['n'], 12)  # type Foo", "exactly of type Foo"),
        ("TYPE_MATCH", "L['n']", "___check_type_id(L['n'], 12)", "the same type"),
        ("ID_MATCH", "G['m']", "___check_obj_id(G['m'], 12), type=<class 'module'>", "the same module"),
        ("ID_MATCH", "G['m']", "___check_obj_id(G['m'], 12), type=<class 'a.B'>", "the same object (a.B)"),
        ("ID_MATCH", "G['m']", "___check_obj_id(G['m'], 12)", "the same object"),
        ("EQUALS_MATCH", "L['s']", "L['s'] == 'a == b  # c'", "equals 'a == b  # c'"),
        ("EQUALS_MATCH", "list(dict.keys(L['d']))[1]", "list(dict.keys(L['d']))[1] == 'k'", "key 1 is 'k'"),
        ("TRUE_MATCH", "L['b']", "L['b'] == True", "is True"),
        ("FALSE_MATCH", "L['b']", "L['b'] == False", "is False"),
        ("NONE_MATCH", "L['b']", "L['b'] is None", "is None"),
        ("NOT_NONE", "L['b']", "L['b'] is not None", "is not None"),
        ("LENGTH_CHECK", "L['l']", "len(L['l']) == 3", "of length 3"),
        ("LENGTH_CHECK", "L['l']", "not L['l']", "empty"),
        ("DICT_LENGTH", "L['d']", "len(L['d']) == 3", "a dict of length 3"),
        ("DICT_LENGTH", "L['d']", "not L['d']", "an empty dict"),
        ("DICT_CONTAINS", "L['d']", "___dict_contains('k', L['d'])", "has the key 'k'"),
        ("DICT_CONTAINS", "L['d']", "not ___dict_contains('k', L['d'])", "has no key 'k'"),
        ("DICT_CONTAINS", "L['m'].__dict__", "not ___dict_contains('forward', L['m'].__dict__)",
         "has no attribute 'forward' of its own"),
        ("SET_CONTAINS", "L['s']", "not set.__contains__(L['s'], 2)", "does not contain 2"),
        ("DICT_VERSION", "G['d']", "___dict_version(G['d']) == 366913", "a dict that was not changed since"),
        ("NO_HASATTR", "L['o']", "not hasattr(L['o'], 'scale')", "has no attribute 'scale'"),
        ("NO_HASATTR", "L['x']", "hasattr(L['x'], '_dynamo_dynamic_indices') == False",
         "not marked by mark_dynamic"),
        ("DIMENSION_DYNAMIC_MARKING_GUARD", "L['x']",
         "((getattr(L['x'], '_dynamo_dynamic_indices', set()).issubset({0, 1})) "
         "if hasattr(L['x'], '_dynamo_dynamic_indices') else True)",
         "if marked by mark_dynamic, then for no other dims than {0, 1}"),
        ("DIMENSION_DYNAMIC_MARKING_GUARD", "L['x']",
         "((getattr(L['x'], '_dynamo_dynamic_range', None) == None) "
         "if hasattr(L['x'], '_has_dynamo_dim_marking') else True)",
         "if marked, then with dynamic range None"),
        ("DYNAMIC_INDICES", "L['x']",
         "((L['x']._dynamo_dynamic_indices.issubset({0})) "
         "if hasattr(L['x'], '_dynamo_dynamic_indices') else True)",
         "if marked by mark_dynamic, then for no other dims than {0}"),
        ("LAMBDA_GUARD", "L['i']", "___list_reverseiterator_len(L['i']) == 2",
         "a reversed list iterator with 2 items left"),
        ("NO_TENSOR_ALIASING", "L['a']", "check_no_aliasing(L['a'], L['b'])",
         "not the same tensor as L['b']"),
        ("NO_TENSOR_ALIASING", "L['a']", "",
         "the same tensor as none of the others that are so checked"),
        ("OBJECT_ALIASING", "L['a']", "L['a'] is L['b']", "the same object as L['b']"),
        ("STORAGE_OVERLAPPING", "L['a']",
         "check_overlapping(overlapping=[L['a'], L['b']], non_overlapping=[])",
         "these overlap in memory: L['a'], L['b']"),
        ("SYMBOLIC_SHAPE_GUARD", "", "L['x'].size()[0] == L['y'].size()[0]",
         "L['x'].size()[0] == L['y'].size()[0]"),
        ("LAMBDA_GUARD", "", "2 <= L['x'].size()[0]  # due to 0/1 specialization", "2 <= L['x'].size()[0]"),
        ("LAMBDA_GUARD", "", "L['a'] is L['b']", "L['a'] and L['b'] are the same object"),
        ("LAMBDA_GUARD", "", "not math.isnan(L['f'])", "not NaN"),
        ("LAMBDA_GUARD", "", "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None",
         "no hooks on saved tensors that could be inlined"),
        ("GLOBAL_STATE", "", "___check_global_state()",
         "torch's global state (grad mode, autocast and more) is the same"),
        ("GLOBAL_STATE", "", STATE[0].code, "autocast off, default dtype float32, grad mode on"),
        ("DEFAULT_DEVICE", "", "utils_device.CURRENT_DEVICE == None", "no default device is set"),
        ("DEFAULT_DEVICE", "", "utils_device.CURRENT_DEVICE == device(type='cuda')",
         "the default device is device(type='cuda')"),
        ("TORCH_FUNCTION_MODE_STACK", "", "___check_torch_function_mode_stack()",
         "the same stack of torch function modes"),
        ("DUAL_LEVEL_MATCH", "", "torch.autograd.forward_ad._current_level == -1",
         "forward-mode autograd at level -1"),
        ("TUPLE_ITERATOR_LEN", "L['i']", "___tuple_iterator_len(L['i']) == 2",
         "a tuple iterator with 2 items left"),
        ("RANGE_ITERATOR_MATCH", "L['i']", "___normalize_range_iter(L['i']) == (0, 3, 1)",
         "a range iterator at (start, stop, step) (0, 3, 1)"),
        ("MAPPING_KEYS_MATCH", "L['m']", "list(L['m'].keys()) == ['a']", "has the keys ['a'] in this order"),
        ("FLOAT_IS_NAN", "L['f']", "(type(L['f']) is float and __math_isnan(L['f']))", "is NaN"),
        ("A_NEW_ONE", "L['f']", "torch_says(L['f'])", "torch_says(L['f'])"),
        ("DICT_CONTAINS", "L['f']", "in_a_new_form(L['f'])", "in_a_new_form(L['f'])"),
    ],
)  # fmt: skip
def test_checks_in_words(kind: str, source: str, code: str, words: str) -> None:
    assert check_words(kind, code, source) == words


def test_a_tensor_check_is_taken_apart() -> None:
    code = (
        "check_tensor(L['a, b'], Parameter, DispatchKeySet(CUDA, AutogradCUDA), torch.bfloat16, device=1, "
        "requires_grad=True, size=[None, 3], stride=[None, 1])"
    )
    found = tensor_check(code)
    assert found is not None
    assert (found.class_, found.dtype, found.device, found.device_index) == (
        "Parameter",
        "bfloat16",
        "cuda:1",
        1,
    )
    assert (found.sizes, found.strides, found.dynamic_dims) == ((None, 3), (None, 1), (0,))
    assert found.requires_grad
    assert found.dispatch_keys == ("CUDA", "AutogradCUDA")
    assert "size [any, 3] (dim 0 dynamic)" in check_words("TENSOR_MATCH", code, "L['a, b']")


def test_a_tensor_check_in_another_form_is_left_as_it_is() -> None:
    code = "check_tensor(L['a'], torch.float32, size=[3])"
    assert tensor_check(code) is None
    assert check_words("TENSOR_MATCH", code, "L['a']") == code


def test_marks_of_dimensions_are_said_together() -> None:
    attributes = ("_dynamo_dynamic_indices", "_dynamo_unbacked_indices", "_dynamo_static_indices")
    codes = [f"hasattr(L['x'], '{attribute}') == False" for attribute in attributes]
    assert markings_words(codes) == ["not marked by mark_dynamic, mark_unbacked or mark_static"]


def test_a_remark_is_what_a_user_can_act_on() -> None:
    assert remark("L['n'] == 2  # make this integer dynamic") == "make this integer dynamic"
    for code in ("L['n'] == 'a  # b'", "x  # type int", 'x  # guard on "z"[0]', "x  # _dynamo/a.py:1 in f"):
        assert remark(code) is None


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("GRAD_MODE", (), "checked by GLOBAL_STATE"),
        ("CONSTANT_MATCH", ("L['n'] == 2",), "equals 2"),
        ("CONSTANT_MATCH", ("L['n'] == True",), "is True"),
        ("CONSTANT_MATCH", ("L['n'] is None",), "is None"),
        ("MODULE_MATCH", ("___check_obj_id(L['n'], 1), type=<class 'module'>",), "the same module"),
        ("A_NEW_ONE", ("torch_says()", "more()"), "torch_says() and more()"),
        ("A_NEW_ONE", (), "A_NEW_ONE"),
    ],
)
def test_guards_in_words(kind: str, code: tuple[str, ...], words: str) -> None:
    assert guard_words(kind, "L['n']", code) == words


def test_guards_and_checks_of_a_source_stand_together() -> None:
    guard_set = entry(
        0,
        tensor("L['x']"),
        check("ID_MATCH", "G['f'].__code__", "___check_obj_id(G['f'].__code__, 1), type=<class 'code'>"),
        check("LAMBDA_GUARD", "", "2 <= L['x'].size()[0]"),
        guards=(
            guard("TENSOR_MATCH", "L['x']"),
            guard("CLOSURE_MATCH", "G['f']", "global"),
            guard("GLOBAL_STATE", "", "global"),
            guard("GRAD_MODE", "", "global"),
            guard("SHAPE_ENV", "", "shape_env"),
        ),
    )
    groups = {(group.source, *group.types): group for group in by_source(guard_set)}
    assert [found.type for found in groups["L['x']", "TENSOR_MATCH"].checks] == [
        "TENSOR_MATCH",
        "LAMBDA_GUARD",
    ]
    assert [found.source for found in groups["G['f']", "CLOSURE_MATCH"].checks] == ["G['f'].__code__"]
    assert groups["", "GLOBAL_STATE", "GRAD_MODE"].kind == "state"
    assert groups["", "SHAPE_ENV"].remark == "stands with the sources that it names"


def test_where_sizes_are_in_no_relation_the_guard_of_shapes_says_so() -> None:
    shapes = guard("SHAPE_ENV", "", "shape_env")
    without = entry(0, tensor("L['x']"), guards=(guard("TENSOR_MATCH", "L['x']"), shapes))
    (remark,) = [found.remark for found in by_source(without) if "SHAPE_ENV" in found.types]
    assert remark == "no relation between sizes"
    (remark,) = [found.remark for found in by_source(replace(without, checks=None)) if found.source == ""]
    assert remark is None, "checks that were not recorded say nothing of relations"


@pytest.mark.parametrize(
    ("source", "scope", "kind"),
    [
        ("L['x']", "local", "value"),
        ("L['self'].step", "local_unspecialized_nn_module", "value"),
        ("L['self']._modules['lin']._parameters['bias']", "local_unspecialized_builtin_nn_module", "module"),
        ("L['self'].__dict__['_modules']['lin']", "local_unspecialized_nn_module", "module"),
        ("G['WIDTH']", "global", "value"),
        ("G['torch'].bool", "global", "global"),
        ("G['__import_torch'].nn", "global", "global"),
        ("G['f'].__defaults__[0]", "global", "global"),
    ],
)
def test_sources_are_of_a_kind(source: str, scope: str, kind: str) -> None:
    guard_set = GuardSet(None, (guard("CONSTANT_MATCH", source, scope),), (equals(source, 1),))
    assert [group.kind for group in by_source(guard_set)] == [kind]


@pytest.mark.parametrize(
    ("source", "scope", "kind"),
    [
        ("L['self']", "local_unspecialized_nn_module", "module"),
        ("L['f']", "local", "value"),
        ("G['model']._modules['lin']", "global_unspecialized_nn_module", "module"),
        ("G['model']._modules['lin']", "global", "global"),
        ("G['model']", "global", "global"),
    ],
)
def test_what_must_be_the_same_object_is_of_a_module_where_torch_says_so(
    source: str, scope: str, kind: str
) -> None:
    same = check("ID_MATCH", source, f"___check_obj_id({source}, 1), type=<class 'a.B'>")
    guard_set = GuardSet(None, (guard("ID_MATCH", source, scope),), (same,))
    assert [group.kind for group in by_source(guard_set)] == [kind]


def test_what_tells_entries_apart_is_what_they_do_not_share() -> None:
    found = differences(
        [
            entry(0, tensor("L['x']"), equals("L['n']", 2)),
            entry(1, tensor("L['x']", "[None]"), equals("L['n']", 2)),
            entry(2, tensor("L['x']", "[None]"), equals("L['n']", 3)),
        ]
    )
    first, second, third = (CompileId(0, number) for number in range(3))
    assert [(difference.source, difference.entries) for difference in found] == [
        ("L['x']", (((first,), ("size [4]",)), ((second, third), ("size [any] (dim 0 dynamic)",)))),
        ("L['n']", (((first, second), ("equals 2",)), ((third,), ("equals 3",)))),
    ]


def test_two_entries_of_a_frame_are_compared_and_one_is_not() -> None:
    two = recording(*(entry(number, equals("L['n']", number)) for number in (1, 2)))
    assert "2 cache entries" in page(two) and "How they differ" in page(two)
    one = recording(entry(1, equals("L['n']", 1)))
    assert "1 cache entry\n" in page(one) and "How they differ" not in page(one)
    without_checks = recording(GuardSet(CompileId(0, 1)), GuardSet(CompileId(0, 2)))
    assert "How they differ" not in page(without_checks) and "1 cache entry" not in page(without_checks)


def test_of_many_differences_ten_are_shown_unless_all_are_asked_for() -> None:
    def differing(count: int) -> Recording:
        return recording(*(entry(n, *(equals(f"L['n{at}']", n) for at in range(count))) for n in (1, 2)))

    ten, twelve = (page(differing(count)).split("How they differ")[1] for count in (10, 12))
    assert "more; --all lists them" not in ten
    assert "and 2 more; --all lists them" in twelve
    whole = page(differing(12), show_all=True).split("How they differ")[1].split("[0/1] 9 guards")[0]
    assert whole.count("equals 1") == 12 and "--all" not in whole
    assert twelve.split("[0/1] 9 guards")[0].count("equals 1") == 10


def test_objects_that_differ_by_their_id_alone_are_told_apart_by_it() -> None:
    codes = [f"___check_obj_id(L['m'], {number}), type=<class 'a.B'>" for number in (1, 2)]
    (found,) = differences([entry(i, check("ID_MATCH", "L['m']", code)) for i, code in enumerate(codes)])
    assert [demand for _, (demand,) in found.entries] == [f"ID_MATCH: {code}" for code in codes]


def test_names_that_torch_numbers_anew_in_each_compile_are_no_difference() -> None:
    sets = [
        entry(number, check("ID_MATCH", source, f"___check_obj_id({source}, 7)"))
        for number, source in enumerate(
            ("G['__builtins_dict___1']['len']", "G['__builtins_dict___3']['len']")
        )
    ]
    assert differences(sets) == []


def test_a_setting_of_torch_is_a_difference() -> None:
    eager = replace(STATE[0], code=STATE[0].code.replace('"grad_mode":true', '"grad_mode":false'))
    (found,) = differences([entry(0), GuardSet(CompileId(0, 1), None, (eager, STATE[1]))])
    assert [demands for _, demands in found.entries] == [("grad mode on",), ("grad mode off",)]


def test_file_names_are_made_whole_where_one_file_can_be_meant() -> None:
    process = recording(entry(0, tensor("L['x']"))).processes[0]
    assert whole_places(process) == {CUT: FILE}
    process.compiles.append(replace(process.compiles[0], place=Place("/tmp/prog/model.py", 1)))
    assert whole_places(process) == {CUT: None}


def test_a_cut_name_has_lost_the_slash_or_the_first_letter() -> None:
    check_at = replace(tensor("L['x']"), place=Place("ome/me/prog/model.py", 7))
    assert whole_places(recording(entry(0, check_at)).processes[0]) == {"ome/me/prog/model.py": FILE}
    check_at = replace(tensor("L['x']"), place=Place("el.py", 7))
    assert whole_places(recording(entry(0, check_at)).processes[0]) == {"el.py": None}


def test_the_page_says_what_is_counted_by_whom() -> None:
    text = page(recording(entry(0, tensor("L['x']"))))
    title = "[0/0] 9 guards (torch's guard_count), 3 checks in the tree, 68 µs per evaluation with a flushed"
    assert title in text
    assert f"{FILE}:7" in text
    assert "y = x + n" in text
    assert "- torch's state: 1 GLOBAL_STATE, 1 DEFAULT_DEVICE" in text


def test_what_is_only_counted_is_listed_with_all() -> None:
    modules = [equals(f"L['self']._modules['{number}'].p", 0.1) for number in range(20)]
    what = recording(entry(0, tensor("L['x']"), *modules))
    assert "nn.Modules, parameters and buffers: 20 EQUALS_MATCH" in page(what)
    assert "L['self']._modules['7'].p" not in page(what)
    assert "L['self']._modules['7'].p" in page(what, show_all=True)
    assert "no default device is set" in page(what, show_all=True)


def test_a_further_entry_is_shown_by_what_it_does_not_share() -> None:
    what = recording(*(entry(number, tensor("L['x']"), equals("L['n']", number)) for number in (1, 2)))
    first, second = page(what).split("[0/2] 9 guards")
    assert "L['x']" in first
    assert "L['x']" not in second
    assert "equals 2" in second
    assert "What does not differ above is as in [0/1]; --all lists it." in second
    assert "L['x']" in page(what, show_all=True).split("[0/2] 9 guards")[1]


def test_what_was_not_recorded_is_said_to_be_so() -> None:
    nothing = GuardSet(CompileId(0, 0))
    assert "guards: not recorded; nothing was compiled" in page(recording())
    assert "9 guards, which were not recorded" in page(recording(compiles=[compile_of(nothing)]))
    failed = compile_of(nothing, None, "Unsupported")
    assert "no guards, as the compile failed: Unsupported" in page(recording(compiles=[failed]))
    text = page(recording(nothing, compiles=[]))
    assert "guards: not recorded (torch's guard_count), checks: not recorded in the tree" in text
    assert "latency: not recorded" in text


def test_every_compile_without_guards_is_named_whatever_stands_before_it() -> None:
    known, lost, failed, backward, none = (entry(number) for number in range(5))
    what = recording(
        known,
        compiles=[
            compile_of(known),
            replace(compile_of(backward), is_forward=False),
            compile_of(lost, 1),
            compile_of(failed, None, "Unsupported"),
            compile_of(none, 0),
        ],
    )
    process = what.processes[0]
    assert without_guards(process, entries_of(process)) == [
        f"[0/1] f ({FILE}:5): 1 guard, which were not recorded",
        f"[0/2] f ({FILE}:5): no guards, as the compile failed: Unsupported",
        f"[0/4] f ({FILE}:5): no guards",
    ]


def test_a_compile_id_that_comes_back_is_of_another_frame() -> None:
    what = recording(entry(0, equals("L['n']", 1)), entry(0, equals("L['n']", 2)))
    assert "How they differ" not in page(what)
    assert [found["generation"] for found in body(what)["entries"]] == [0, 1]


def test_the_document_has_every_check_and_guard() -> None:
    what = recording(
        entry(0, tensor("L['x']", "[None]"), guards=(guard("TENSOR_MATCH", "L['x']"),)),
        entry(1, tensor("L['x']", "[3]"), guards=(guard("TENSOR_MATCH", "L['x']"),)),
    )
    first = body(what)["entries"][0]
    assert (first["compile_id"], first["guard_count"], first["check_count"]) == ("0/0", 9, 3)
    assert first["place"] == {"file": FILE, "line": 5}
    assert first["guards"][0]["type"] == "TENSOR_MATCH"
    found = first["checks"][2]
    assert found["tensor"]["dynamic_dims"] == [0]
    assert found["tensor"]["device"] == "cpu"
    assert found["place"] == {"file": FILE, "line": 7}
    (difference,) = body(what)["differences"]
    assert difference["entries"][1] == {"compile_ids": ["0/1"], "demands": ["size [3]"]}


@pytest.mark.parametrize("detail", Detail)
def test_live_output_shows_either_source(detail: Detail) -> None:
    foreign = entry(0, tensor("L['x']"))
    ours = replace(foreign, guards=(guard("TENSOR_MATCH", "L['x']"),))
    assert "guards [0/0] 3 checks" in plain_text(guards_blocks(foreign, detail))
    text = plain_text(guards_blocks(ours, detail))
    assert "guards [0/0] 1 guard" in text
    assert "TENSOR_MATCH" in text
    assert ("size [4]" in text) == (detail is Detail.MORE)


def test_markdown_has_the_source_of_each_row() -> None:
    text = to_markdown(report().page(Case(recording(entry(0, equals("L['n']", 2))))))
    assert "| L\\['n'\\]" in text
    assert "### \\[0/0\\] 9 guards" in text
