"""A graph that trains, one that does not, and one whose sizes are symbolic from its second call on."""

import torch


def train(x, weight):
    return torch.tanh(x @ weight).sum()


def infer(x):
    return torch.softmax(torch.relu(x) + 1, -1)


def grow(x):
    return x.view(x.size(0) * 2, -1) * 3


def main():
    torch.manual_seed(0)
    weight = torch.randn(4, 4, requires_grad=True)
    train(torch.randn(8, 4), weight).backward()
    print(f"gradient {weight.grad.sum().item():.4f}")
    print(f"softmax {infer(torch.randn(4, 4)).sum().item():.4f}")
    print(f"sizes {[grow(torch.ones(n, 6)).shape[0] for n in (3, 5, 7)]}")


if __name__ == "__main__":
    main()
