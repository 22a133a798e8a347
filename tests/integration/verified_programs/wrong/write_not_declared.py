"""An operator writes an argument, and does not say so: what it returns is unused, so it is left out.

After pytorch/pytorch#131197.
kind: mutation
stage: AOTAutograd
"""

import torch


@torch.library.custom_op("corpus::observe_range", mutates_args=())
def observe_range(x: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    largest.copy_(torch.maximum(largest, x.abs().amax()))
    return x.sum()


@observe_range.register_fake
def _(x, largest):
    return x.new_empty(())


class Observer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("largest", torch.zeros(()))
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps.add_(1)
        observe_range(x, self.largest)  # cause
        return x.clamp(-4.0, 4.0)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.observer = Observer()

    def forward(self, x):
        x = self.inner(x)
        x = self.observer(x)
        return torch.tanh(x)


torch.manual_seed(0)
model = Model().requires_grad_(False)
compiled = torch.compile(model, backend="aot_eager_decomp_partition")
compiled(torch.ones(2, 3))
print(model.observer.largest, model.observer.steps)
