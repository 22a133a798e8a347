"""Sequences of several lengths are packed for a recurrent layer.

kind: graph break
advice: end the compiled function

Made after a pattern common in speech models (pack_padded_sequence).
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@torch.compile(backend="eager")
def encode(x, lengths):
    packed = pack_padded_sequence(x.sin(), lengths, batch_first=True)  # cause
    padded, _ = pad_packed_sequence(packed, batch_first=True)
    return padded.cos()


for lengths in ((4, 2), (4, 3), (4, 1)):
    print(round(encode(torch.ones(2, 4, 3), torch.tensor(lengths)).sum().item(), 4))
