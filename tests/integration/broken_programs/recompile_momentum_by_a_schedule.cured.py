"""A compiled step, whose momentum a one-cycle schedule changes with the learning rate.

kind: recompile
advice: leave the step of the optimizer to eager

Made after https://github.com/pytorch/pytorch/issues/133898
"""

import torch


def main():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=8)

    def update():
        optimizer.step()

    for _ in range(5):
        model(torch.ones(2, 4)).sum().backward()
        update()
        schedule.step()
        optimizer.zero_grad()
        print(round(model.weight.sum().item(), 4))


main()
