import torch
from learner import Learner, make_network
from pole import make_transitions


def learning():
    torch.manual_seed(0)
    return Learner(make_network()), make_transitions(24, torch.Generator().manual_seed(0))


def test_targets_pass_no_gradient():
    learner, transitions = learning()
    assert not learner.targets(transitions).requires_grad


def test_only_the_trained_network_changes():
    learner, transitions = learning()
    before = [weight.clone() for weight in learner.older.parameters()]
    learner.learn(transitions)
    assert all(torch.equal(*pair) for pair in zip(before, learner.older.parameters(), strict=True))
    learner.renew()
    assert not torch.equal(before[0], next(learner.older.parameters()))


def test_learning_lowers_the_loss():
    learner, transitions = learning()
    losses = [learner.learn(transitions) for _ in range(20)]
    assert losses[-1] < losses[0]


def test_values_are_bounded():
    learner, _ = learning()
    assert learner.values_of(learner.network, 1e6 * torch.ones(1, 4)).abs().max() <= 10
