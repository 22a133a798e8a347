import warnings

import pytest
import torch
from calibration import FewClasses, TemperatureScaling, expected_error


def test_two_classes_are_warned_about():
    scaling = TemperatureScaling(torch.ones(2))
    with pytest.warns(FewClasses, match="three classes"):
        scaling(torch.randn(3, 2))


def test_more_classes_are_not_warned_about():
    scaling = TemperatureScaling(torch.ones(4))
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewClasses)
        probabilities = scaling(torch.randn(3, 4))
    assert torch.allclose(probabilities.sum(dim=-1), torch.ones(3))


def test_scaling_makes_answers_less_sure():
    logits = torch.tensor([[4.0, 0.0, 0.0]])
    scaled = TemperatureScaling(torch.ones(3), temperature=3.0)(logits)
    assert scaled.max() < torch.softmax(logits, dim=-1).max()


def test_perfect_answers_have_no_error():
    assert expected_error(torch.eye(3), torch.arange(3)) == 0
