"""Backends that nobody wants: one for which every sine is off by 1e-3, and one that never ends."""

import time

import torch


def backend(gm, example_inputs):
    for node in list(gm.graph.nodes):
        if node.op in ("call_function", "call_method") and "sin" in str(node.target):
            with gm.graph.inserting_after(node):
                wrong = gm.graph.call_function(torch.add, (node, 1e-3))
            node.replace_all_uses_with(wrong, delete_user_cb=lambda user, wrong=wrong: user is not wrong)
    gm.recompile()
    return gm.forward


def endless(gm, example_inputs):
    time.sleep(600)
