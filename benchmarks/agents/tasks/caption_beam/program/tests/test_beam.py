import torch
from beam import BeamSearch, Hypothesis
from decoder import WORDS, Decoder


def searching(width):
    torch.manual_seed(0)
    return BeamSearch(Decoder(), width)


def test_the_best_hypothesis_comes_first():
    beam = searching(3).search(torch.randn(8), length=3)
    scores = [float(hypothesis.score) for hypothesis in beam]
    assert scores == sorted(scores, reverse=True)
    assert len(beam) == 3


def test_scores_fall_with_each_word():
    search = searching(2)
    image = torch.randn(8)
    assert search.search(image, 2)[0].score > search.search(image, 5)[0].score


def test_one_hypothesis_is_greedy():
    search = searching(1)
    state = torch.zeros(12)
    with torch.no_grad():
        (found,) = search.advance([Hypothesis(torch.zeros(()), torch.tensor(0), state)])
        _, scores = search.decoder(state, torch.tensor(0))
    assert int(found.word) == int(scores.argmax()) < WORDS
