import torch
from denoiser import Denoiser
from sampler import Sampler
from schedule import CosineSchedule


def test_the_signal_falls_with_time():
    schedule = CosineSchedule()
    shares = [schedule.signal(number / 10) for number in range(11)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.99


def test_steps_lead_from_one_to_zero():
    times = CosineSchedule().times(4)
    assert times == [(1.0, 0.75), (0.75, 0.5), (0.5, 0.25), (0.25, 0.0)]


def test_a_sample_has_the_shape_of_the_noise():
    torch.manual_seed(0)
    sampler = Sampler(Denoiser(size=3), CosineSchedule())
    samples = sampler.sample(torch.randn(5, 3), steps=2)
    assert samples.shape == (5, 3)
    assert samples.abs().max() <= 5


def test_the_same_noise_gives_the_same_sample():
    torch.manual_seed(0)
    sampler = Sampler(Denoiser(), CosineSchedule())
    noise = torch.randn(4, 2)
    assert torch.allclose(sampler.sample(noise, 3), sampler.sample(noise, 3))
