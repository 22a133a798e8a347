"""A hook of a module removes itself after its first call."""

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
shapes = []


def note(module, inputs, output):
    shapes.append(tuple(output.shape))
    handle.remove()


handle = model[0].register_forward_hook(note)
step = torch.compile(model, backend="aot_eager")
for _ in range(3):
    step(torch.ones(2, 4))
print(shapes)
