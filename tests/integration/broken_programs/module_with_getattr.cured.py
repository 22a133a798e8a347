import torch


class Proxy(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, x):
        y = x.sin()
        return y @ self.weight


inner = torch.nn.Linear(2, 2)
torch.nn.init.ones_(inner.weight)
model = torch.compile(Proxy(inner), backend="eager")
print(model(torch.ones(2)).tolist())
