"""A compiled optimizer's step, whose learning rate a schedule changes.

kind: recompile
advice: lr=torch.tensor
"""

import torch


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (step + 1))
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(5):
        model(torch.ones(2, 4)).sum().backward()
        step()  # cause
        schedule.step()
        optimizer.zero_grad()
        print(round(model.weight.sum().item(), 4))


main()
