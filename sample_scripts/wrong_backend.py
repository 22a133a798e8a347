"""A backend that is wrong by 1e-3: `dynamo run --verify --backend wrong_backend.py:off_by_a_little …`."""

import torch


def off_by_a_little(gm: torch.fx.GraphModule, example_inputs: list[torch.Tensor]):
    """Inductor, but every GELU and softmax of the graph is off by 1e-3."""
    for node in list(gm.graph.nodes):
        if getattr(node.target, "__name__", "") in ("gelu", "softmax"):
            with gm.graph.inserting_after(node):
                wrong = gm.graph.call_function(torch.add, (node, 1e-3))
            node.replace_all_uses_with(wrong)
            wrong.args = (node, 1e-3)
    gm.recompile()
    return torch._dynamo.lookup_backend("inductor")(gm, example_inputs)


def main():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4)]
    model = torch.compile(torch.nn.Sequential(*layers), backend=off_by_a_little)
    print(f"sum {model(torch.randn(2, 8)).sum().item():.4f}")


if __name__ == "__main__":
    main()
