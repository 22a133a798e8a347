"""Rows of several lengths, in one nested tensor."""

import torch


@torch.compile(backend="aot_eager")
def step(rows, shift):
    return (rows * 2).sin() + shift


shift = torch.tensor(1.0, requires_grad=True)
for lengths in ((2, 3), (1, 4)):
    rows = torch.nested.nested_tensor([torch.ones(n, 3) for n in lengths], layout=torch.jagged)
    result = step(rows, shift)
    print([f"{each.sum().item():.3f}" for each in result.unbind()])
