"""The same function with gradients, without, and in inference mode."""

import torch

layer = torch.nn.Linear(2, 2, bias=False)
torch.nn.init.eye_(layer.weight)
model = torch.compile(layer, backend="aot_eager")
x = torch.ones(1, 2)
print(model(x).requires_grad)
with torch.no_grad():
    print(model(x).requires_grad)
with torch.inference_mode():
    print(model(x).is_inference())
