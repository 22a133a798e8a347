"""An operator of the program's clips a gradient in place in its backward, and a skip reads it as well.

After pytorch/pytorch#131197; there it is the forward's operator.
kind: gradient
stage: AOTAutograd
"""

import torch


@torch.library.custom_op("corpus::barrier", mutates_args=())
def barrier(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("corpus::clip_backward", mutates_args=())
def clip_backward(gradient: torch.Tensor, most: float) -> torch.Tensor:
    return gradient.clamp_(-most, most).clone()


barrier.register_fake(torch.empty_like)
clip_backward.register_fake(lambda gradient, most: torch.empty_like(gradient))
barrier.register_autograd(lambda ctx, gradient: clip_backward(gradient, 0.05))


def guarded(x):
    return barrier(x)  # cause


class Layer(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)
        self.skip = torch.nn.Parameter(torch.full((2, width), 0.5))

    def forward(self, x):
        x = torch.tanh(self.inner(x))
        x = guarded(x)
        y = self.skip + x
        return y * y.detach().exp()


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer(3)
        self.second = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.second(self.first(x)).sigmoid()


torch.manual_seed(0)
model = Model()
compiled = torch.compile(model)
compiled(torch.ones(2, 3)).square().sum().backward()
print([round(each, 4) for each in model.first.skip.grad.flatten().tolist()])
