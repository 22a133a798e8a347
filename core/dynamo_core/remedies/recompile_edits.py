"""Remedies for recompiles that edit the program, by what differed between the calls.

Source: torch's documentation (Dynamic Shapes; Programming Model: Recompilation).
"""

import re
from collections.abc import Callable, Sequence

from ..analysis.recompile_causes import RecompileCause
from ..analysis.source_lines import is_made_of_alone, looped_over
from .recompile_parts import (
    asked_for,
    given_twice,
    is_between_graphs,
    is_branch,
    is_calculated_with,
    is_flag,
    is_kind,
    is_learning_rate,
    is_none,
    is_none_or_tensor,
    is_number_of_an_enum,
    is_number_or_tensor,
    is_read_as_well,
    is_setting_of_torchs,
    kept_key,
    keys_of,
    one_remedy,
    range_of_a_library,
    walk_of,
)
from .recompile_states import OF_STATES
from .rules import Change, Rule

_FUNCTIONS = (
    "function",
    "method",
    "builtin_function_or_method",
    "functools.partial",
    "code",
    "module",
    "type",
)
_WIDER = ("float16", "float32", "float64")
_OF_OBJECTS = ("value", "type", "identity", "length", "attribute", "dictionary")
_SAME_KEYS = (
    "{dictionary} has other keys in some calls: give it the same keys in every call, with what changes "
    "nothing (an all-True mask, say) where there was none; or leave the loop over them to Python, before the "
    "call, and pass in what it gives."
)
_TYPE = re.compile(r"type=<class '([^']+)'>")


def _is_worded(words: str) -> Callable[[RecompileCause], bool]:
    """A test whether torch's words on the guard begin with these."""
    return lambda cause: cause.words.startswith(words)


def _is_loop(cause: RecompileCause) -> bool:
    return cause.is_needed_as_number and cause.line.startswith(("for ", "while ", "async for "))


def _is_function(cause: RecompileCause) -> bool:
    found = [_TYPE.search(failure.check) for failure in cause.failures]
    return cause.kind == "identity" and all(each is None or each[1] in _FUNCTIONS for each in found)


def _decide_outside(cause: RecompileCause) -> Change:
    """Move the decision on the value out of the compiled code, and compile the code of each outcome."""
    return Change(edit="decided outside", operand=_argument(cause))


def _run_first(statement: str) -> Callable[[RecompileCause], Change | None]:
    """Put `statement` before the compiled code; `{x}` in it is the name of the argument."""

    def change(cause: RecompileCause) -> Change | None:
        name = _argument(cause)
        return None if name is None else Change(edit="made first", operand=statement.format(x=name))

    return change


def _to_widest_dtype(cause: RecompileCause) -> Change | None:
    """Convert to the widest dtype, if all are floating point: then no value is lost."""
    named = [value.removeprefix("torch.") for value in cause.values]
    if not set(named) <= set(_WIDER):
        return None
    return _run_first(f"{{x}} = {{x}}.to(torch.{max(named, key=_WIDER.index)})")(cause)


def _argument(cause: RecompileCause) -> str | None:
    """The name of the argument that is the cause, if it is a whole argument or its code, not another part."""
    source = (cause.source or "").removesuffix(".__code__")
    return source if source.isidentifier() else None


def _as_a_view(cause: RecompileCause) -> Change | None:
    name = given_twice(cause)
    return Change(edit="made first", operand=f"{name} = {name}.view_as({name})")


def _is_of_a_wrapped_module(cause: RecompileCause) -> bool:
    """Whether the frame is torch's wrapper around a module, and modules differ.

    What one module keeps may change between its calls. Source: wrap_inline (torch/_dynamo/external_utils.py),
    2.8 to 2.15: `fn` is the module.
    """
    place, source = cause.frame.place, cause.source or ""
    is_wrapper = place is not None and place.file.endswith("torch/_dynamo/external_utils.py")
    if not is_wrapper or source.startswith(("fn.keywords[", "fn.args[")):
        return False  # the latter is a `functools.partial`, not a module
    is_kept = cause.kind in ("value", "length", "dictionary") and not source.endswith(("fn", "_modules"))
    return (re.match(r"fn\b", source) is not None and not is_kept) or len(cause.frame.compile_calls) > 1


# Before all others: the modules differ, so making their sizes dynamic would not help.
OF_WRAPPED_MODULES = one_remedy(  # modules of torch's compiled apart
    _is_of_a_wrapped_module,
    "torch calls modules of its own through one function, so that those that are compiled apart are versions "
    "of that function: compile one module of yours that holds them all, in one call of `torch.compile`.",
    cures=("recompile_modules_apart",),
)
# Before all others: the value has no name by which the user could make it dynamic.
BETWEEN_GRAPHS: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # freed between two graphs
        lambda cause: cause.kind == "freed object" and is_between_graphs(cause),
        "the line of the graph break before it makes a new object in each call, for which it is compiled: "
        "cure that break, which keeps the object inside of one graph, or make it once.",
    ),
    one_remedy(  # between two graphs
        is_between_graphs,
        "what the line of the graph break before it gave is another value in each call{values}: cure that "
        "break, which keeps the value inside of one graph, or make it the same in every call.",
    ),
)
OF_A_LEARNING_RATE = one_remedy(  # learning rate as a tensor
    is_learning_rate,
    "the learning rate of an optimizer takes several values{values}: make it a tensor where the "
    "optimizer is made, `lr=torch.tensor(…)`; a schedule then changes what the tensor holds, and one version "
    "serves all.",
    cures=("recompile_rate_of_optimizer", "recompile_rate_by_a_schedule"),
)
EDITS: Sequence[Rule[RecompileCause]] = (
    one_remedy(  # walk through a tree or a linked list
        lambda cause: cause.kind in _OF_OBJECTS and walk_of(cause) is not None,
        "the compiled code walks through {root} ({walk}), and each shape of it is a version of its own: "
        "leave the walk to Python, and compile what is calculated at one step of it, as a function of "
        "tensors.",
        cures=("recompile_tree_walked",),
    ),
    one_remedy(  # loop over a size
        _is_loop,
        "compute over the whole dimension at once, or loop outside of the compiled code: {line} is a loop "
        "that torch unrolls, so that each length is a version of its own.",
        _decide_outside,
        cures=("recompile_loop_over_size", "recompile_depth_of_module"),
    ),
    one_remedy(  # made in the first call
        lambda cause: cause.is_needed_as_number and is_none(cause) and "." in (cause.source or ""),
        "{source} was None when it was compiled, and later was not: where the first call makes it, make it "
        "before, where the object is made; else decide by it outside of the compiled code.",
        _decide_outside,
        cures=("recompile_buffer_made_at_first",),
        not_for=("recompile_optional_mask",),
    ),
    one_remedy(  # a setting of a module of torch's
        is_setting_of_torchs,
        "{source} is a number that torch's module needs to know{values}, and each value is a version of its "
        "own: change it seldom, or write a module that has the number in a buffer, and calculates with the "
        "tensor (for a dropout: `x * (torch.rand_like(x) >= self.p) / (1 - self.p)`).",
        may_change="the random numbers of a dropout are others",
        cures=("recompile_dropout_that_grows",),
    ),
    one_remedy(  # a factor that must be known
        lambda cause: not is_branch(cause) and is_calculated_with(cause),
        "calculate what {what} is for before the call, and pass that in (a tensor by which is multiplied, in "
        "place of `alpha=` or `value=`; a size in place of a factor), or leave that line out of what is "
        "compiled: {line} needs its exact value{values}, and each is a version of its own.",
        _decide_outside,
        cures=(
            "recompile_resized_by_a_scale",
            "recompile_temperature_by_count",
            "recompile_weight_by_age",
            "recompile_decay_as_alpha",
            "recompile_delta_of_a_loss",
        ),
        not_for=("recompile_float_threshold",),
    ),
    one_remedy(  # another computation of a library
        lambda cause: cause.kind == "size" and bool(range_of_a_library(cause)),
        "{line} calls what computes sizes of {range} in one way and others in another, each a version of its "
        "own: keep {what} within them: pad a smaller input, or leave it out (`drop_last=True` of a "
        "DataLoader). `dynamic=True` makes one version of all sizes within them, not beyond.",
        cures=("recompile_rows_of_a_convolution", "recompile_rows_behind_a_mean"),
        not_for=("recompile_size_threshold",),
    ),
    one_remedy(  # decided by a size
        lambda cause: cause.is_needed_as_number,
        "decide by {what} outside of the compiled code, and compile what is called there: {line} does "
        "something else for another value of it, so that each is a version of its own, dynamic or not.",
        _decide_outside,
        cures=(
            "recompile_cache_by_size",
            "recompile_specialised_size",
            "recompile_size_threshold",
            "recompile_float_threshold",
            "recompile_int_index",
        ),
    ),
    one_remedy(  # a cache that grows from 0 or 1
        lambda cause: cause.kind == "size" and cause.was_0_or_1 and "." in (cause.source or ""),
        "{what} takes several values{values}, and torch compiles 0 and 1 apart: if it grows, as a cache, "
        "make it at its full size, write into it at a position (`index_copy_`), and mask what is not filled.",
        cures=("recompile_cache_grown_from_one",),
    ),
    one_remedy(  # 0 and 1 apart
        lambda cause: cause.kind == "size" and cause.was_0_or_1,
        "{what} takes several values{values}, and torch compiles 0 and 1 apart: pad the input, or let it be.",
    ),
    one_remedy(  # a number in some calls, a tensor in others
        is_number_or_tensor,
        "{source} is a number in some calls and a tensor in others{values}, each a version of its own: make "
        "it a tensor before the call, `torch.as_tensor({name})`, in every call.",
        _run_first("{x} = torch.as_tensor({x})"),
        cures=("recompile_number_or_tensor",),
    ),
    one_remedy(  # float as a tensor
        lambda cause: cause.is_float,
        "{what} is a float that takes several values{values}, each of them a version of its own: pass "
        "it as a tensor (`torch.tensor(…)`), or keep it in a buffer of the module.",
        _run_first("{x} = torch.tensor(float({x}))"),
        cures=("recompile_int_or_float",),
    ),
    one_remedy(  # int as a tensor
        lambda cause: cause.is_int and not is_branch(cause),
        "{what} takes several values{values}, each of them a version of its own: pass it as a tensor, "
        "or keep it in a buffer of the module (`register_buffer(…, persistent=False)`): give it new values "
        "by `self.n = self.n + 1`, and do not change it in place, where the backward may need the former "
        "one.",
        _run_first("{x} = torch.tensor({x})"),
    ),
    one_remedy(  # a setting that the first call fills in
        lambda cause: is_none(cause) and not is_none_or_tensor(cause),
        "{source} is None in some calls only{values}, which is a version of its own: where the first call "
        "sets it, give it its value before, where the object is made; else compile a function for each case.",
        cures=("recompile_setting_filled_in",),
    ),
    one_remedy(  # kept from the call before
        lambda cause: is_none(cause) and "." in (cause.source or "") and not is_branch(cause),
        "{source} is None in some calls only, which is a version of its own, and {line} does not ask for "
        "that: have a tensor of its size there from the beginning (zeros, say), or pass one in every call.",
        cures=("recompile_last_outputs",),
    ),
    one_remedy(  # None in some calls
        is_none,
        "{source} is None in some calls only, which is a version of its own: pass a tensor in every call "
        "(a mask of ones, say), or compile a function for each case.",
        _decide_outside,
        cures=("recompile_optional_mask",),
    ),
    one_remedy(  # training mode
        lambda cause: cause.is_of_training,
        "the model was in training mode in some calls only: call `eval()` (or `train()`) once, before "
        "the first call.",
        cures=("recompile_training_mode",),
    ),
    one_remedy(  # names of the keys of a dictionary
        lambda cause: keys_of(cause) is not None,
        _SAME_KEYS,
        cures=("recompile_keys_of_a_request",),
    ),
    one_remedy(  # key that a module keeps
        lambda cause: kept_key(cause) is not None,
        "{source} is a key that is looked up in `{table}`{values}, and each key is a version of its own: "
        "keep what a key chooses in tensors on the module, copy it into them where the key is set, outside "
        "of the compiled code (`self.slot.copy_(…)`), and read there these alone; where what it chooses is "
        "other code, compile a function for each.",
        cures=("recompile_adapter_by_name",),
    ),
    one_remedy(  # key of a dictionary
        lambda cause: cause.kind in ("value", "identity") and asked_for(cause) is not None,
        "{source} is a key that is looked up in `{table}`{values}, and each key is a version of its own: "
        "look it up before the call, pass in what is found as a tensor, and store under the key after the "
        "call; where what is found chooses what is computed, compile a function for each.",
        cures=("recompile_key_of_a_store",),
    ),
    one_remedy(  # chosen by a flag
        is_flag,
        "{source} chooses what is computed{values}: two versions, and no more can come. Let them be, or "
        "choose outside of the compiled code, and compile what each choice calls; what is only calculated "
        "with can be a tensor.",
        _decide_outside,
        cures=("recompile_flag_argument",),
    ),
    one_remedy(  # made of a value alone
        lambda cause: cause.kind == "value" and is_made_of_alone(cause.line, cause.source or ""),
        "each value of {source}{values} is a version of its own, and {line} only makes something of it: do "
        "that before the call, and pass in what it gives, as a tensor.",
        cures=("recompile_text_to_encode",),
        not_for=("recompile_string_argument", "recompile_label_argument"),
    ),
    one_remedy(  # chosen by a value
        is_kind("value"),
        "each value of {source}{values} is a version of its own: choose by it outside of the compiled code, "
        "and compile what each choice calls (where several lines choose, leave the function that has them to "
        "Python, and compile what stands between them); pass in what else is made of it; or keep to few.",
        _decide_outside,
        cures=(
            *("recompile_string_argument", "recompile_label_argument"),
            *("recompile_name_handed_on", "recompile_global_mode", "recompile_mode_in_two_places"),
        ),
    ),
    one_remedy(  # another function
        _is_function,
        "{source} is another function in some calls, perhaps a lambda or a partial made again, and each is "
        "a version of its own: pass the same one, or call it outside of the compiled code.",
        _decide_outside,
        cures=("recompile_another_function",),
    ),
    one_remedy(  # number of an enumeration
        is_number_of_an_enum,
        "{source} is another member of an enumeration in some calls, each a version of its own, and its "
        "value is calculated with: pass the value in as a tensor (`torch.tensor({name}.value)`) in place of "
        "the member, and, where a branch asks for the member, that as a tensor too, to choose by "
        "`torch.where`.",
        cures=("recompile_enum_with_numbers",),
    ),
    one_remedy(  # another object
        is_kind("identity"),
        "{source} is another object in some calls, and each is a version of its own: choose by it outside "
        "of the compiled code, or pass few.",
        _decide_outside,
        cures=("recompile_enum_argument",),
    ),
    one_remedy(  # freed object
        is_kind("freed object"),
        "{source} was freed, and what was compiled for it with it: keep a reference to it, or make it once.",
    ),
    *OF_STATES,
    one_remedy(  # memory layout
        is_kind("stride"),
        "{source} comes in different memory layouts: give it one with `.contiguous()` before the call.",
        _run_first("{x} = {x}.contiguous()"),
        cures=("recompile_memory_layout",),
    ),
    one_remedy(  # number of dimensions
        is_kind("rank"),
        "{source} comes with different numbers of dimensions{values}: give it one with `unsqueeze` or "
        "`reshape` before the call, or compile a function for each.",
        cures=("recompile_dimensions",),
    ),
    one_remedy(  # dtype
        is_kind("dtype"),
        "{source} comes as different dtypes{values}: convert it before the call.",
        _to_widest_dtype,
        "what comes of it has that dtype, too",
        cures=("recompile_dtype",),
    ),
    one_remedy(  # device
        is_kind("device"),
        "tensors come from different devices{values}: move them to one before the call.",
    ),
    one_remedy(  # requires_grad below a frame that runs eager
        lambda cause: cause.kind == "requires_grad" and cause.eager_caller is not None,
        "the function is compiled by itself only because {caller}, which calls it, runs eager: cure that "
        "first, and see whether this has gone with it.",
    ),
    one_remedy(  # requires_grad
        is_kind("requires_grad"),
        "{source} requires a gradient in some calls only: call `requires_grad_()` on it before the others, "
        "and one version serves all; where layers share this code in training, a version for the data and "
        "one for what a layer has computed are right.",
        cures=("recompile_requires_grad",),
    ),
    one_remedy(  # modules that change
        lambda cause: cause.kind == "length" and (cause.source or "").endswith("._modules"),
        "modules were added to the model, or taken out, between calls: build it before the first call.",
        cures=("recompile_growing_model",),
    ),
    one_remedy(  # kept by a function
        lambda cause: cause.kind in ("dictionary", "length") and ".__closure__[" in (cause.source or ""),
        "{source} from one call to the next has grown since it was compiled, and torch compiles for what is "
        "in it: call the function once, with what it will get, before the compiled code runs.",
        cures=("recompile_dispatched_by_type",),
    ),
    one_remedy(  # dictionary written into there
        lambda cause: cause.lengthened_there is not None and cause.is_of_dict and len(cause.met) > 1,
        "{source} has another number of keys in some calls, and each is a version of its own: pass in the "
        "entries that are read, return what {line} puts in{whole_call}, and put it in after the call.",
        cures=("recompile_record_of_features",),
    ),
    one_remedy(  # made longer there, and read
        is_read_as_well,
        "{line} changes the length of {source} in each call, what is in it is read there as well, and each "
        "length is a version of its own: keep it in one tensor of a fixed size (a buffer) in place of the "
        "list, written at a position that is a tensor too (`index_copy`), with a mask of what is used.",
        cures=("recompile_list_that_is_read", "recompile_keys_of_each_layer"),
    ),
    one_remedy(  # key that the first call put in
        lambda cause: cause.lengthened_there is not None and cause.is_of_dict and len(cause.met) == 1,
        "{line} made {source} longer once: if it always has the same key, put that in before the first call; "
        "else move it out of the compiled code, behind the call, and return what it needs.",
        cures=("recompile_key_of_the_first_call",),
    ),
    one_remedy(  # made longer there
        lambda cause: cause.lengthened_there is not None,
        "{line} changes the length of {source}, and each length is a version of its own: move it out of the "
        "compiled code, behind the call, and return what it needs{whole_call}.",
        cures=("recompile_growing_list", "recompile_request_id", "recompile_note_by_a_helper"),
    ),
    one_remedy(  # keys of a dictionary
        lambda cause: cause.kind == "dictionary" or (cause.kind == "length" and cause.is_of_dict),
        _SAME_KEYS,
        cures=("recompile_dictionary_keys",),
    ),
    one_remedy(  # length of a list that is looped over
        lambda cause: cause.kind == "length" and cause.source in looped_over(cause.line_of_guard),
        "{source} has different lengths{values}, each a version of its own, since the loop over it is "
        "unrolled: compile what is done with one of its entries, and loop outside of the compiled code; or "
        "put them, if they are tensors, into one, with `torch._dynamo.mark_dynamic` for their number.",
        cures=("recompile_views_of_an_image",),
    ),
    one_remedy(  # length
        is_kind("length"),
        "{source} has different lengths{values}, and each is a version of its own: pass only the entries "
        "that are read, each by itself; or one tensor of a fixed size, with a mask of what is used; or what "
        "is made of all of them, as their sum.",
        cures=("recompile_growing_cache",),
    ),
    one_remedy(  # type
        is_kind("type"),
        "{source} is of different types{values}, and each is a version of its own: pass one type, or "
        "compile a function for each.",
        cures=("recompile_list_or_tuple",),
    ),
    one_remedy(  # attribute
        is_kind("attribute"),
        "{source} comes with and without an attribute (compiled {expected}): set it always, before the first "
        "call, or never.",
        cures=("recompile_attribute_set_later",),
    ),
    one_remedy(  # relation of sizes
        is_kind("relation of sizes"),
        "sizes are in one relation in some calls only (`{check}`), and the program or torch decides by it: "
        "give them one relation (by padding, say), or decide by it outside of the compiled code.",
        cures=("recompile_equal_sizes",),
    ),
    one_remedy(  # another backend
        is_kind("backend"),
        "call `torch.compile` once, outside of what is called again and again, and keep what it returns; for "
        "several modules make the backend once, before them, and pass the same one to each: what is compiled "
        "for one backend function is not used with another.",
        lambda cause: Change(edit="compile hoisted"),
        cures=("recompile_fresh_backend", "recompile_backend_of_each_block"),
    ),
    one_remedy(  # hint of torch's; that on parameters is a setting
        lambda cause: cause.failure is not None and bool(cause.failure.hint) and not cause.is_of_parameter,
        "{hint}",
    ),
    one_remedy(  # one tensor for two arguments
        lambda cause: given_twice(cause) is not None,
        "two arguments are one object in some calls only (`{check}`), which is a version of its own: a "
        "tensor that is not changed in place may be given once as a view of itself (`x.view_as(x)`).",
        _as_a_view,
        cures=("recompile_tensor_given_twice",),
        not_for=("recompile_another_function",),
    ),
    one_remedy(  # None for a value; what evaluating the guard raised
        _is_worded("'NoneType' object has no attribute"),
        "a value that was there when it was compiled is None in this call (an argument, or the base of a "
        "tensor that is no view): each of the two needs its version.",
    ),
    one_remedy(  # anything else
        is_kind("other"),
        "the check `{check}` failed: make what it is about alike in every call.",
    ),
)
