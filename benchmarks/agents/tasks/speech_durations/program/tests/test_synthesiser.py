import torch
from durations import FRAMES, stretched, whole_frames
from speak import PHONEMES, utterance
from synthesiser import Synthesiser


def test_durations_fill_all_frames():
    shares = torch.softmax(torch.randn(7, generator=torch.Generator().manual_seed(1)), dim=0)
    assert whole_frames(shares).sum() == FRAMES
    assert (whole_frames(shares) >= 0).all()


def test_phonemes_last_as_long_as_they_should():
    shares = torch.tensor([0.25, 0.0, 0.75])
    frames = stretched(torch.tensor([[1.0], [2.0], [3.0]]), whole_frames(shares))
    assert frames.flatten().tolist() == [1.0] * (FRAMES // 4) + [3.0] * (FRAMES * 3 // 4)


def test_an_utterance_has_a_spectrum_for_each_frame():
    torch.manual_seed(0)
    phonemes = utterance(5, torch.Generator().manual_seed(0))
    assert Synthesiser(PHONEMES, bands=6)(phonemes).shape == (FRAMES, 6)
