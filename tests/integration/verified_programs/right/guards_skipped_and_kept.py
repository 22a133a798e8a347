"""The program promises that guards hold and need not be evaluated, and keeps the promise."""

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.gain = 2.0
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        return torch.sigmoid(self.inner(x)) * self.gain


torch.manual_seed(0)
model = Model().requires_grad_(False)
compiled = torch.compile(model, backend="eager")
x = torch.ones(2, 3)
compiled(x)
with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
    for step in range(3):
        print([round(each, 4) for each in compiled(x * step).flatten().tolist()])
print(model.calls.item())
