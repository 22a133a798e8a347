"""A forward hook that came after the first call is not called.

After pytorch/pytorch#117758.
kind: value
stage: guards
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.ReLU())
torch.nn.init.eye_(model[0].weight)
compiled = torch.compile(model, backend="eager")  # cause


print(compiled(torch.ones(2)))
model[1].register_forward_hook(lambda module, inputs, output: output * 5)
print(compiled(torch.ones(2)))
