"""An optimizer updates each parameter by one compiled function, with a gradient of its size.

kind: recompile limit
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/HomebrewML/HeavyBall/issues/16
"""

import torch


@torch.compile(backend="eager")
def update_(parameter, gradient, momentum, rate):
    momentum.mul_(0.9).add_(gradient)  # cause
    parameter.sub_(momentum * rate)


class Momentum(torch.optim.Optimizer):
    def __init__(self, parameters, rate):
        super().__init__(parameters, {"rate": rate})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                update_(p, p.grad, state["momentum"], group["rate"])


weights = [torch.nn.Parameter(torch.ones(width)) for width in range(3, 27, 2)]
optimizer = Momentum(weights, 0.01)
for _ in range(3):
    loss = sum(weight.square().sum() for weight in weights)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(round(loss.item(), 3))
