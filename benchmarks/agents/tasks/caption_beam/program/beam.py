"""Beam search with a fixed number of hypotheses."""

from typing import NamedTuple

import torch
from decoder import Decoder


class Hypothesis(NamedTuple):
    """A beginning of a caption: its log probability, last word and state."""

    score: torch.Tensor
    word: torch.Tensor
    state: torch.Tensor


class BeamSearch:
    """Extends the best hypotheses word by word."""

    def __init__(self, decoder: Decoder, width: int = 3) -> None:
        self.decoder = decoder
        self.width = width
        self.advance = torch.compile(self.extend)

    def extend(self, beam: list[Hypothesis]) -> list[Hypothesis]:
        """The best of what one more word makes of a beam, the best one first."""
        candidates = []
        for hypothesis in beam:
            state, scores = self.decoder(hypothesis.state, hypothesis.word)
            best = torch.topk(scores, self.width)
            for score, word in zip(best.values, best.indices, strict=True):
                candidates.append(Hypothesis(hypothesis.score + score, word, state))
        candidates.sort(key=lambda candidate: candidate.score, reverse=True)
        return candidates[: self.width]

    @torch.no_grad()
    def search(self, image: torch.Tensor, length: int) -> list[Hypothesis]:
        """Hypotheses after some words, from a start with each of the first words."""
        states = self.decoder.image(image).repeat(self.width, 1)
        beam = [Hypothesis(torch.zeros(()), torch.tensor(word), state) for word, state in enumerate(states)]
        for _ in range(length):
            beam = self.advance(beam)
        return beam
