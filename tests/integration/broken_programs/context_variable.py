"""A context variable is read in compiled code.

kind: graph break
advice: before the call of `Attention.forward`

Made after https://github.com/huggingface/transformers/issues/46370
"""

import contextvars

import torch

record_attention = contextvars.ContextVar("record_attention", default=False)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = (q @ k.transpose(-1, -2)).softmax(-1)
        wanted = record_attention.get()  # cause
        out = scores @ v
        return (out, scores) if wanted else (out, None)


torch.manual_seed(0)
attention = torch.compile(Attention(), backend="eager")
record_attention.set(True)
for step in range(4):
    out, scores = attention(torch.full((5, 8), 0.2 * step))
    print(round(out.sum().item(), 4), round(scores.sum().item(), 4))
