import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


@torch.compile(backend="eager")
def before(x):
    return x.sin()


@torch.compile(backend="eager")
def after(padded):
    return padded.cos()


def encode(x, lengths):
    packed = pack_padded_sequence(before(x), lengths, batch_first=True)
    padded, _ = pad_packed_sequence(packed, batch_first=True)
    return after(padded)


for lengths in ((4, 2), (4, 3), (4, 1)):
    print(round(encode(torch.ones(2, 4, 3), torch.tensor(lengths)).sum().item(), 4))
