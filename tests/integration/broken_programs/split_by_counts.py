"""The tokens of each expert are split by a list of their counts.

kind: graph break
advice: TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS

Made after https://github.com/PrimeIntellect-ai/prime-rl/issues/996
"""

import torch


@torch.compile(backend="eager")
def run(x, counts):
    parts = torch.split(x, counts.tolist())  # cause
    return torch.cat([part * number for number, part in enumerate(parts)])


for counts in ((1, 3), (2, 2), (3, 1)):
    print(run(torch.ones(4), torch.tensor(counts)).tolist())
