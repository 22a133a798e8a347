"""Packed sequences of different lengths through a bidirectional LSTM, and CTC loss on what comes out."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, bidirectional=True, batch_first=True)
        self.out = nn.Linear(8, 5)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = self.lstm(packed)
        padded, lengths = pad_packed_sequence(hidden, batch_first=True)
        return self.out(padded).log_softmax(-1), lengths


model = Encoder()
for lengths in ([4, 6, 3], [5, 2, 5]):
    x = pad_sequence([torch.randn(n, 3) for n in lengths], batch_first=True)
    out, out_lengths = model(x, torch.tensor(lengths))
    targets = torch.tensor([[1, 2], [3, 4], [1, 1]])
    loss = nn.functional.ctc_loss(
        out.transpose(0, 1), targets, out_lengths, torch.tensor([2, 2, 1]), zero_infinity=True
    )
    model.zero_grad()
    loss.backward()
    print(tuple(out.shape), out_lengths.tolist(), loss.item(), model.lstm.weight_hh_l0.grad.norm().item())
