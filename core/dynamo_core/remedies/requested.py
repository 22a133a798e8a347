"""Causes: breaks and disabled functions that the program or a library asks for, and backends that fail.

Source: torch/_dynamo/decorators.py (disable, graph_break, skip_frame) and torch/_dynamo/exc.py
(BackendCompilerFailed), 2.8 to 2.15.
"""

import re

from .calls import has_an_effect_alone, moved_out
from .rules import Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

_ASKS = re.compile(r"graph_break\(\)|skip_frame\(\)|torch\.compiler\.disable")
_LOOKS = re.compile(r"Data-dependent|Tensor\.item\(\)|_local_scalar_dense|Dynamic shape operator")
_CALLS_HOOKS = ("_wrapped_call_impl", "_call_impl")  # torch/nn/modules/module.py, 2.8 to 2.13
_REMOVED = Change(edit="statement removed")
_IS_REQUEST = re.compile(r"\b(?:graph_break|skip_frame|step_unsupported)\(")


# The names of torch's own backends, and of those that packages for it register (list_backends, 2.8 to 2.13).
_OF_TORCH = (
    r"inductor|cudagraphs|aot_\w{1,60}|(?:pre_dispatch_)?eager\w{0,40}|ts|tvm|openxla\w{0,20}|onnxrt|ipex|"
    r"invoke_subgraph|hpu_backend|npu|openvino|(?:torch_)?tensorrt\w{0,20}|compile_fx\w{0,20}"
)
_BY_OWN_BACKEND = re.compile(rf"^BackendCompilerFailed[:\s]{{1,4}}backend='(?!(?:{_OF_TORCH})')")


# Operators that torch's own functions wrap, and that a setting makes part of the graph.
_BY_A_SETTING = re.compile(r"Operator `aten\.(?:_?unique|repeat_interleave|bincount)")


def _looks_in_a_library(break_context: BreakContext) -> bool:
    """Whether a library goes by what a tensor holds; of torch's, a module, or what no setting traces."""
    if break_context.library != "torch":
        return break_context.is_in_library
    words = break_context.words
    is_sized = "Dynamic shape operator" in words and not _BY_A_SETTING.search(words)
    return break_context.entered == "forward" or is_sized


def _outside_of_library(*cures: str) -> tuple[RemedyTemplate[BreakContext], ...]:
    return (
        RemedyTemplate(
            "end the compiled function in front of `{call}`, and compile what comes after it as a function "
            "of its own: what breaks the graph is in `{library}`, and not yours to change.",
            cures=cures,
        ),
    )


BY_A_LIBRARY: BreakRules = (
    Rule(
        # torch/_dynamo/polyfills/builtins.py (all, any), read with 2.13.
        re.compile(r"Data-dependent branching"),
        "`{called}` of Python's asks one tensor after the other whether it is true, and that is not known "
        "while the function is compiled",
        (
            RemedyTemplate(
                "ask all of them at once, in the graph: `torch.stack([…]).{called}()` in place of "
                "`{called}(…)`; and in place of a branch on it choose, `torch.where(condition, then, else)`.",
                cures=("propagation_until_all_agree",),
            ),
        ),
        when=lambda break_context: break_context.entered in ("all", "any"),
    ),
    Rule(
        _ASKS,
        "`{call}` leads into the library `{library}`, which asks torch not to trace it",
        _outside_of_library("library_asks_for_a_break"),
        when=lambda break_context: break_context.is_in_library,
    ),
    Rule(
        re.compile(r"sort with non-constant keys|builtin operator `sorted`"),
        "`{call}` leads into the library `{library}`, which sorts by what is not known while the function is "
        "compiled",
        _outside_of_library("library_sorts"),
        when=lambda break_context: break_context.is_in_library,
    ),
    Rule(
        re.compile(r"Data-dependent branching"),
        "`{call}` leads into a function of torch's that branches on what a tensor holds, and that is not "
        "known while the function is compiled",
        (
            RemedyTemplate(
                "leave out the argument of `{called}` that asks for the check, if one does, and test what it "
                "returns after the call of `{function}`; else call `{called}` outside of the compiled code.",
                cures=("norm_that_must_be_finite",),
            ),
        ),
        when=lambda break_context: break_context.library == "torch",
    ),
    Rule(
        _LOOKS,
        "`{call}` leads into the library `{library}`, which looks at what a tensor holds",
        (moved_out("average_updated_inside"),),
        when=lambda break_context: break_context.entered is not None and has_an_effect_alone(break_context),
    ),
    Rule(
        _LOOKS,
        "`{call}` leads into the library `{library}`, which looks at what a tensor holds",
        _outside_of_library(
            "library_branches", "adaptive_softmax_of_words", "lengths_for_a_ctc_loss", "norm_of_all_batches"
        ),
        when=_looks_in_a_library,
    ),
)
REQUESTED: BreakRules = (
    Rule(
        re.compile(r"torch\.compiler\.disable"),
        "`{disabled}`, a hook of a module that `{call}` calls, was marked with `torch.compiler.disable`",
        (
            RemedyTemplate(
                "remove the `torch.compiler.disable` from `{disabled}`, if torch can trace it; and where it "
                "keeps something under a key, put that key in before the first call, `kept = {{'name': "
                "None}}`, since a key that comes later is compiled for again.",
                cures=("disabled_hooks_of_layers",),
                change=Change(edit="decorator removed"),
            ),
        ),
        when=lambda break_context: break_context.entered in _CALLS_HOOKS and break_context.disabled != "",
    ),
    Rule(
        re.compile(r"torch\.compiler\.disable"),
        "`{disabled}` was marked with `torch.compiler.disable`, so torch does not trace it",
        (
            RemedyTemplate(
                "remove the `torch.compiler.disable` from `{disabled}`, if torch can trace it; else call it "
                "before or after the compiled code.",
                cures=("disabled_helper", "mode_made_inside", "hook_that_is_disabled"),
                change=Change(edit="decorator removed"),
            ),
        ),
    ),
    Rule(
        re.compile(r"graph_break\(\)"),
        "the program asks for this break: `{line}`",
        (RemedyTemplate("remove `{line}`.", cures=("explicit_break",), change=_REMOVED),),
        line=_IS_REQUEST,
    ),
    Rule(
        re.compile(r"skip_frame\(\)|step_unsupported\(\)"),
        "the program asks torch to leave this function alone: `{line}`",
        (RemedyTemplate("remove `{line}`.", cures=("skipped_frame",), change=_REMOVED),),
        line=_IS_REQUEST,
    ),
    Rule(
        # torch/fx/experimental/symbolic_shapes.py (produce_guards_verbose), 2.8 to 2.13.
        re.compile(r"You marked \S{1,200} as dynamic but your code specialized it"),
        "a size that is marked as dynamic (`mark_dynamic`) is made a constant by `{line}`",
        (
            RemedyTemplate(
                "mark it by `torch._dynamo.maybe_mark_dynamic` in place of `mark_dynamic`, or take the mark "
                "off: each size that comes is then a version of its own.",
                cures=("marked_dynamic_but_fixed",),
            ),
        ),
    ),
    Rule(
        # torch/fx/experimental/symbolic_shapes.py (_make_data_dependent_error), read in 2.13.
        re.compile(r"^(?:BackendCompilerFailed|InductorError)\b[\s\S]{0,300}\bGuardOnDataDependentSymNode"),
        "an operator has to know a size or a number that a tensor holds, and that is not known while the "
        "graph is compiled",
        (
            RemedyTemplate(
                "take the value out of the tensor before the call of what is compiled, and pass it in as a "
                "Python number; or leave `capture_scalar_outputs` and `capture_dynamic_output_shape_ops` "
                "off.",
                cures=("size_that_a_lowering_needs",),
            ),
        ),
    ),
    Rule(
        # torch/_dynamo/exc.py (AsPythonConstantNotImplementedError), read in 2.13.
        re.compile(r"AsPythonConstantNotImplementedError: Unspecialized"),
        "`{line}` needs a constant, and gets a number that is another one in each call",
        (
            RemedyTemplate(
                "move `{line}` out of the compiled code, in front of the call of `{function}`, and pass in "
                "what it gives.",
                cures=("random_made_from_a_number",),
            ),
        ),
    ),
    Rule(
        _BY_OWN_BACKEND,
        "the backend that the program passes raised an error, or gave nothing that can be called",
        (
            RemedyTemplate(
                "correct the backend where the error says, and let it return what can be called; that "
                '`backend="aot_eager"` runs in its place would only show that the graph itself is sound. '
                "`dynamo repro` makes a small program that fails alone.",
                cures=("backend_that_raises",),
            ),
        ),
        when=lambda break_context: not break_context.is_in_library or break_context.library == "torch",
    ),
    Rule(
        re.compile(r"^(?:BackendCompilerFailed|InductorError)"),
        "the backend that was to compile the graph raised an error",
        (
            RemedyTemplate(
                'use another backend until this one is fixed: `torch.compile(…, backend="aot_eager")`, '
                "which works where the graph itself is sound; `dynamo repro` makes a small program that "
                "fails alone, for a bug report.",
                cures=("backend_that_raises",),
                change=Change(arguments=(Assignment("backend", "aot_eager"),)),
            ),
        ),
    ),
)
