import torch
from codec import BLOCK, Codec, cosine_basis
from sources import LENGTH, read_file, synthesise


def test_the_basis_is_orthonormal():
    basis = cosine_basis(BLOCK)
    assert torch.allclose(basis @ basis.T, torch.eye(BLOCK), atol=1e-5)


def test_both_sources_give_two_channels():
    for source in (read_file, synthesise):
        assert source(1, seed=0).shape == (2, LENGTH)


def test_what_is_decoded_is_near():
    for source in (read_file, synthesise):
        codec = Codec(step=0.01)
        channels = source(0, seed=3)
        assert torch.allclose(codec.decode(codec.encode(channels)), channels, atol=0.1)


def test_silence_costs_nothing():
    assert Codec().encode(torch.zeros(2, LENGTH)).abs().max() == 0
