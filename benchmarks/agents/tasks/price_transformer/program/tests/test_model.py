import torch
from attention import CausalAttention
from model import PriceTransformer, normalised
from series import LENGTH, make_series


def test_normalised_values_have_mean_zero_and_variance_one():
    values = normalised(3 + 2 * torch.randn(4, 50, generator=torch.Generator().manual_seed(0)))
    assert torch.allclose(values.mean(dim=-1), torch.zeros(4), atol=1e-5)
    assert torch.allclose(values.var(dim=-1, unbiased=False), torch.ones(4), atol=1e-3)


def test_attention_does_not_look_ahead():
    torch.manual_seed(0)
    attention = CausalAttention(8, heads=2)
    values = torch.randn(1, 5, 8)
    changed = values.clone()
    changed[:, 3:] += 1
    assert torch.allclose(attention(values)[:, :3], attention(changed)[:, :3], atol=1e-6)


def test_a_prediction_for_each_series():
    torch.manual_seed(0)
    series = make_series(3, seed=2)
    assert series.shape == (3, LENGTH, 2)
    assert PriceTransformer()(series).shape == (3,)
