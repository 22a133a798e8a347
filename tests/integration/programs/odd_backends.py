"""Backends that do not do what a backend should, each in its own way."""

import torch


def raises(gm, example_inputs):
    raise ValueError("not this one\nmore about it")


def returns_none(gm, example_inputs):
    return None


def returns_text(gm, example_inputs):
    return "compiled"


def mangles(gm, example_inputs):
    """Rewrites the graph, those below it and what is noted on them, and only then declines."""
    for module in gm.modules():
        if isinstance(module, torch.fx.GraphModule):
            for node in list(module.graph.nodes):
                node.meta.clear()
                if node.op == "output":
                    node.args = ((None,),)
            module.graph.eliminate_dead_code()
            module.recompile()
    gm.meta.clear()
    raise RuntimeError("mangled")


def tells_options(gm, example_inputs, *, mode=None, options=None):
    print(f"mode {mode}, options {options}")
    return gm.forward


def exits(gm, example_inputs):
    raise SystemExit(7)


def is_interrupted(gm, example_inputs):
    raise KeyboardInterrupt
