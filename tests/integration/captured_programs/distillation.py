"""Losses on inner features of a student and a frozen teacher, with hooks that collect them by name."""

import torch
from torch import nn

torch.manual_seed(0)


def network(width):
    return nn.Sequential(
        nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
    )


def collect(model, names, store):
    for name, module in model.named_modules():
        if name in names:
            module.register_forward_hook(lambda m, a, out, name=name: store.__setitem__(name, out))


teacher, student, project = network(8).eval(), network(4), nn.Linear(4, 8)
of_teacher, of_student = {}, {}
collect(teacher, {"2", "4"}, of_teacher)
collect(student, {"2", "4"}, of_student)
optimizer = torch.optim.SGD([*student.parameters(), *project.parameters()], lr=0.1)
for step in range(3):
    x = torch.randn(5, 4)
    with torch.no_grad():
        teacher(x)
    student(x)
    loss = nn.functional.mse_loss(project(of_student["2"]), of_teacher["2"])
    if step:
        loss = loss + nn.functional.kl_div(
            of_student["4"].log_softmax(-1), of_teacher["4"].softmax(-1), reduction="batchmean"
        )
    optimizer.zero_grad()
    loss.backward()
    print(step, loss.item(), [p.grad is None for p in student.parameters()])
    optimizer.step()
