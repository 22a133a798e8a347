"""An operator of the program's own, by torch.library: it prints, counts, writes into an argument, trains."""

import torch
from torch import nn

torch.manual_seed(0)
calls = []


@torch.library.custom_op("corpus::scale", mutates_args=())
def scale(x: torch.Tensor, factor: float) -> torch.Tensor:
    calls.append(factor)
    print("scale", tuple(x.shape))
    return x * factor


@torch.library.custom_op("corpus::count", mutates_args={"counter"})
def count(x: torch.Tensor, counter: torch.Tensor) -> None:
    counter += x.numel()


@scale.register_fake
def _(x, factor):
    return torch.empty_like(x)


def backward(ctx, gradient):
    return gradient * ctx.factor, None


scale.register_autograd(backward, setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]))


@torch.library.custom_op("corpus::opaque", mutates_args=())
def opaque(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.detach().numpy()[::-1].copy())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        count(x, self.seen)
        return scale(self.linear(x), 0.5)


model = Net()
for step in range(2):
    out = model(torch.ones(2, 3))
    out.sum().backward()
    print(step, out.tolist(), model.seen.item(), calls, model.linear.weight.grad.tolist())
print((lambda x: opaque(x + 1) * 2)(torch.arange(3.0)).tolist())
