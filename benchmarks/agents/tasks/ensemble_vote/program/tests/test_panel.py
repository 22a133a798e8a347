import torch
from members import CLASSES, FEATURES, Pool
from panel import Panel
from voting import sharpened


def test_sharpened_probabilities_add_up():
    probabilities = torch.softmax(torch.randn(4, CLASSES), dim=-1)
    assert torch.allclose(sharpened(probabilities).sum(dim=-1), torch.ones(4))
    assert (sharpened(probabilities).max(dim=-1).values > probabilities.max(dim=-1).values).all()


def test_somebody_always_answers():
    pool = Pool(1, seed=0)
    assert all(len(pool.ask(torch.randn(2, FEATURES)).logits) == 1 for _ in range(20))


def test_a_panel_of_one_says_what_its_member_says():
    pool = Pool(1, seed=3)
    samples = torch.randn(5, FEATURES)
    decision = Panel(pool).decide(samples)
    assert torch.equal(decision.classes, pool.members[0](samples).argmax(dim=-1))
    assert torch.allclose(decision.disagreement, torch.zeros(5), atol=1e-6)


def test_answers_are_counted():
    panel = Panel(Pool(4, seed=1))
    for _ in range(5):
        panel.decide(torch.randn(3, FEATURES))
    assert 5 <= sum(panel.answered.values()) <= 20
