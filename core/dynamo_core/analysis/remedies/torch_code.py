"""Remedies for what torch itself does when it is called inside of compiled code.

Source: torch/_dynamo/variables/{torch,tensor,nn_module,misc}.py and torch/_dynamo/graph_break_registry.json, read
with 2.13; names of breaks with 2.8 to 2.15.
"""

import re

from .advice import Assignment, Change
from .line_parts import compared_in
from .situation import Situation
from .treatment import Treatment

_AUTOGRAD = re.compile(r"Tensor\.backward\(\)|autograd\.grad|trace_autograd_ops")
_TRACE_AUTOGRAD = Change(settings=(Assignment("torch._dynamo.config.trace_autograd_ops", "True"),))
_ALLOW_RNN = Change(settings=(Assignment("torch._dynamo.config.allow_rnn", "True"),))


def _compares_addresses(situation: Situation) -> bool:
    return compared_in(situation.line, "data_ptr") is not None


TABLE = (
    Treatment(
        _AUTOGRAD,
        "set `torch._dynamo.config.trace_autograd_ops = True` before the first call: then the backward pass is "
        "part of the graph.",
        shown_by="gradient_penalty",
        cause="`{line}` runs a backward pass inside of compiled code, which torch does not trace as it is set",
        change=_TRACE_AUTOGRAD,
        since=(2, 11),
    ),
    Treatment(
        _AUTOGRAD,
        "compile what comes before `{line}` as a function of its own, and run the backward pass behind its call.",
        shown_by="backward_inside",
        cause="`{line}` runs a backward pass inside of compiled code, which torch does not trace",
    ),
    Treatment(
        re.compile(r"RNN, GRU, or LSTM"),
        "set `torch._dynamo.config.allow_rnn = True` before the first call.",
        shown_by="recurrent_layer",
        cause="torch does not trace `nn.RNN`, `nn.GRU` and `nn.LSTM` unless it is told to",
        change=_ALLOW_RNN,
    ),
    Treatment(
        re.compile(r"Data pointer comparison|data_ptr"),
        "compare the tensors themselves, `is` in place of `data_ptr()`: whether two inputs are one tensor is known.",
        shown_by="same_memory",
        cause="where a tensor lies in memory is not known while the function is compiled",
        when=_compares_addresses,
        may_change="two tensors that begin at one address, as a view of the other, are not the same then",
    ),
    Treatment(
        re.compile(r"RemovableHandle|register_\w{0,30}hook|intermediate hooks"),
        "register the hook once, outside of the compiled code, before its first call.",
        shown_by="hook_on_module",
        cause="a hook is registered while the function is compiled (`{line}`)",
    ),
    Treatment(
        re.compile(r"Attempted to copy\.deepcopy a tensor"),
        "write `.clone()` on the tensor in place of `{call}` (`.detach().clone()` where no gradient is to flow back).",
        shown_by="deepcopy_of_a_tensor",
        cause="torch does not trace `copy.deepcopy` of a tensor",
        change=Change(edit="deepcopy to clone"),
        may_change="a clone of a tensor that requires a gradient hands gradients on to it",
    ),
    Treatment(
        re.compile(r"requires_grad_\(\)"),
        "call `requires_grad_()` on what the function returns, behind its call.",
        shown_by="requires_grad_of_intermediate",
        cause="a tensor that is made inside is set to require a gradient, and then returned",
    ),
    Treatment(
        re.compile(r"torch\.nn\.Parameter"),
        "make the parameter outside of the compiled code, in `__init__` or before the call, and use it here.",
        shown_by="parameter_made_inside",
        cause="a parameter is made while the function is compiled",
    ),
    Treatment(
        re.compile(r"no fake impl|fake tensor implementation|register_fake|Missing fake kernel"),
        "tell torch what comes out of the operator, next to where it is defined: `@{called}.register_fake` above a "
        "function of the same arguments that returns an empty tensor of the right shape (`torch.empty_like(x)`).",
        shown_by="custom_op_without_fake",
        cause="the custom operator that `{call}` calls does not say what shape its result has",
    ),
    Treatment(
        re.compile(r"sparse [Tt]ensor"),
        "use dense tensors in the compiled code; make the sparse ones, and work with them, outside of it.",
        shown_by="sparse_tensor",
        cause="torch.compile does not support sparse tensors",
    ),
    Treatment(
        re.compile(
            r"function `(?:manual_seed|seed|set_rng_state|get_rng_state|initial_seed|fork_rng)`|manual_seed"
        ),
        "move `{line}` out of the compiled code, in front of the call of `{function}`.",
        shown_by="seeded_inside",
        cause="`{line}` changes or reads the state of the random numbers, which torch does not trace",
    ),
)
