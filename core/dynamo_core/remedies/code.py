"""Causes: functions of torch that Dynamo does not trace.

Source: torch/_dynamo/variables/{torch,tensor,nn_module,misc}.py and torch/_dynamo/graph_break_registry.json,
read with 2.13; names of breaks with 2.8 to 2.15.
"""

import re

from ..analysis.source_lines import compared_in
from .python_code import SETS_AN_ATTRIBUTE
from .rules import REGISTERS_A_HOOK, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

# Source: torch/_dynamo/variables/misc.py (AutogradFunctionVariable), read and run with 2.13.
_OF_A_CLASS = re.compile(r"Unsupported python_type\(\) call|setattr\(\) on unsupported type")
# torch 2.8 says no more of it: torch/_dynamo/variables/builtin.py (BuiltinVariable._make_handler).
_OF_AN_UNKNOWN_TYPE = re.compile(r"builtin operator `\w+` with argument types \['<unknown type>'")


def _is_on_an_autograd_function(break_context: BreakContext) -> bool:
    return "AutogradFunctionVariable" in break_context.context


def _compares_addresses(break_context: BreakContext) -> bool:
    return compared_in(break_context.line, "data_ptr") is not None


_RAISED_WHILE_TRACED = re.compile(r"failed to run FX node with fake tensors|when making fake tensor call")

# A hook on a value inside of a graph is traced where it only calculates.
_COPIED_BEFORE: RemedyTemplate[BreakContext] = RemedyTemplate(
    "make the copy before the call of `{function}`, and pass it in; of what is made inside, copy each tensor "
    "by `.clone()`.",
    cures=("deepcopy_of_a_module",),
)
IN_HOOKS: BreakRules = (
    Rule(
        re.compile(r"."),
        "`{line}` registers a hook on a value inside of the graph that does more than calculate",
        (
            RemedyTemplate(
                "end the compiled function in front of `{line}`, and compile what comes after it as a "
                "function of its own: between two graphs the value is a tensor whose gradient a hook gets.",
                cures=("attention_gradients",),
            ),
        ),
        line=REGISTERS_A_HOOK,
    ),
)


def _is_scaled(break_context: BreakContext) -> bool:
    """Whether a `GradScaler` has scaled the loss: it finds no gradients of a backward pass that is traced.

    Source: torch/amp/grad_scaler.py (GradScaler.step, its assertion on inf checks), run with 2.13.
    """
    return any(".scale(" in line for line in (break_context.line, *break_context.before))


TORCH_CODE: BreakRules = (
    Rule(
        # torch/distributions/kl.py (kl_divergence, _dispatch_kl), read and run with 2.13.
        re.compile(r"."),
        "`kl_divergence` looks up the formula for two kinds of distributions when it first meets them, in a "
        "way that torch does not trace",
        (
            RemedyTemplate(
                "call `kl_divergence` once, with distributions of the same two classes, before the first "
                "call of `{function}`: it keeps what it has found.",
                cures=("divergence_of_a_vae",),
            ),
        ),
        when=lambda break_context: (
            (break_context.entered, break_context.library) == ("kl_divergence", "torch")
        ),
    ),
    Rule(
        # torch/_dynamo/symbolic_convert.py (_throw_if_in_functorch), 2.8 to 2.15; not of the backend eager.
        re.compile(r"Unsupported functorch tracing attempt"),
        "it is called under a transform of `torch.func` (`vmap`, `grad`, …), where torch compiles nothing",
        (
            RemedyTemplate(
                "compile around the transform: `torch.compile(torch.func.vmap(f))`, for `f` as it was before "
                "`torch.compile`, in place of `torch.func.vmap(torch.compile(f))`.",
                cures=("members_under_vmap",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Module-level backwards hooks"),
        "a module that `{line}` calls has a backward hook, which torch does not trace",
        (
            RemedyTemplate(
                "leave that module to eager: end the compiled function in front of `{line}`, and compile "
                "what comes after it as a function of its own; or take the hook off, where it is not needed.",
                cures=("backward_hook_on_a_layer",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Tensor\.backward\(\)|autograd\.grad|trace_autograd_ops"),
        "`{line}` runs a backward pass inside of compiled code, which torch does not trace as it is set",
        (
            RemedyTemplate(
                "set `torch._dynamo.config.trace_autograd_ops = True` before the first call: then the "
                "backward pass is part of the graph.",
                cures=("gradient_penalty",),
                change=Change(settings=(Assignment("torch._dynamo.config.trace_autograd_ops", "True"),)),
                since=(2, 11),
                not_for=("step_with_a_scaler",),
                when=lambda break_context: not _is_scaled(break_context),
            ),
            RemedyTemplate(
                "compile what comes before `{line}` as a function of its own, and run the backward pass "
                "after its call.",
                cures=("backward_inside",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Data pointer comparison|data_ptr"),
        "where a tensor lies in memory is not known while the function is compiled",
        (
            RemedyTemplate(
                "compare the tensors themselves, `is` in place of `==` on `data_ptr()`: whether two inputs "
                "are one tensor is known.",
                cures=("same_memory",),
                change=Change(edit="data_ptr to is"),
                may_change="a tensor and a view of it, which begin at one address, are not the same then",
            ),
        ),
        when=_compares_addresses,
    ),
    Rule(
        re.compile(r"RemovableHandle|setattr\(\) is not supported"),
        "a hook is registered, or removed, in the compiled function (`{line}`)",
        (
            RemedyTemplate(
                "register the hook once, outside of the compiled code, before its first call, as in "
                "`__init__`; and where it keeps something under a key, put that key in before the first "
                "call, `kept = {{'name': None}}`, since a key that comes later is compiled for again.",
                cures=("hook_on_module", "features_by_a_hook"),
                may_change="the hook also runs where other code calls that module",
            ),
        ),
        line=re.compile(r"hook|\.remove\(\)|handle"),
    ),
    Rule(
        _OF_A_CLASS,
        "`{line}` sets an attribute of a class that is derived from `torch.autograd.Function`, which torch "
        "does not trace",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: set it before or after the call of `{function}`.",
                cures=("autograd_function_counted",),
            ),
        ),
        line=SETS_AN_ATTRIBUTE,
        when=_is_on_an_autograd_function,
    ),
    Rule(
        _OF_AN_UNKNOWN_TYPE,
        "`{line}` sets an attribute that torch does not trace, as those of a class that is derived from "
        "`torch.autograd.Function`",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: set it before or after the call of `{function}`.",
                cures=("autograd_function_counted",),
            ),
        ),
        line=SETS_AN_ATTRIBUTE,
    ),
    Rule(
        _OF_A_CLASS,
        "`{line}` reads an attribute of a class that is derived from `torch.autograd.Function`, which torch "
        "does not trace",
        (
            RemedyTemplate(
                "keep it elsewhere than on that class: in a variable of the module, or as an argument of "
                "`apply`, for which `backward` returns None.",
                cures=("autograd_function_with_a_constant",),
            ),
        ),
        when=_is_on_an_autograd_function,
    ),
    Rule(
        re.compile(r"HOP: Unsafe side effect"),
        "`{line}` changes what is outside of the function that torch traces here as an operator of its own "
        "(`torch.utils.checkpoint` and the like)",
        (
            RemedyTemplate(
                "take `{line}` out of that function: return what it needs, and do it after the call.",
                cures=("list_filled_under_checkpoint",),
                may_change="what checkpoint runs again in the backward is then done once",
            ),
        ),
    ),
    Rule(
        re.compile(r"HOP: Non-nullified side effect"),
        "what `{call}` runs is traced as an operator of its own, and changes an attribute of an object "
        "outside of it",
        (
            RemedyTemplate(
                "set that attribute before `{call}` or after it, not in the function that it runs.",
                cures=("counter_under_checkpoint",),
                may_change="what checkpoint runs again in the backward is then done once",
            ),
        ),
    ),
    Rule(
        re.compile(r"Attempted to copy\.deepcopy a tensor"),
        "`{call}` copies each tensor of a dataclass by `copy.deepcopy`, which torch does not trace",
        (
            RemedyTemplate(
                "take the fields as they are, without a copy: `{{f.name: getattr(x, f.name) for f in "
                "dataclasses.fields(x)}}` in place of `{call}`.",
                cures=("outputs_as_dictionary",),
                change=Change(edit="asdict to fields"),
                may_change="what changes the tensors of one in place changes those of the other",
            ),
        ),
        when=lambda break_context: break_context.entered in ("asdict", "astuple"),
    ),
    Rule(
        re.compile(r"Attempted to copy\.deepcopy a tensor"),
        "torch does not trace `copy.deepcopy` of what holds tensors (`{call}`)",
        (_COPIED_BEFORE,),
        when=lambda break_context: break_context.depth > 1,
    ),
    Rule(
        re.compile(r"sourceless builder"),  # in 2.15
        "torch does not trace `copy.deepcopy` of what holds tensors (`{call}`)",
        (_COPIED_BEFORE,),
        line=re.compile(r"\bdeepcopy\("),
    ),
    Rule(
        re.compile(r"Attempted to copy\.deepcopy a tensor"),
        "torch does not trace `copy.deepcopy` of a tensor",
        (
            RemedyTemplate(
                "write `.clone()` on the tensor in place of `{call}` (`.detach().clone()` where no gradient "
                "is to flow back).",
                cures=("deepcopy_of_a_tensor",),
                change=Change(edit="deepcopy to clone"),
                may_change="gradients flow through a clone",
            ),
        ),
    ),
    Rule(
        re.compile(r"setattr\(\) on Tensor\.requires_grad"),
        "a tensor is set to require a gradient in compiled code (`{line}`), which torch does not trace",
        (
            RemedyTemplate(
                "move `{line}` out of the compiled code, in front of the call of `{function}`; what must not "
                "have a gradient from it takes `.detach()` inside.",
                cures=("requires_grad_set_inside",),
            ),
        ),
    ),
    Rule(
        re.compile(r"non-contiguous `out=`"),
        "`{call}` writes into a tensor with gaps in memory, which torch does not trace with `out=`",
        (
            RemedyTemplate(
                "leave out `out=…`, and copy what `{called}` returns: `target.copy_(…)`.",
                cures=("written_with_strides",),
            ),
        ),
    ),
    Rule(
        re.compile(r"is_inference(?:_mode_enabled)?\(?\)? (?:during|is not)"),
        "`{line}` asks how a tensor was made that the module keeps, which torch does not trace",
        (
            RemedyTemplate(
                "make what the module keeps before its first call, outside of `torch.inference_mode`: as a "
                "buffer that is long enough for every input, `register_buffer(…, persistent=False)` in "
                "`__init__`; the compiled code takes its part of that, and asks nothing.",
                cures=("table_kept_by_the_first_call",),
            ),
        ),
        line=re.compile(r"\bself\.\w+\.is_inference\("),
    ),
    Rule(
        re.compile(r"is_inference(?:_mode_enabled)?\(?\)? (?:during|is not)"),
        "`{line}` asks for the inference mode, which torch does not trace",
        (
            RemedyTemplate(
                "ask before the call of `{function}`, and pass the answer in; or use `torch.no_grad` in "
                "place of `torch.inference_mode`, and ask `torch.is_grad_enabled()`, which is traced.",
                cures=("inference_mode_asked",),
            ),
        ),
    ),
    Rule(
        re.compile(r"torch\.jit\.script/freeze modules|ScriptModules aren't supported"),  # the latter in 2.8
        "`{call}` calls a module that torch.jit.script has compiled already, into which torch cannot look",
        (
            RemedyTemplate(
                "call the module as it was before `torch.jit.script`: torch.compile compiles it with what "
                "calls it.",
                cures=("scripted_module",),
            ),
        ),
    ),
    Rule(
        re.compile(r"Tensor\.retain_grad\(\)"),
        "autograd knows of no value inside of a graph whose gradient it could keep (`{line}`)",
        (
            RemedyTemplate(
                "end the compiled function in front of `{line}`, and compile what comes after it as a "
                "function of its own: between two graphs the value is a tensor that keeps its gradient.",
                cures=("gradient_kept",),
            ),
        ),
    ),
    Rule(
        re.compile(r"requires_grad_\(\)"),
        "`{line}` sets whether parameters require gradients, which torch does not trace",
        (
            RemedyTemplate(
                "take `{line}` out of the compiled code: freeze in front of the call of `{function}`, and "
                "undo that behind it.",
                cures=("critic_frozen_in_the_step",),
            ),
        ),
        when=lambda break_context: break_context.entered == "requires_grad_",
    ),
    Rule(
        re.compile(r"requires_grad_\(\)"),
        "a hook sets a tensor to require a gradient, which torch does not trace",
        (
            RemedyTemplate(
                "call `requires_grad_(True)` on the input of the compiled code before its call: what is "
                "calculated from it requires a gradient then, and `{line}` changes nothing, which torch "
                "traces. Of whole numbers (token ids) compile what comes after the hook alone.",
                cures=("gradient_asked_for_in_a_hook",),
                may_change="the input has a `.grad` after the backward pass",
            ),
        ),
        unless=re.compile(r"False"),
        when=lambda break_context: break_context.is_hook,
    ),
    Rule(
        re.compile(r"requires_grad_\(\)"),
        "a tensor that is made inside is set to require a gradient, which a later line asks for",
        (
            RemedyTemplate(
                "make the tensor of `{line}` in front of the call of `{function}`, call `requires_grad_()` "
                "on it there, and pass it in.",
                cures=("gradient_penalty_of_a_mixture",),
            ),
        ),
        when=lambda break_context: any("autograd.grad(" in line for line in break_context.following),
    ),
    Rule(
        re.compile(r"requires_grad_\(\)"),
        "a tensor that is made inside is set to require a gradient, and then returned",
        (
            RemedyTemplate(
                "call `requires_grad_()` on what `{function}` returns, after its call.",
                cures=("requires_grad_of_intermediate",),
            ),
        ),
    ),
    Rule(
        re.compile(r"torch\.nn\.Parameter"),
        "a module with parameters is made while the function is compiled",
        (
            RemedyTemplate(
                "call the function of `torch.nn.functional` in its place, which needs no module "
                "(`layer_norm` for `LayerNorm`); or make the module once, in `__init__` or before the call "
                "of `{function}`.",
                cures=("module_made_inside",),
            ),
        ),
        line=re.compile(r"\bnn\.[A-Z]\w{1,40}\("),
        when=lambda break_context: "Parameter(" not in break_context.line,
    ),
    Rule(
        re.compile(r"torch\.nn\.Parameter"),
        "a parameter that is not trained is made while the function is compiled",
        (
            RemedyTemplate(
                "leave `Parameter(…, requires_grad=False)` out, and use the tensor that it is given: made in "
                "each call, it is a parameter of no module, and nothing trains it.",
                cures=("queries_that_are_not_trained",),
                change=Change(edit="parameter left out"),
            ),
        ),
        line=re.compile(r"Parameter\(.{1,200}\brequires_grad ?= ?False"),
    ),
    Rule(
        re.compile(r"torch\.nn\.Parameter"),
        "a parameter is made while the function is compiled",
        (
            RemedyTemplate(
                "make the parameter outside of the compiled code, in `__init__` or before the call of "
                "`{function}`, and use it here.",
                cures=("parameter_made_inside",),
            ),
        ),
    ),
    Rule(
        re.compile(r"no fake impl|fake tensor implementation|register_fake|Missing fake kernel"),
        "the custom operator that `{call}` calls does not say what its result looks like",
        (
            RemedyTemplate(
                "tell torch what comes out of it, below its definition: `@{called}.register_fake` above a "
                "function of the same arguments that returns an empty tensor of the right shape "
                "(`torch.empty_like(x)`).",
                cures=("custom_op_without_fake",),
            ),
        ),
    ),
    Rule(
        _RAISED_WHILE_TRACED,
        "`{line}` raises an error for these tensors while it is traced, where no `except` of the program's "
        "catches it",
        (
            RemedyTemplate(
                "write what works for all tensors that come, as `reshape` in place of `view`; or ask before "
                "in place of catching the error (`x.is_contiguous()`, a shape, a dtype): torch knows these.",
                cures=("view_or_copy",),
                not_for=("shape_that_does_not_fit",),
            ),
        ),
        when=lambda break_context: break_context.is_tried,
    ),
    Rule(
        _RAISED_WHILE_TRACED,
        "an operation of this line raised the error while torch traced it with the shapes and dtypes of the "
        "call, as it mostly does in plain Python",
        (
            RemedyTemplate(
                "run the program with `TORCHDYNAMO_DISABLE=1`: where plain Python raises the error as well, "
                "change what `{call}` is given; else `dynamo repro` makes a small file of it for a report.",
                cures=("shape_that_does_not_fit",),
            ),
        ),
    ),
    Rule(
        re.compile(r"returned non-Tensor"),
        "`torch.get_default_device()` gives no tensor, so that torch cannot put the call into a graph",
        (
            RemedyTemplate(
                "use the device of a tensor that is there, `x.device`, in place of "
                "`torch.get_default_device()`; where there is none, `torch.empty(0).device`, which is the "
                "default and is traced.",
                cures=("default_device",),
                change=Change(edit="default device of a tensor"),
            ),
        ),
        line=re.compile(r"\bget_default_device\("),
    ),
    Rule(
        re.compile(r"sparse Tensor|Sparse tensor|\.sparse_\w{1,20}_tensor\b"),
        "torch.compile does not support sparse tensors",
        (
            RemedyTemplate(
                "do without them: `torch.zeros(n, x.shape[1]).index_add(0, row, value[:, None] * x[column])` "
                "is what `torch.sparse.mm` gives for a matrix of `row`, `column` and `value` (clones of what "
                "its `indices()` and `values()` give: those views raise an error in the compiler); "
                "or make sparse tensors, and calculate with them, outside of the compiled code.",
                cures=("sparse_tensor", "sparse_matrix_made_inside"),
            ),
        ),
    ),
    Rule(
        re.compile(
            r"function `(?:manual_seed|seed|set_rng_state|get_rng_state|initial_seed)`|method `manual_seed`"
            r"|torch\.Generator method"
        ),
        "`{line}` reads or sets the state of the random numbers, which torch does not trace",
        (
            RemedyTemplate(
                "move `{line}`, and what it needs, out of the compiled code, in front of the call of "
                "`{function}`.",
                cures=("seeded_inside", "generator_seeded_inside", "seed_drawn_inside"),
                change=Change(edit="statement moved out"),
            ),
        ),
    ),
)
