import torch
from distillation import Distillation
from networks import CLASSES, make_inputs, make_network


def distilling():
    torch.manual_seed(0)
    return Distillation(make_network(16), make_network(8)), torch.Generator().manual_seed(0)


def test_only_the_student_learns():
    distillation, generator = distilling()
    distillation.gradients(make_inputs(4, generator))
    assert all(weight.grad is None for weight in distillation.teacher.parameters())
    assert all(weight.grad is not None for weight in distillation.student.parameters())


def test_steps_lower_the_loss():
    distillation, generator = distilling()
    inputs = make_inputs(64, generator)
    losses = [distillation.step(inputs) for _ in range(20)]
    assert losses[-1] < losses[0]


def test_a_network_agrees_with_itself():
    distillation, generator = distilling()
    distillation.student = distillation.teacher
    assert distillation.agreement(make_inputs(9, generator)) == 1.0
    assert distillation.teacher(make_inputs(3, generator)).shape == (3, CLASSES)
