import torch
from torch import nn


class Vocabulary:
    def __init__(self, words):
        self.idx2word = dict(enumerate(words))

    def decode(self, ids):
        text = " ".join(self.idx2word[i] for i in ids.tolist())
        return text


class Captioner(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.vocabulary = vocabulary
        self.head = nn.Linear(12, len(vocabulary.idx2word))

    def forward(self, features):
        return self.head(features).argmax(dim=-1)


torch.manual_seed(0)
captioner = Captioner(Vocabulary(["a", "cat", "on", "the", "mat", "sat"]))
caption = torch.compile(captioner, backend="eager")
with torch.no_grad():
    for _ in range(3):
        print(captioner.vocabulary.decode(caption(torch.randn(5, 12))))
