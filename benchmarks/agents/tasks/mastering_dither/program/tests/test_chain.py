import torch
from chain import Format, MasteringChain, limited
from tracks import LENGTH, make_track


def test_the_limiter_keeps_below_its_ceiling():
    assert limited(torch.tensor([-50.0, 50.0])).abs().max() <= 0.95


def test_samples_are_on_the_grid():
    target = Format(bits=8)
    written = MasteringChain(target, seed=0).render(make_track(0, seed=0))
    assert written.shape == (2, LENGTH)
    assert torch.allclose(written / target.step, (written / target.step).round())


def test_a_seed_repeats_the_dither_of_a_series():
    first, second = (MasteringChain(Format(bits=4), seed=5) for _ in range(2))
    for number in range(2):
        track = make_track(number, seed=1)
        assert torch.equal(first.render(track), second.render(track))


def test_dither_goes_on_from_track_to_track():
    chain = MasteringChain(Format(bits=4), seed=5)
    track = make_track(0, seed=1)
    assert not torch.equal(chain.render(track), chain.render(track))
