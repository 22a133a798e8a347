"""Hooks keep the activations of some layers as arrays, for a plot.

kind: graph break
advice: behind the call of `Net.forward`

Made after https://github.com/pytorch/pytorch/issues/173452
"""

from collections import defaultdict

import torch
from torch import nn


class ActivationRecorder:
    def __init__(self, model, names):
        self.activations = defaultdict(list)
        for name, module in model.named_modules():
            if name in names:
                module.register_forward_hook(self.make_hook(name))

    def make_hook(self, name):
        def hook(module, args, output):
            array = output.detach().cpu().numpy()
            self.activations[name].append(array.mean(axis=0).tolist())  # cause

        return hook


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x)) + x
        return self.out(x).softmax(dim=-1)


torch.manual_seed(0)
net = Net()
recorder = ActivationRecorder(net, {"fc1", "fc2"})
compiled = torch.compile(net, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(round(compiled(torch.randn(4, 6))[:, 0].sum().item(), 4))
for name, kept in recorder.activations.items():
    print(name, len(kept), round(sum(map(sum, kept)), 3))
