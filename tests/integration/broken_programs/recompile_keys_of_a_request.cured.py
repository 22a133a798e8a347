import torch


class Conditioned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleDict({name: torch.nn.Linear(4, 4) for name in ("text", "pose", "depth")})

    def forward(self, x, conditions):
        for name, layer in self.layers.items():
            value, is_given = conditions[name]
            x = x + layer(value) * is_given
        return x


torch.manual_seed(0)
model = Conditioned().eval()
compiled = torch.compile(model, backend="eager")
with torch.no_grad():
    for names in (("text", "pose"), ("text", "depth"), ("pose", "depth"), ("depth", "text")):
        every = {name: (torch.ones(2, 4), torch.tensor(float(name in names))) for name in model.layers}
        print(f"{compiled(torch.ones(2, 4), every).sum().item():.4f}")
