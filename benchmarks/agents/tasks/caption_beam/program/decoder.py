"""A small decoder that gives the next word of a caption."""

import torch
from torch import nn

WORDS = 20


class Decoder(nn.Module):
    """Words follow from the image and from the word before."""

    def __init__(self, image: int = 8, width: int = 12) -> None:
        super().__init__()
        self.word = nn.Embedding(WORDS, width)
        self.image = nn.Linear(image, width)
        self.output = nn.Linear(width, WORDS)

    def forward(self, state: torch.Tensor, word: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The state after a word, and log probabilities of the next."""
        state = torch.tanh(state + self.word(word))
        return state, torch.log_softmax(self.output(state), dim=-1)
