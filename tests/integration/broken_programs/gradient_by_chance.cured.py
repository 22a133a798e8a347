import torch
from torch import nn


class Perceptron(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x))


def train(model, inputs, targets, epochs=4):
    criterion = nn.BCELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        optimizer.zero_grad()
        x = inputs.clone().requires_grad_(torch.rand(1).item() > 0.5)
        loss = criterion(model(x), targets)
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    x = torch.randn(32, 2)
    y = (x.sum(dim=1, keepdim=True) > 0).float()
    train(torch.compile(Perceptron(2), backend="aot_eager"), x, y)
