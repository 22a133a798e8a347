"""What was compiled is thrown away in each epoch, and a step has a break."""

import sys

import torch

CURES = ("reset", "break")


def run(cured: frozenset[str]) -> None:
    """Six epochs of fifty steps."""

    def step(x):  # cure: reset
        for _ in range(20):
            x = torch.sigmoid(x @ x)
        if "break" not in cured:
            torch._dynamo.graph_break()  # cure: break
        return x * 2

    compiled = torch.compile(step, backend="aot_eager")
    for _ in range(6):
        if "reset" not in cured:
            torch._dynamo.reset()
        for _ in range(50):
            compiled(torch.ones(16, 16))


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
