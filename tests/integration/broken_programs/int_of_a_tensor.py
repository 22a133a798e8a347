"""A tensor is made an int.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS
"""

import torch


class Window(torch.nn.Module):
    def forward(self, x, at):
        y = x.cumsum(0)
        start = int(at)  # cause
        return y * start


model = torch.compile(Window(), backend="eager")
print(model(torch.arange(6.0), torch.tensor(2)).tolist())
print(model(torch.arange(6.0), torch.tensor(3)).tolist())
