import torch
from detector import Detector
from objective import confidence_penalty, focal_loss, focal_weights
from train_detector import accuracy, train
from transactions import NO_LABEL, draw


def test_what_has_no_label_does_not_count():
    logits = torch.tensor([0.3, -1.2, 4.0, -5.0])
    labels = torch.tensor([1, 0, NO_LABEL, NO_LABEL])
    assert torch.allclose(focal_loss(logits, labels), focal_loss(logits[:2], labels[:2]))


def test_weights_are_small_for_what_is_sure():
    weights = focal_weights(torch.tensor([4.0, -4.0]), torch.tensor([1.0, 1.0]))
    assert weights[0] < 0.01 < weights[1]


def test_the_penalty_grows_with_the_logits():
    assert confidence_penalty(torch.full((3,), 2.0)) > confidence_penalty(torch.ones(3))


def test_training_makes_it_better():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = Detector()
    losses = train(model, 30, generator)
    assert sum(losses[-5:]) < sum(losses[:5])
    assert accuracy(model, draw(400, generator)) > 0.75
