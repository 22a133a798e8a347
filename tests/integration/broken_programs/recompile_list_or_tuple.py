"""Features that come as a list in some calls and as a tuple in others.

kind: recompile
advice: pass one type
"""

import torch


@torch.compile(backend="eager")
def summed(features):
    return features[0].sin() + features[1]  # cause


for number in range(4):
    features = [torch.ones(2), torch.zeros(2)]
    print(summed(features if number % 2 else tuple(features)).tolist())
