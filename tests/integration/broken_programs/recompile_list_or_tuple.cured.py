import torch


@torch.compile(backend="eager")
def summed(features):
    return features[0].sin() + features[1]


for number in range(4):
    features = [torch.ones(2), torch.zeros(2)]
    print(summed(tuple(features)).tolist())
