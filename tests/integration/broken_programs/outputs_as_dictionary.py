"""A wrapper makes a dictionary of the dataclass that an encoder returns.

kind: graph break
advice: fields as they are

Made after a pattern common in Lightning and Hugging Face transformers (outputs).
"""

import dataclasses
import functools
from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass
class EncoderOutput:
    last_hidden: torch.Tensor
    pooled: torch.Tensor
    loss: Optional[torch.Tensor] = None


def returns_dictionary(forward):
    """Whoever asks for `return_dict` gets a dictionary in place of the dataclass."""

    @functools.wraps(forward)
    def wrapper(self, *args, return_dict=True, **kwargs):
        output = forward(self, *args, **kwargs)
        if not return_dict:
            return output
        return {k: v for k, v in dataclasses.asdict(output).items() if v is not None}  # cause

    return wrapper


class Encoder(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(width, 2, 48, dropout=0.0, batch_first=True)
        self.pool = nn.Linear(width, width)

    @returns_dictionary
    def forward(self, x):
        hidden = self.layer(x)
        return EncoderOutput(hidden, self.pool(hidden[:, 0]).tanh())


class Classifier(nn.Module):
    def __init__(self, width=24, classes=5):
        super().__init__()
        self.encoder = Encoder(width)
        self.classify = nn.Linear(width, classes)

    def forward(self, x):
        output = self.encoder(x)
        return self.classify(output["pooled"]) + output["last_hidden"].mean()


torch.manual_seed(0)
classifier = torch.compile(Classifier(), backend="eager")
with torch.no_grad():
    for batch in range(3):
        scores = classifier(torch.randn(6, 7, 24))
        print(batch, scores.argmax(-1).tolist(), f"{scores.sum().item():.4f}")
