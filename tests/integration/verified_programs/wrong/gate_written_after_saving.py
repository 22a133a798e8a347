"""What a function of the program's saves for its backward is written later: the backward does not raise.

After reports that version checks of saved tensors are lost under torch.compile.
kind: exception
stage: tracing
"""

import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(x)
        return gradient * gate * (1 + x * (1 - gate))


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.outer = torch.nn.Linear(width, width)
        self.scale = 0.5

    def gated(self, hidden):
        gated = Gate.apply(hidden)
        hidden.mul_(self.scale)  # cause
        return gated + hidden

    def forward(self, x):
        hidden = self.inner(x) * 1.0
        hidden = self.gated(hidden)
        hidden = torch.tanh(hidden)
        return self.outer(hidden)


torch.manual_seed(0)
model = Block(3)
compiled = torch.compile(model, backend="aot_eager")
loss = compiled(torch.ones(2, 3)).square().sum()
try:
    loss.backward()
    print([round(each, 4) for each in model.inner.bias.grad.tolist()])
except RuntimeError as error:
    print("raised", type(error).__name__)
