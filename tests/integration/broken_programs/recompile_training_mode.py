"""Inference with a model that is in training mode at first.

kind: recompile
advice: eval()
"""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = torch.nn.Dropout(0.0)

    def forward(self, x):
        return self.dropout(x) * 2


net = Net()
compiled = torch.compile(net, backend="eager")
print(compiled(torch.ones(4)).tolist())
net.eval()
print(compiled(torch.ones(4)).tolist())  # cause
