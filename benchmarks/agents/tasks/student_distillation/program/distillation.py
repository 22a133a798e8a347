"""Training of a student by what its teacher answers."""

import torch
from torch import nn
from torch.nn import functional


class Distillation:
    """Holds both networks, and the mean gradient of the student."""

    def __init__(self, teacher: nn.Module, student: nn.Module, temperature: float = 2.0) -> None:
        self.teacher = teacher.requires_grad_(False)
        self.student = student
        self.temperature = temperature
        self.optimizer = torch.optim.SGD(student.parameters(), lr=0.5)
        self.forward_backward = torch.compile(self.gradients)

    def gradients(self, inputs: torch.Tensor) -> torch.Tensor:
        """Fill in the student's gradients; gives the loss."""
        wanted = torch.softmax(self.teacher(inputs) / self.temperature, dim=-1)
        found = functional.log_softmax(self.student(inputs) / self.temperature, dim=-1)
        loss = functional.kl_div(found, wanted, reduction="batchmean") * self.temperature**2
        loss.backward()
        return loss.detach()

    def step(self, inputs: torch.Tensor) -> torch.Tensor:
        """The loss before the step."""
        self.optimizer.zero_grad()
        loss = self.forward_backward(inputs)
        self.optimizer.step()
        return loss

    @torch.no_grad()
    def agreement(self, inputs: torch.Tensor) -> float:
        """The share of inputs on which both networks name one class."""
        return float((self.teacher(inputs).argmax(1) == self.student(inputs).argmax(1)).float().mean())
