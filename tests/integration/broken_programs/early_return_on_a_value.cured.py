import torch


def scored(x):
    total = x.softmax(0).max()
    return torch.where(total > 0.9, x * 0, x / total)


def model(x):
    return scored(x.exp()) + 1


compiled = torch.compile(model, backend="eager")
print(compiled(torch.tensor([0.1, 0.2, 0.3])).tolist())
print(compiled(torch.tensor([0.1, 0.2, 9.0])).tolist())
