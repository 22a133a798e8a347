"""Only an adapter is trained; a hook makes its input require a gradient, as checkpointing wants it.

kind: graph break
advice: on the input of the compiled code

Made after https://github.com/unslothai/unsloth-zoo/pull/1000
"""

import torch
from torch import nn


class Embedder(nn.Module):
    def __init__(self, dim=6):
        super().__init__()
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.base = nn.Linear(dim, dim)
        self.adapter = nn.Linear(dim, 3)

    def forward(self, x):
        return self.adapter(torch.tanh(self.base(self.norm(x))))


def make_inputs_require_grad(module, args):
    args[0].requires_grad_(True)  # cause


torch.manual_seed(0)
model = Embedder()
model.base.requires_grad_(False)
model.base.register_forward_pre_hook(make_inputs_require_grad)
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.SGD(model.adapter.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(4, 6)
    loss = nn.functional.cross_entropy(compiled(x), torch.randint(0, 3, (4,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.5f}")
