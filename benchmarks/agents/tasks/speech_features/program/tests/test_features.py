import logging

import torch
from clips import RATE, SECONDS, make_clip
from features import FeatureExtractor, band_filters, cosine_basis
from frames import Framing


def test_clips_are_of_one_length():
    assert {len(make_clip(number, seed=1)) for number in range(3)} == {int(RATE * SECONDS)}


def test_frames_have_no_constant_part():
    framing = Framing(length=8, step=4)
    framing.window = torch.ones(8)
    assert torch.allclose(framing(torch.full((32,), 3.0)), torch.zeros(7, 8), atol=1e-6)


def test_each_band_has_some_bins():
    assert (band_filters(20, 129).sum(dim=0) > 0).all()


def test_the_basis_is_orthogonal():
    product = cosine_basis(20, 12).T @ cosine_basis(20, 12)
    assert torch.allclose(product, torch.diag(torch.diag(product)), atol=1e-4)


def test_the_number_of_frames_is_logged(caplog):
    with caplog.at_level(logging.DEBUG, logger="features"):
        features = FeatureExtractor()(make_clip(0, seed=0))
    assert features.shape[1] == 24
    assert f"bands of {len(features)} frames" in caplog.text
