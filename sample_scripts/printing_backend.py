"""A backend of one's own: it prints each graph that it is given, and then runs it as it is.

dynamo run printing_backend.py                                         the program's own torch.compile
dynamo run --backend printing_backend.py:printing_backend toy_example.py        for any other program
dynamo run --backend printing_backend.py:printing_backend --option verbose=true toy_example.py
"""

import torch


def printing_backend(gm: torch.fx.GraphModule, example_inputs: list[torch.Tensor], *, options=None):
    print(f"-- a graph with {len(example_inputs)} inputs")
    if options and options["verbose"]:
        print(gm.print_readable(print_output=False))
    else:
        gm.graph.print_tabular()
    return gm.forward


@torch.compile(backend=printing_backend)
def soft_sign_product(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.linear(torch.cos(x)), dim=-1)


def main():
    torch.manual_seed(0)
    a, b = torch.randn(10), torch.rand(10)
    for factor in (1, -2):
        print(f"sum {soft_sign_product(a, factor * b).sum().item():.4f}")

    model = torch.compile(Classifier(), backend=printing_backend)
    with torch.no_grad():
        print(f"largest probability {model(torch.randn(4, 8)).max().item():.4f}")


if __name__ == "__main__":
    main()
