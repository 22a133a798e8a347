"""The weights are loaded anew between calls."""

import torch

layer = torch.nn.Linear(2, 2, bias=False)
model = torch.compile(layer, backend="aot_eager")
for scale in (1.0, 2.0, 3.0):
    layer.load_state_dict({"weight": torch.eye(2) * scale})
    print(model(torch.ones(1, 2)))
layer.weight = torch.nn.Parameter(torch.eye(2) * 9)
print(model(torch.ones(1, 2)))
