"""Backends that compute something else than eager, each in its own way."""

import torch


def _planted(gm, wrong):
    for node in list(gm.graph.nodes):
        if getattr(node.target, "__name__", "") == "gelu":
            with gm.graph.inserting_after(node):
                planted = gm.graph.call_function(wrong, (node,))
            node.replace_all_uses_with(planted)
            planted.args = (node,)
    gm.recompile()
    return gm.forward


def off_by_a_thousandth(gm, example_inputs):
    return _planted(gm, lambda value: value + 1e-3)


def only_where_it_is_fused(gm, example_inputs):
    """Right as soon as the wrong value, or what is next to it, is an output itself."""
    outputs = next(node for node in gm.graph.nodes if node.op == "output").args[0]
    return gm.forward if len(outputs) > 3 else off_by_a_thousandth(gm, example_inputs)


def wrong_gradient(gm, example_inputs):
    return _planted(gm, lambda value: value + (value * 1e-2 - (value * 1e-2).detach()))


def not_a_number(gm, example_inputs):
    return _planted(gm, lambda value: value.masked_fill(value == value.max(), float("nan")))


def in_place_too(gm, example_inputs):
    def call(*values):
        results = gm.forward(*values)
        with torch.no_grad():
            values[0].add_(1e-2)
        return results

    return call


def fails_the_second_time(gm, example_inputs):
    calls = []

    def call(*values):
        calls.append(1)
        if len(calls) == 2:
            raise RuntimeError("only once")
        return gm.forward(*values)

    return call


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.GELU(), torch.nn.Linear(8, 4)
    )

    def step(x):
        return model(x).square().mean()

    for _ in range(2):
        loss = step(torch.randn(3, 4))
        loss.backward()
        print(f"loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
