"""The longest sequence, as a number in a dictionary, with `dynamic=False`.

kind: recompile limit
advice: dynamic=True

Made after https://github.com/kijai/ComfyUI-MochiWrapper/issues/44
"""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q = torch.nn.Linear(8, 8)

    def forward(self, x, packed):
        positions = torch.arange(packed["max_seqlen_in_batch_kv"])  # cause
        rope = torch.cos(positions[:, None] * torch.arange(8) * 0.01)
        rows = self.q(x) * rope[packed["valid_token_indices_kv"]]
        return rows.sum(0)


torch.manual_seed(0)
block = torch.compile(Block(), backend="eager", dynamic=False)
x = torch.randn(6, 8)
with torch.no_grad():
    for length in (44, 51, 38, 60, 47, 55, 33, 64, 29, 70):
        packed = {"max_seqlen_in_batch_kv": length, "valid_token_indices_kv": torch.arange(6) + length - 10}
        print(round(block(x, packed).sum().item(), 4))
