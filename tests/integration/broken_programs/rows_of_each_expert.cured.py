import torch


class MoE(torch.nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(experts))

    def forward(self, x, chosen):
        cache = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            cache = cache + torch.where((chosen == i)[:, None], expert(x), 0.0)
        return cache


torch.manual_seed(0)
moe = torch.compile(MoE(4, 8), backend="eager")
with torch.no_grad():
    for step in range(4):
        chosen = (torch.arange(12) * (step + 3) // 5) % (4 - step % 2)
        print(round(moe(torch.ones(12, 8) * step, chosen).sum().item(), 3))
