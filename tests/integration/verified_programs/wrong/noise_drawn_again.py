"""An operator with a state of its own is run again in the backward, to save memory.

An idea of our own, after reports of recomputation of operators that are not pure.
kind: gradient
stage: AOTAutograd
"""

import torch
import torch._functorch.config

torch._functorch.config.activation_memory_budget = 0.0

calls = []


@torch.library.custom_op("corpus::jitter", mutates_args=())
def jitter(x: torch.Tensor) -> torch.Tensor:
    calls.append(len(calls))
    return torch.full_like(x, 1.0 + len(calls))


@jitter.register_fake
def jitter_fake(x):
    return torch.empty_like(x)


class Noisy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.linspace(0.1, 0.4, 4))

    def forward(self, x):
        x = torch.sin(x)
        noise = jitter(x)  # cause
        x = torch.cos(noise) * self.scale
        return torch.exp(x)


noisy = Noisy()
step = torch.compile(noisy, backend="aot_eager_decomp_partition")
step(torch.ones(4)).sum().backward()
print(noisy.scale.grad)
