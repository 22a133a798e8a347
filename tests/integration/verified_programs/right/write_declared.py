"""An operator of the program's writes an argument, and says so."""

import torch


@torch.library.custom_op("corpus::observe_range_declared", mutates_args=("largest",))
def observe_range(x: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    largest.copy_(torch.maximum(largest, x.abs().amax()))
    return x.sum()


@observe_range.register_fake
def _(x, largest):
    return x.new_empty(())


class Observer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.register_buffer("largest", torch.zeros(()))

    def forward(self, x):
        x = self.inner(x)
        observe_range(x, self.largest)
        return torch.tanh(x.clamp(-4.0, 4.0))


torch.manual_seed(0)
model = Observer().requires_grad_(False)
compiled = torch.compile(model)
for scale in (1.0, 2.0):
    compiled(torch.full((2, 3), scale))
    print(round(model.largest.item(), 4))
