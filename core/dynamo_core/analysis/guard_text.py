"""Guards in words: what torch checks, without the names of its helper functions.

Source: torch/_dynamo/guards.py (GuardBuilder, one method for each type of guard that Dynamo creates) and
torch/csrc/dynamo/guards.cpp (one class for each type of check). Read with 2.8, 2.13 and 2.15, and
traces of 2.6 to 2.15. A check that is not known here is shown in torch's own text.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated

from ..recording.guards import split_comment
from ..shared.quick_dataclass import dataclass

# Patterns for the text of checks whose type alone does not say what they check.
_TENSOR = re.compile(
    r"check_tensor\(.*, (?P<name>[^,]+), DispatchKeySet\((?P<keys>[^()]*)\), torch\.(?P<dtype>\w+), "
    r"device=(?P<device>\w+), requires_grad=(?P<grad>True|False), size=\[(?P<sizes>[^][]*)\], "
    r"stride=\[(?P<strides>[^][]*)\]\)",
    re.DOTALL,
)
_CLASS = re.compile(r", type=<class '([^']*)'>")
_CLASS_HINT = re.compile(r"(?:  # |, )type (\S+)$")
_CLOSURE = re.compile(r'guard on ("[^"]*"\S*?)(?:, |$)')
_NO_REMARK = re.compile(r"type \S+$|guard on \"|\S+\.py:\d+ in \S+$")
_MARK = re.compile(r"'(_dynamo_\w+_indices)'")
_MARK_VALUE = re.compile(
    r".*?, '_dynamo_(\w+)', None\) == ((?:(?!\) if hasattr|, '_dynamo_).)*)\) if hasattr"
)
_MARKED_DIMS = re.compile(r"\.issubset\((\{[\d, ]*\}|set\(\))\)")
_IS = re.compile(r"(\S.*) is (\S.*)", re.DOTALL)
_KEY = re.compile(r"list\(.*\)\[(\d+)\] == (.*)", re.DOTALL)
_OVERLAPPING = re.compile(
    r"check_overlapping\(overlapping=\[(?=.*\]\)\Z)(.*)\], non_overlapping=\[(.*)\]\)", re.DOTALL
)

_MARKS = {
    "_dynamo_dynamic_indices": "mark_dynamic",
    "_dynamo_weak_dynamic_indices": "maybe_mark_dynamic",
    "_dynamo_unbacked_indices": "mark_unbacked",
    "_dynamo_strict_unbacked_indices": "mark_unbacked",
    "_dynamo_static_indices": "mark_static",
}
_SAME_OBJECT_WORDS = {
    "module": "the same module",
    "function": "the same function",
    "builtin_function_or_method": "the same built-in function",
    "code": "the same code",
    "type": "the same class",
}
_MOST_NAMES = 4
# c10/core/ScalarType.h; its numbers do not change, since saved models hold them.
_DTYPES = {5: "float16", 6: "float32", 7: "float64", 9: "complex64", 10: "complex128", 15: "bfloat16"}
# The backends in the order of c10/core/DispatchKey.h, as keys name them.
_DEVICES = ("CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA", "MAIA", "Meta")


@dataclass(frozen=True)
class TensorCheck:
    """What a TENSOR_MATCH requires. A size or stride that is None may be anything."""

    class_: Annotated[str, "the name of its class: Tensor, Parameter"]
    dispatch_keys: tuple[str, ...]
    dtype: str
    device_index: int | None
    requires_grad: bool
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...]

    @property
    def device(self) -> str | None:
        """`cuda:0`; None where the keys name no backend that is known here."""
        for name in _DEVICES:
            if any(key.endswith(name) for key in self.dispatch_keys if not key.startswith("Autograd")):
                return name.lower() + ("" if self.device_index is None else f":{self.device_index}")
        return None

    @property
    def dynamic_dims(self) -> tuple[int, ...]:
        """The dimensions whose size may be anything."""
        return tuple(dim for dim, size in enumerate(self.sizes) if size is None)


def tensor_check(code: str) -> TensorCheck | None:
    """The requirements in the text of a TENSOR_MATCH; None where the text has another form."""
    found = _TENSOR.fullmatch(code)
    if found is None:
        return None
    try:
        return TensorCheck(
            class_=found["name"],
            dispatch_keys=tuple(found["keys"].split(", ")),
            dtype=found["dtype"],
            device_index=None if found["device"] == "None" else int(found["device"]),
            requires_grad=found["grad"] == "True",
            sizes=_numbers(found["sizes"]),
            strides=_numbers(found["strides"]),
        )
    except ValueError:
        return None


def _numbers(text: str) -> tuple[int | None, ...]:
    return tuple(None if part == "None" else int(part) for part in text.split(", ") if part)


def tensor_terms(check: TensorCheck) -> dict[str, str]:
    """The requirements one by one, so that two checks can be compared."""
    sizes = "size " + _dims(check.sizes)
    if check.dynamic_dims:
        dims = " and ".join(map(str, check.dynamic_dims))
        sizes += f" (dim {dims} dynamic)" if len(check.dynamic_dims) == 1 else f" (dims {dims} dynamic)"
    return {
        "class": check.class_,
        "dtype": check.dtype,
        "device": f"on {check.device or check.device_index}",
        "requires_grad": f"requires_grad={check.requires_grad}",
        "sizes": sizes,
        "strides": "stride " + _dims(check.strides),
        "dispatch keys": "dispatch keys " + " ".join(check.dispatch_keys),
    }


def _dims(values: Iterable[int | None]) -> str:
    return "[" + ", ".join("any" if value is None else str(value) for value in values) + "]"


def check_words(kind: str, code: str, source: str = "") -> str:
    """What a leaf of the guard tree requires of its source."""
    if not code:
        return _RELATIONS.get(kind, "checked together with another source")
    words = _CHECKS.get(kind)
    expression, _ = split_comment(code)
    if words is None:
        return expression
    return words(code if kind in _TYPE_CHECKS else expression, source) or expression


def remark(code: str) -> str | None:
    """torch's comment on a check, if it is advice to the user, and not the checked type or place."""
    _, note = split_comment(code)
    return None if note is None or _NO_REMARK.match(note) else note


def closure_variable(code: str) -> str | None:
    """The variable of a closure that a check is on, from torch's comment: `"scale".weight`."""
    found = _CLOSURE.match(split_comment(code)[1] or "")
    return found[1] if found else None


def is_marking(code: str) -> bool:
    """Whether a check is on the dynamic or static marks of a tensor's dimensions (`mark_dynamic`, …)."""
    found = _MARK.search(code)
    return found is not None and found[1] in _MARKS


def markings_words(codes: Iterable[str]) -> list[str]:
    """The checks on the marks of one tensor's dimensions, with those on absent marks in one phrase."""
    absent, rest = [], []
    for code in codes:
        mark = _MARK.search(code)
        if mark and code.endswith("== False") and mark[1] in _MARKS:
            absent.append(_MARKS[mark[1]])
        else:
            rest.append(_marking(code, "") or code)
    return ([f"not marked by {_or_list(list(dict.fromkeys(absent)))}"] if absent else []) + rest


def guard_words(kind: str, source: str, code: tuple[str, ...]) -> str:
    """What a guard that Dynamo created requires."""
    if kind in CHECKED_BY_GLOBAL_STATE:
        return "checked by GLOBAL_STATE"
    known = _GUARDS.get(kind)
    if known is not None:
        return known
    if kind == "TENSOR_MATCH":
        return "a tensor with the same properties"
    leaf = _LEAF_TYPES.get(kind)
    if leaf is not None and code:
        return " and ".join(check_words(leaf, part, source) for part in code)
    if kind == "CONSTANT_MATCH" and code:
        return " and ".join(_constant(part, source) for part in code)
    return " and ".join(code) or kind


def _constant(code: str, source: str) -> str:
    for kind, end in (("TRUE_MATCH", " == True"), ("FALSE_MATCH", " == False"), ("NONE_MATCH", " is None")):
        if code == source + end:
            return check_words(kind, code, source)
    return check_words("ID_MATCH" if code.startswith("___check_obj_id") else "EQUALS_MATCH", code, source)


def _tensor(code: str, source: str) -> str | None:
    check = tensor_check(code)
    if check is None:
        return None
    terms = tensor_terms(check)
    return f"{terms['class']} of {terms['dtype']} {terms['device']}, " + ", ".join(
        terms[name] for name in ("requires_grad", "sizes", "strides", "dispatch keys")
    )


def _class_of(code: str) -> str | None:
    found = _CLASS.search(code) or _CLASS_HINT.search(code)
    return found[1].removeprefix("builtins.") if found else None


def _type(code: str, source: str) -> str:
    name = _class_of(code)
    return f"exactly of type {name}" if name else "the same type"


def _identity(code: str, source: str) -> str:
    name = _class_of(code)
    if name is None:
        return "the same object"
    return _SAME_OBJECT_WORDS.get(name, f"the same object ({name})")


def _equality(code: str, source: str) -> str | None:
    key = _KEY.fullmatch(code)
    if key:
        return f"key {key[1]} is {key[2]}"
    return f"equals {code[len(source) + 4 :]}" if source and code.startswith(f"{source} == ") else None


def _length(code: str, source: str) -> str | None:
    if code == f"not {source}":
        return "empty"
    _, is_length, length = code.rpartition(" == ")
    return f"of length {length}" if is_length else None


def _dict_length(code: str, source: str) -> str | None:
    if code == f"not {source}":
        return "an empty dict"
    _, is_length, length = code.rpartition(" == ")
    return f"a dict of length {length}" if is_length else None


def _arguments(code: str, function: str) -> tuple[bool, str] | None:
    """Whether a call of `function` must return True, and the text between its parentheses."""
    call = code.removeprefix("not ")
    if not (call.startswith(f"{function}(") and call.endswith(")")):
        return None
    return call == code, call[len(function) + 1 : -1]


def _dict_contains(code: str, source: str) -> str | None:
    found = _arguments(code, "___dict_contains")
    if found is None:
        return None
    is_there, arguments = found
    key = arguments.removesuffix(f", {source}")
    if key == arguments:
        key = arguments.partition(", ")[0]
    if arguments.endswith(".__dict__"):
        return f"{'has an' if is_there else 'has no'} attribute {key} of its own"
    return f"{'has the' if is_there else 'has no'} key {key}"


def _set_contains(code: str, source: str) -> str | None:
    found = _arguments(code, "set.__contains__")
    if found is None:
        return None
    is_there, arguments = found
    return f"{'contains' if is_there else 'does not contain'} {arguments.removeprefix(f'{source}, ')}"


def _no_attribute(code: str, source: str) -> str | None:
    if _MARK.search(code):
        return _marking(code, source)
    found = _arguments(code.removesuffix(" == False"), "hasattr")
    return f"has no attribute {found[1].rpartition(', ')[2]}" if found else None


def _marking(code: str, source: str) -> str | None:
    value = _MARK_VALUE.match(code)
    if value:
        return f"if marked, then with {value[1].replace('_', ' ')} {value[2]}"
    mark = _MARK.search(code)
    if mark is None or mark[1] not in _MARKS:
        return None
    if code.endswith("== False"):
        return f"not marked by {_MARKS[mark[1]]}"
    dims = _MARKED_DIMS.search(code)
    return f"if marked by {_MARKS[mark[1]]}, then for no other dims than {dims[1]}" if dims else None


def _no_aliasing(code: str, source: str) -> str:
    names = code.removeprefix("check_no_aliasing(").removesuffix(")").split(", ")
    if source not in names:
        return f"no two of these are the same tensor: {', '.join(names)}"
    others = [name for name in names if name != source]
    if len(others) > _MOST_NAMES:
        others = [*others[: _MOST_NAMES - 1], f"{len(others) - _MOST_NAMES + 1} other guarded tensors"]
    return f"not the same tensor as {_or_list(others)}"


def _or_list(names: list[str]) -> str:
    return " or ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) if names else "another"


def _overlapping(code: str, source: str) -> str | None:
    found = _OVERLAPPING.fullmatch(code)
    if found is None:
        return None
    parts = [f"these overlap in memory: {found[1]}"] if found[1] else []
    parts += [f"these overlap with none: {found[2]}"] if found[2] else []
    return "; ".join(parts) or None


def _lambda_guard(code: str, source: str) -> str | None:
    for beginning, words in _LAMBDAS.items():
        if code.startswith(beginning):
            return words
    same = _IS.fullmatch(code)
    if same and same[2] != "None":
        if source in same.groups():
            return f"the same object as {same[2] if source == same[1] else same[1]}"
        return f"{same[1]} and {same[2]} are the same object"
    if code.startswith("not math.isnan("):
        return "not NaN"
    if code.startswith("__math_isnan("):
        return "is NaN"
    if code.startswith("___list_reverseiterator_len("):
        return f"a reversed list iterator with {code.rpartition(' == ')[2]} items left"
    return None


_LAMBDAS = {
    "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids == None": (
        "no hooks on saved tensors that could be inlined"
    ),
    "torch._functorch.aot_autograd.utils.top_saved_tensors_hooks ids": "the same hooks on saved tensors",
    "torch._functorch.pyfunctorch.compare_functorch_state": "the same functorch transforms are active",
    "___cow_tensor_matches": "a copy-on-write tensor, or none, as it was",
    "___check_metadata_": "the same metadata of its tensor subclass",
    "__dtensor_spec_": "the same DTensor placement",
    "___check_opaque_guard_fn_": "its guard_fn gives the same values",
}


def _global_state(code: str, source: str) -> str:
    state = global_state(code)
    if not state:
        return "torch's global state (grad mode, autocast and more) is the same"
    return ", ".join(state.values())


def global_state(code: str) -> dict[str, str]:
    """The settings in the text of a GLOBAL_STATE check, by name; empty before torch recorded them.

    Source: torch/csrc/dynamo/guards.cpp (GlobalStateGuard, to_json).
    """
    try:
        state = json.loads(code.partition(" against ")[2])
    except (ValueError, RecursionError):
        return {}
    return {name: _setting(name, state[name]) for name in sorted(state)} if isinstance(state, dict) else {}


def changed_settings(check: str, state: Mapping[str, str]) -> str | None:
    """What a state has for the settings that a failed check of the global state names; None if it lacks one.

    The check is torch's text, as `GLOBAL_STATE changed: grad_mode autocast(cpu)_enabled`.
    """
    names = check.partition("changed: ")[2].split()
    keys = ["autocast_state" if name.startswith("autocast") else name for name in names]
    if not keys or not all(key in state for key in keys):
        return None
    return ", ".join(dict.fromkeys(state[key] for key in keys))


def _setting(name: str, value: object) -> str:
    if name == "autocast_state" and isinstance(value, dict):
        enabled = value.get("enabled")
        return "autocast " + ("on" if isinstance(enabled, list) and any(enabled) else "off")
    if name == "default_dtype" and isinstance(value, int):
        return f"default dtype {_DTYPES.get(value, f'number {value}')}"
    if isinstance(value, bool):
        return f"{name.replace('_', ' ')} {'on' if value else 'off'}"
    return f"{name.replace('_', ' ')} {json.dumps(value)}"


def _default_device(code: str, source: str) -> str:
    device = code.rpartition(" == ")[2]
    return "no default device is set" if device == "None" else f"the default device is {device}"


def _after_equals(words: str) -> Callable[[str, str], str | None]:
    def words_of_check(code: str, source: str) -> str | None:
        _, is_equality, value = code.rpartition(" == ")
        return words.format(value) if is_equality else None

    return words_of_check


def _always(words: str) -> Callable[[str, str], str | None]:
    return lambda code, source: words


_CHECKS: dict[str, Callable[[str, str], str | None]] = {
    "TENSOR_MATCH": _tensor,
    "TYPE_MATCH": _type,
    "FAKE_SCRIPT_TYPE_MATCH": _type,
    "ID_MATCH": _identity,
    "EQUALS_MATCH": _equality,
    "TRUE_MATCH": _always("is True"),
    "FALSE_MATCH": _always("is False"),
    "NONE_MATCH": _always("is None"),
    "NOT_NONE": _always("is not None"),
    "WEAKREF_ALIVE": _always("is still alive"),
    "LENGTH_CHECK": _length,
    "DICT_LENGTH": _dict_length,
    "DICT_CONTAINS": _dict_contains,
    "SET_CONTAINS": _set_contains,
    "DICT_VERSION": _always("a dict that was not changed since"),
    "MAPPING_KEYS_MATCH": _after_equals("has the keys {} in this order"),
    "NO_HASATTR": _no_attribute,
    "DIMENSION_DYNAMIC_MARKING_GUARD": _marking,
    "DYNAMIC_INDICES": _marking,
    "NO_TENSOR_ALIASING": _no_aliasing,
    "OBJECT_ALIASING": _lambda_guard,
    "STORAGE_OVERLAPPING": _overlapping,
    "LAMBDA_GUARD": _lambda_guard,
    "GLOBAL_STATE": _global_state,
    "DEFAULT_DEVICE": _default_device,
    "TORCH_FUNCTION_MODE_STACK": _always("the same stack of torch function modes"),
    "DUAL_LEVEL_MATCH": _after_equals("forward-mode autograd at level {}"),
    "TUPLE_ITERATOR_LEN": _after_equals("a tuple iterator with {} items left"),
    "RANGE_ITERATOR_MATCH": _after_equals("a range iterator at (start, stop, step) {}"),
    "FLOAT_IS_NAN": _always("is NaN"),
    "COMPLEX_IS_NAN": _always("is NaN"),
    "DATA_PTR_MATCH": _always("a tensor at the same address"),
    "DISPATCH_KEY_SET_MATCH": _always("the same set of dispatch keys"),
}
_TYPE_CHECKS = {
    "TYPE_MATCH",
    "FAKE_SCRIPT_TYPE_MATCH",
    "ID_MATCH",
}  # older torch names the type in its comment
_RELATIONS = {
    "NO_TENSOR_ALIASING": "the same tensor as none of the others that are so checked",
    "STORAGE_OVERLAPPING": "overlaps in memory as those that are so checked",
    "OBJECT_ALIASING": "the same object as the one that is so checked",
}

# GuardBuilder's methods of these names do nothing: "we always guard on this via GlobalStateGuard()".
CHECKED_BY_GLOBAL_STATE = frozenset({"GRAD_MODE", "DETERMINISTIC_ALGORITHMS", "FSDP_TRAINING_STATE"})

# The type of the leaf in the guard tree that checks a guard.
_LEAF_TYPES = {
    "TYPE_MATCH": "TYPE_MATCH",
    "ID_MATCH": "ID_MATCH",
    "MODULE_MATCH": "ID_MATCH",
    "BUILTIN_MATCH": "ID_MATCH",
    "CLASS_MATCH": "ID_MATCH",
    "FUNCTION_MATCH": "ID_MATCH",
    "NN_MODULE": "ID_MATCH",
    "EQUALS_MATCH": "EQUALS_MATCH",
    "BOOL_MATCH": "EQUALS_MATCH",
    "NONE_MATCH": "NONE_MATCH",
    "DICT_CONTAINS": "DICT_CONTAINS",
    "DICT_NOT_CONTAINS": "DICT_CONTAINS",
    "SET_CONTAINS": "SET_CONTAINS",
    "SET_NOT_CONTAINS": "SET_CONTAINS",
    "TUPLE_ITERATOR_LEN": "TUPLE_ITERATOR_LEN",
    "RANGE_ITERATOR_MATCH": "RANGE_ITERATOR_MATCH",
    "MAPPING_KEYS_CHECK": "MAPPING_KEYS_MATCH",
    "DICT_VERSION": "DICT_VERSION",
    "DEFAULT_DEVICE": "DEFAULT_DEVICE",
    "DUAL_LEVEL": "DUAL_LEVEL_MATCH",
    "DUPLICATE_INPUT": "LAMBDA_GUARD",
    "AUTOGRAD_SAVED_TENSORS_HOOKS": "LAMBDA_GUARD",
    "FUNCTORCH_STACK_MATCH": "LAMBDA_GUARD",
    "WEAKREF_ALIVE": "NOT_NONE",
    "NOT_NONE_MATCH": "NOT_NONE",
}

# What guards require that have no text of their own.
_GUARDS = {
    "CLOSURE_MATCH": "a function with the same code",
    "EMPTY_NN_MODULE_HOOKS_DICT": "has no hooks (checked only if config.skip_nnmodule_hook_guards is off)",
    "NOT_PRESENT_IN_GENERIC_DICT": "does not shadow an attribute of its class with one of its own",
    "SHAPE_ENV": "the dynamic sizes relate as they were found to",
    "GLOBAL_STATE": "torch's global state is the same",
    "TORCH_FUNCTION_STATE": "the same stack of torch function modes",
    "TENSOR_SUBCLASS_METADATA_MATCH": "the same metadata of its tensor subclass",
    "DTENSOR_SPEC_MATCH": "the same DTensor placement",
}
