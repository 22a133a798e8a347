import torch
from forecast import Forecaster, fit, forecast
from forecast.blocks import WarmingNoise
from forecast.windows import windows_of


def test_windows_have_the_value_after_them():
    windows, following = windows_of(torch.arange(6.0), 3)
    assert windows.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert following.tolist() == [3, 4, 5]


def test_the_input_grows_to_its_size_while_training_begins():
    warming = WarmingNoise(steps=4)
    shares = [warming(torch.ones(1)).item() for _ in range(6)]
    assert shares == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    warming.eval()
    assert warming(torch.ones(1)).item() == 1.0
    assert int(warming.done) == 6


def test_fitting_learns():
    torch.manual_seed(0)
    model = Forecaster(window=8, warm_up=3)
    losses = fit(model, torch.sin(torch.arange(60.0) / 4), steps=12)
    assert losses[-1] < losses[0]
    assert forecast(model, torch.sin(torch.arange(60.0) / 4), 4).shape == (4,)
