import torch


class Model(torch.nn.Module):
    def forward(self, x):
        y = self.helper(x.sin())
        return y.cos()

    def helper(self, x):
        return x + 1


print(torch.compile(Model(), backend="eager")(torch.ones(2)).tolist())
