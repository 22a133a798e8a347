import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)


@torch.compile(backend="eager")
def predicted(x):
    return net(x).relu()


with torch.no_grad():
    print(round(predicted(torch.ones(2, 4)).sum().item(), 4))
    print(round(predicted(torch.ones(2, 4)).sum().item(), 4))
