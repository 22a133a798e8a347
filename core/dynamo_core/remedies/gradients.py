"""Causes: compiled code asks for the gradient of a tensor that it makes require one.

Source: torch/_dynamo/variables/tensor.py (method_requires_grad_) and torch/_dynamo/variables/torch.py
(`torch.autograd.grad`, by `trace_autograd_ops`); read and run with 2.13.
"""

import re

from .rules import NAME, Assignment, BreakContext, BreakRules, Change, RemedyTemplate, Rule

_SETS_REQUIRES_GRAD = re.compile(r"\b(\w{1,60})\.requires_grad_\((?:True)?\)")
_ASKS_FOR_A_GRADIENT = re.compile(r"\bautograd\.grad\((.{1,200})")
_TRACED = "torch._dynamo.config.trace_autograd_ops"


def _is_on_the_way_to_a_gradient(break_context: BreakContext) -> bool:
    """Whether the line sets `requires_grad`, or asks for the gradient of what has it from another line."""
    line = break_context.line
    sets = map(_SETS_REQUIRES_GRAD.search, (*break_context.before, line))
    asks = map(_ASKS_FOR_A_GRADIENT.search, (line, *break_context.following))
    asked = {name for found in asks if found for name in NAME.findall(found[1])}
    is_one = _SETS_REQUIRES_GRAD.search(line) or _ASKS_FOR_A_GRADIENT.search(line)
    return is_one is not None and any(found[1] in asked for found in sets if found)


def _is_set_on_an_input(break_context: BreakContext) -> bool:
    """Whether `requires_grad_()` is called on what no line before it calculates."""
    found = _SETS_REQUIRES_GRAD.search(break_context.line)
    if found is None or break_context.is_hook:
        return False
    made = re.compile(rf"\s*(?:\w+, )*{re.escape(found[1])}(?:, \w+)* = .*[(*/+@-]")
    return not any(made.match(line) for line in break_context.before)


GRADIENTS: BreakRules = (
    Rule(
        re.compile(r"autograd\.grad|trace_autograd_ops|requires_grad_\(\)"),
        "compiled code makes a tensor require a gradient, and asks for it (`{line}`): torch traces neither "
        "as it is set",
        (
            RemedyTemplate(
                "in front of the call of `{function}` make the tensor whose gradient is asked for, call "
                f"`requires_grad_()` on it there, and pass it in; and set `{_TRACED} = True` before the "
                "first call, unless it is set: then the backward pass is part of the graph.",
                cures=("flow_of_an_energy", "gradient_penalty_of_a_mixture"),
            ),
            RemedyTemplate(
                f"set `{_TRACED} = True` before the first call: `requires_grad_()` breaks the graph then, "
                "and the backward pass does not.",
                cures=("flow_of_an_energy",),
                change=Change(settings=(Assignment(_TRACED, "True"),)),
                when=lambda break_context: "autograd.grad(" in break_context.line,
            ),
        ),
        when=lambda context: context.version >= (2, 11) and _is_on_the_way_to_a_gradient(context),
    ),
    Rule(
        re.compile(r"requires_grad_\(\)"),
        "a tensor that is passed in is set to require a gradient",
        (
            RemedyTemplate(
                "call `requires_grad_()` on that tensor before the call of `{function}`: what is passed in "
                "requires a gradient then, and `{line}` changes nothing, which torch traces.",
                cures=("requires_grad_of_input",),
            ),
        ),
        when=_is_set_on_an_input,
    ),
)
