"""A layer with adapters, of which each request chooses one by its name."""

import torch


class Adapted(torch.nn.Linear):
    """A linear layer, to which the chosen adapter is added."""

    def __init__(self, size):
        super().__init__(size, size)
        self.adapters = torch.nn.ModuleDict()
        self.scales = {}
        self.register_buffer("slot", torch.zeros(size, size))
        self.register_buffer("scale", torch.zeros(()))

    def add(self, name, scale):
        self.adapters[name] = torch.nn.Linear(self.in_features, self.out_features, bias=False)
        self.scales[name] = scale

    def choose(self, name):
        self.slot.copy_(self.adapters[name].weight.detach())
        self.scale.fill_(self.scales[name])

    def forward(self, x):
        return super().forward(x) + torch.nn.functional.linear(x, self.slot) * self.scale


torch.manual_seed(0)
model = torch.nn.Sequential(Adapted(8), torch.nn.ReLU(), Adapted(8))
tenants = [f"tenant {number}" for number in range(11)]
for layer in (model[0], model[2]):
    for number, tenant in enumerate(tenants):
        layer.add(tenant, 1 / (number + 1))
x = torch.randn(4, 8)
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for tenant in tenants:
        for layer in (model[0], model[2]):
            layer.choose(tenant)
        print(tenant, f"{compiled(x).sum().item():.4f}")
