"""The forward writes a second set of weights without gradients, after it has read them."""

import torch


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 2)
        self.teacher = torch.nn.Linear(3, 2).requires_grad_(False)

    def forward(self, x):
        wanted = self.teacher(x)
        loss = (self.net(x) - wanted).square().mean()
        with torch.no_grad():
            for own, other in zip(self.teacher.parameters(), self.net.parameters(), strict=True):
                own.lerp_(other.detach(), 0.1)
        return loss


torch.manual_seed(0)
student = Student()
optimizer = torch.optim.SGD(student.net.parameters(), lr=0.1)
step = torch.compile(student)
for _ in range(3):
    loss = step(torch.ones(4, 3))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(round(loss.item(), 4))
