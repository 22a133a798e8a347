"""A break that is met in every step, before little; and one that is met five times, before very much."""

import sys

import torch

CURES = ("often", "large")


def run(cured: frozenset[str]) -> None:
    """Many small steps and five large ones."""

    def small(x):
        y = x.sin() + 1
        if "often" not in cured:
            torch._dynamo.graph_break()  # cure: often
        return y.cos()

    def large(x):
        y = x.relu()
        if "large" not in cured:
            torch._dynamo.graph_break()  # cure: large
        for _ in range(60):
            y = torch.nn.functional.layer_norm(y @ x, (32,)).relu() + y
        return y

    one = torch.compile(small, backend="aot_eager")
    two = torch.compile(large, backend="aot_eager")
    for _ in range(2000):
        one(torch.ones(8))
    for _ in range(5):
        two(torch.ones(32, 32))


if __name__ == "__main__":
    run(frozenset(sys.argv[1:]))
