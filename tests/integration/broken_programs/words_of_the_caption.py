"""A captioner gives text: tokens are looked up in a dictionary by a helper.

kind: graph break
advice: after the call of `Captioner.forward`

Made after a pattern common in tutorials on image captioning (`idx2word`).
"""

import torch
from torch import nn


class Vocabulary:
    def __init__(self, words):
        self.idx2word = dict(enumerate(words))

    def decode(self, ids):
        text = " ".join(self.idx2word[i] for i in ids.tolist())  # cause
        return text


class Captioner(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.vocabulary = vocabulary
        self.head = nn.Linear(12, len(vocabulary.idx2word))

    def forward(self, features):
        ids = self.head(features).argmax(dim=-1)
        return self.vocabulary.decode(ids)


torch.manual_seed(0)
captioner = Captioner(Vocabulary(["a", "cat", "on", "the", "mat", "sat"]))
caption = torch.compile(captioner, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(caption(torch.randn(5, 12)))
