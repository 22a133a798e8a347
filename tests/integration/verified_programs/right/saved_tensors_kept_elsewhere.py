"""What a backward needs is copied elsewhere until then."""

import torch

torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
step = torch.compile(lambda x: model(x).tanh().sum(), backend="aot_eager")
moved = []


def pack(value):
    moved.append(tuple(value.shape))
    return value.clone()


for _ in range(3):
    model.zero_grad()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        loss = step(torch.ones(2, 3))
    loss.backward()
    print(f"{loss.item():.4f} {model.weight.grad.sum().item():.4f}", bool(moved))
