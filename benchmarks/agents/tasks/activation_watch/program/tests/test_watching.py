import torch
from network import INPUTS, Network, make_samples
from torch import nn
from train import train
from watching import ActivationWatch


def test_peaks_are_the_largest_ever():
    model = nn.Sequential(nn.ReLU())
    watch = ActivationWatch(model)
    for values in ([1.0, -1.0], [3.0, -2.0], [0.5, -0.5, -0.7, 0.0]):
        model(torch.tensor(values))
    assert watch.report() == ["0: peak 3.0000, silent 0.750"]


def test_layers_are_named():
    torch.manual_seed(0)
    model = Network()
    watch = ActivationWatch(model)
    model(torch.randn(3, INPUTS))
    assert [line.split(":")[0] for line in watch.report()] == ["bend", "fold"]


def test_training_with_a_watch_learns():
    torch.manual_seed(0)
    model = Network()
    ActivationWatch(model)
    losses = train(model, *make_samples(32, seed=0), steps=12)
    assert losses[-1] < losses[0]
