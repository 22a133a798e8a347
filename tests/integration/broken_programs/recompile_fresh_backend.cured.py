import torch


def doubled(x):
    return x * 2


compiled = torch.compile(doubled, backend=lambda graph, inputs: graph.forward)
for _ in range(3):
    print(compiled(torch.ones(4)).tolist())
