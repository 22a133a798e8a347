"""Backends that go wrong, each in its own way."""

import os
import time

import torch


def off_by_a_thousandth(gm, example_inputs):
    node = next(node for node in gm.graph.nodes if node.op.startswith("call_"))
    with gm.graph.inserting_after(node):
        wrong = gm.graph.call_function(torch.add, (node, 1e-3))
    node.replace_all_uses_with(wrong, delete_user_cb=lambda user: user is not wrong)
    gm.recompile()
    return gm.forward


def aborts(gm, example_inputs):
    os.abort()


def hangs(gm, example_inputs):
    time.sleep(1000)


def raises(gm, example_inputs):
    raise RuntimeError("it does not like this graph")


def gives_nothing(gm, example_inputs):
    return None


def ends_when_timed(gm, example_inputs):
    calls = 0

    def run(*arguments):
        nonlocal calls
        calls += 1
        if calls > 4:
            os._exit(3)
        return gm.forward(*arguments)

    return run


def prints(gm, example_inputs):
    print("a graph")
    os.write(1, b"a graph\n")
    return gm.forward
