import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
x = torch.ones(2, 4)


@torch.compile(backend="eager")
def predicted(x):
    return net(x).relu()


with torch.inference_mode():
    print(round(predicted(x).sum().item(), 4))
with torch.inference_mode():
    print(round(predicted(x).sum().item(), 4))
