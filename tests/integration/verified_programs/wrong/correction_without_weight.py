"""A quotient that is added with a weight of zero is infinite: eager gives nan, Inductor leaves it out.

Found with torch 2.13 by comparing operators at their limits.
kind: value
stage: inductor
"""

import torch


class Moments(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("square", torch.zeros(size))
        self.warmup = 0

    def gathered(self, gradient):
        mean = torch.lerp(self.mean, gradient, 0.1)
        square = torch.lerp(self.square, gradient * gradient, 0.01)
        return mean, square

    def step(self, parameter, gradient):
        mean, square = self.gathered(gradient)
        root = square.sqrt()
        parameter = torch.addcdiv(parameter, mean.sign(), root, value=self.warmup)  # cause
        return parameter - 0.01 * mean, root

    def forward(self, parameter, gradient):
        gradient = gradient.clamp(-1.0, 1.0)
        parameter, root = self.step(parameter, gradient)
        return parameter * 2.0, root.sum()


moments = torch.compile(Moments(4))
gradient = torch.tensor([1.0, -0.5, 1e-30, 2.0])
updated, total = moments(torch.ones(4), gradient)
print(updated.isnan().tolist(), round(total.item(), 4))
