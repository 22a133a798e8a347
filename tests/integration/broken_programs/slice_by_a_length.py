"""The padding behind a sequence is cut off.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after a pattern common in Hugging Face transformers (unpadded inputs).
"""

import torch


@torch.compile(backend="eager")
def pooled(x, lengths):
    return torch.stack([row[:length].sum() for row, length in zip(x, lengths)])  # cause


for lengths in ((1, 4), (2, 3), (4, 1)):
    print(pooled(torch.ones(2, 4), torch.tensor(lengths)).tolist())
