"""Edits of a program's source, by the names that remedies use. Each keeps the file's formatting."""

from collections.abc import Callable, Mapping
from functools import cache, partial

from ...remedies.rules import Change
from .branch import assert_of_one_condition, branch_to_where, conditions_as_one
from .flags import flag_kept_in_python
from .hoisting import called_methods_compiled, compile_hoisted, compiled_in_place
from .lines import (
    asdict_to_fields,
    attribute_by_dictionary,
    constant_message,
    copied_always,
    data_ptr_to_is,
    decorator_removed,
    deepcopy_to_clone,
    default_device_of_a_tensor,
    index_kept_tensor,
    item_kept_tensor,
    mask_declared_causal,
    numpy_to_math,
    numpy_to_torch,
    parameter_left_out,
    statement_removed,
)
from .moving import call_moved_out, statement_moved_out
from .parts import (
    compiled_around,
    compiled_around_function,
    compiled_around_function_and_called,
    decided_outside,
    made_first,
)
from .settings import reset_removed, set_at_the_start

# Takes the text of a file and the line of the finding (from 1); None where the edit is not possible there.
Edit = Callable[[str, int], str | None]

EDITS: Mapping[str, Edit] = {
    "branch to where": branch_to_where,
    "item kept a tensor": item_kept_tensor,
    "index kept a tensor": index_kept_tensor,
    "deepcopy to clone": deepcopy_to_clone,
    "asdict to fields": asdict_to_fields,
    "flag kept in Python": flag_kept_in_python,
    "assert with a constant message": constant_message,
    "assert of one condition": assert_of_one_condition,
    "conditions as one": conditions_as_one,
    "numpy to torch": numpy_to_torch,
    "numpy to math": numpy_to_math,
    "attribute by its dictionary": attribute_by_dictionary,
    "default device of a tensor": default_device_of_a_tensor,
    "compile hoisted": compile_hoisted,
    "compiled in place": compiled_in_place,
    "called methods compiled": called_methods_compiled,
    "statement removed": statement_removed,
    "data_ptr to is": data_ptr_to_is,
    "copied always": copied_always,
    "parameter left out": parameter_left_out,
    "mask declared causal": mask_declared_causal,
    "decorator removed": decorator_removed,
    "call moved out": call_moved_out,
    "statement moved out": statement_moved_out,
    "set at the start": set_at_the_start,
    "reset removed": reset_removed,
    "compiled around it": compiled_around,
    "compiled around its function": compiled_around_function,
    "compiled around its function, and what that calls": compiled_around_function_and_called,
    "decided outside": decided_outside,
    "made first": made_first,
}
# Edits that change how the function is called, so that all of its callers must be edited too.
CHANGES_CALLERS = ("call moved out", "statement moved out")
# Edits that also take the operand of the change.
_WITH_OPERAND: Mapping[str, Callable[[str, int, str | None], str | None]] = {
    "decided outside": decided_outside,
    "made first": made_first,
}


@cache
def edit_of(change: Change) -> Edit:
    """The edit that a change names; equal changes have one and the same."""
    assert change.edit is not None
    if change.operand is None:
        return EDITS[change.edit]
    return partial(_edit_with_operand, change.edit, change.operand)


def _edit_with_operand(name: str, operand: str, text: str, line: int) -> str | None:
    return _WITH_OPERAND[name](text, line, operand)
