"""An optimizer of one's own compiles the update of a parameter, and counts its steps in the state.

kind: recompile
advice: TORCH_COMPILE_DYNAMIC_SOURCES

Made after https://github.com/Koratahiu/Advanced_Optimizers/pull/6
"""

import torch
from torch import nn


class TinyAdam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, betas=(0.9, 0.99), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})
        self._step_parameter = torch.compile(self.step_parameter, backend="eager")

    def step_parameter(self, p, grad, state, group):
        beta1, beta2 = group["betas"]
        state["step"] += 1  # cause
        state["exp_avg"].lerp_(grad, 1 - beta1)
        state["exp_avg_sq"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        bias1 = 1 - beta1 ** state["step"]
        bias2 = 1 - beta2 ** state["step"]
        denominator = (state["exp_avg_sq"] / bias2).sqrt_().add_(group["eps"])
        p.addcdiv_(state["exp_avg"] / bias1, denominator, value=-group["lr"])

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"] = 0
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                self._step_parameter(p, p.grad, state, group)


torch.manual_seed(0)
model = nn.Linear(4, 4, bias=False)
optimizer = TinyAdam(model.parameters())
x = torch.randn(8, 4)
for _ in range(12):
    optimizer.zero_grad()
    loss = (model(x) - x).pow(2).mean()
    loss.backward()
    optimizer.step()
print(round(loss.item(), 5))
