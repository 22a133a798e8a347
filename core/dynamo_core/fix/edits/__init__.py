"""Edits of a program's source, by the names that remedies call them; each keeps the file's formatting."""

from collections.abc import Callable, Mapping

from .branch import branch_to_where
from .hoisting import compile_hoisted
from .line_edits import (
    constant_message,
    data_ptr_to_is,
    decorator_removed,
    deepcopy_to_clone,
    item_kept_tensor,
    numpy_to_torch,
    statement_removed,
)
from .moving import call_moved_out, statement_moved_out

# Takes the text of a file and the line of the finding (from 1); None where the edit does not fit there.
Edit = Callable[[str, int], str | None]

EDITS: Mapping[str, Edit] = {
    "branch to where": branch_to_where,
    "item kept a tensor": item_kept_tensor,
    "deepcopy to clone": deepcopy_to_clone,
    "assert with a constant message": constant_message,
    "numpy to torch": numpy_to_torch,
    "compile hoisted": compile_hoisted,
    "statement removed": statement_removed,
    "data_ptr to is": data_ptr_to_is,
    "decorator removed": decorator_removed,
    "call moved out": call_moved_out,
    "statement moved out": statement_moved_out,
}
