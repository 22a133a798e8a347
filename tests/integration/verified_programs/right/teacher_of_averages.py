"""A teacher's weights are an average of the student's, which the compiled step updates in place."""

import copy

import torch

torch.manual_seed(0)
student = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
teacher = copy.deepcopy(student).requires_grad_(False)


@torch.compile(backend="aot_eager")
def step(x):
    loss = (student(x) - teacher(x).detach()).pow(2).mean()
    with torch.no_grad():
        torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 0.1)
    return loss


optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9)
for seed in range(4):
    torch.manual_seed(seed)
    optimizer.zero_grad()
    loss = step(torch.randn(8, 3))
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f} {teacher[0].weight.sum().item():.4f}")
